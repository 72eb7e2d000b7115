"""`coarsen tune show`: the rules of a tuned file, its versions, and what each is worth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.options import OutputFormat
from coarsen.cli.output import Format, print_json

TunedPath = Annotated[
    Path,
    typer.Argument(
        metavar="FILE.tuned.json",
        help="What `coarsen tune` wrote over inputs, or with layouts.",
        show_default=False,
    ),
]


def show(file: TunedPath, output_format: OutputFormat = Format.TABLE) -> None:
    """Show by which rules a tuned file chooses a version, and what each version is worth.

    Worth is told by the times that the tuning has kept: at how many inputs a version is chosen and is the fastest
    of the file's, how many times as fast as the default it is where it is chosen, and how much longer all inputs
    take without it. Beside the default stand its launch with a local size that the driver chooses, the fixed best
    and the best of all that was tried. What a check with cold caches (`coarsen tune --cold-check`) found is told,
    too.
    Of what was tuned at one size the layouts are shown, and after how many runs their conversion pays.

    Example: coarsen tune show mv.tuned.json
    """
    # Imported late: they load NumPy.
    from coarsen.cli.tuned_text import print_tuned_file
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.inputs.found_over_inputs import found_over_inputs
    from coarsen.opencl_bench.tuning.layout_choices import is_of_one_size
    from coarsen.variant.variant_json import variant_to_json

    tuned = TunedFile.read(file)
    found = None if is_of_one_size(tuned) or not tuned.evidence else found_over_inputs(tuned)
    if output_format is Format.JSON:
        content = {name: value for name, value in tuned.to_json().items() if name != "evidence"}
        worth = () if found is None else found.worth
        content["worth"] = [{**asdict(each), "variant": variant_to_json(each.variant)} for each in worth]
        if found is not None:
            content["choice"] = asdict(found.choice)
            content["cold_cache"] = found.is_cold
            content["cold_check"] = [asdict(each) for each in found.caches]
        print_json(content)
    else:
        print_tuned_file(tuned, found)
