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
from coarsen.models.evaluation.evaluation import key_of
from coarsen.models.examples import Example
from coarsen.opencl_bench import plots

NAMES = ("calibration", "predictions", "loadings", "relevance", "deltas")
_CASCADE = "cascade"


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
        if name in ("loadings", "relevance", "deltas") and _CASCADE not in report.evaluation.outcomes:
            continue
        try:
            yield name, _drawn(name, report)
        except InvalidInputError as error:
            note(f"no {name}: {error}")


def _drawn(name: str, report: Report) -> Figure:
    """A figure. Raises InvalidInputError where there is nothing to draw."""
    if name == "calibration":
        return plots.draw_calibration(calibrations(report.evaluation))
    if name == "predictions":
        return plots.draw_predictions(plots.choice_table(report.evaluation))
    examples = _examples(report)
    if name == "loadings":
        return plots.draw_loadings(plots.shared_projection(examples))
    if name == "deltas":
        return plots.draw_deltas(plots.delta_table(examples))
    return plots.draw_relevance(plots.relevance_table(examples))


def _examples(report: Report) -> list[Example]:
    """Return the examples that were predicted, each once."""
    found = (outcome.example for outcomes in report.evaluation.outcomes.values() for outcome in outcomes)
    return list({key_of(example): example for example in found}.values())
