"""The figures of `coarsen evaluate --figures FOLDER`, and beside them the table of factors as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure

from coarsen.cli.evaluate.report import Report
from coarsen.cli.messages import note
from coarsen.errors import InvalidInputError
from coarsen.files import replace_file
from coarsen.models.evaluation.calibration import calibrations
from coarsen.opencl_bench import plots

NAMES = ("calibration", "predictions")


def write_figures(report: Report, folder: Path) -> list[Path]:
    """Write the figures that the evaluation has numbers for, and `factors.md`; says which it has none for.

    Returns:
        the files written.

    Raises:
        InvalidInputError: one can't be written.
    """
    paths = []
    for name, figure in _figures(report):
        paths.append(folder / f"{name}.svg")
        plots.save(figure, paths[-1])
    paths.append(folder / "factors.md")
    replace_file(plots.markdown(plots.factor_table(plots.choice_table(report.evaluation))).encode(), paths[-1])
    return paths


def _figures(report: Report) -> Iterator[tuple[str, Figure]]:
    for name in NAMES:
        try:
            yield name, _drawn(name, report)
        except InvalidInputError as error:
            note(f"no {name}: {error}")


def _drawn(name: str, report: Report) -> Figure:
    """A figure. Raises InvalidInputError where there is nothing to draw."""
    if name == "calibration":
        return plots.draw_calibration(calibrations(report.evaluation))
    return plots.draw_predictions(plots.choice_table(report.evaluation))
