"""How `coarsen tune` over inputs ends: rows are kept whatever happens, the tuned file is written, and told."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import typer

from coarsen.cli.coverage_text import CoveredInputs
from coarsen.cli.messages import INTERRUPTED, note, say_interrupted
from coarsen.cli.output import Format, print_json
from coarsen.cli.tune_progress import InputsProgress
from coarsen.cli.tuned_text import print_summary
from coarsen.drop_in.live_line import is_live, live_line
from coarsen.opencl_bench.inputs.over_inputs import TunedOverInputs
from coarsen.opencl_bench.inputs.worth import cold_changes, worth_of_choice
from coarsen.opencl_bench.results.store.database import Store, open_store


def measured_rows(url: str | None, tune: Callable[[Store, InputsProgress], TunedOverInputs]) -> TunedOverInputs:
    """Return what a tuning finds, its rows in a store; where it is interrupted, say what is kept and exit.

    Args:
        url: of the store; None for the user's.
        tune: measures.
    """
    is_drawn = is_live()
    progress = InputsProgress(is_live=is_drawn)
    with open_store(url) as store:
        try:
            with live_line(lambda: progress.line) if is_drawn else nullcontext():
                return tune(store, progress)
        except KeyboardInterrupt:
            say_interrupted(progress.measured, store.location)
            raise typer.Exit(INTERRUPTED) from None


def keep_and_tell(
    tuned: TunedOverInputs, output: Path, description: str | None, covered: CoveredInputs, output_format: Format
) -> None:
    """Write a tuned file and print what was found.

    Args:
        tuned: what was found.
        output: the file.
        description: the path of the kernel's; None for a kernel of the package.
        covered: what the inputs cover.
        output_format: of what is printed.
    """
    for name, reason in tuned.left_out.items():
        note(f"{name} is left out, for the default version does not run there: {reason}")
    for version, reason in tuned.wrong.items():
        note(f"{version} is left out, for its results are wrong at {reason}")
    tuned.file.write(output)
    choice, caches = worth_of_choice(tuned.file), cold_changes(tuned.file)
    if output_format is Format.JSON:
        rows = {"inputs": len(tuned.times.inputs), "versions_tried": len(tuned.times.versions)}
        made = {"tuned_file": str(output), "description": description, "versions": len(tuned.file.versions)}
        found = {"choice": asdict(choice), "cold_check": [asdict(each) for each in caches]}
        print_json({**made, **rows, **found, "coverage": covered.as_data()})
    else:
        print_summary(tuned.file, len(tuned.times.inputs), str(output), choice, caches)
