"""`coarsen tune evaluate`: how well versions are chosen at inputs that nothing was fitted to."""

from __future__ import annotations

from dataclasses import asdict

from coarsen.cli.options import OutputFormat
from coarsen.cli.output import Format, print_json
from coarsen.cli.stores import check_packages
from coarsen.cli.tune_show import TunedPath


def evaluate(file: TunedPath, output_format: OutputFormat = Format.TABLE) -> None:
    """Evaluate a tuned file: leave the inputs of each size out, choose for them, and compare.

    Beside the tree stand simpler ways to choose. Nothing is measured: the times are those that the tuning kept, so
    that the best version is the best of what was tried.

    Example: coarsen tune evaluate mv.tuned.json
    """
    check_packages(("sklearn",))
    # Imported late: they load scikit-learn.
    from coarsen.cli.tuned_text import print_judged
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.inputs.judged import judged

    found = judged(TunedFile.read(file))
    if output_format is Format.JSON:
        print_json({"chosen_by": [{"name": row.name, **asdict(row.score)} for row in found.rows]})
    else:
        print_judged(found)
