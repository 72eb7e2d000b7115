"""The figures of `coarsen explore`: their numbers and their drawings, written to files or shown in windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, cast

import pandas as pd
from matplotlib.figure import Figure

from coarsen.cli.messages import note
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import plots
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.reporting.numbers.curves import By, Choice
from coarsen.opencl_bench.reporting.numbers.hinton import Against
from coarsen.opencl_bench.results.intervals import frame_with_intervals
from coarsen.opencl_bench.results.rows import comparisons

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: its numbers and its drawing from a frame, and the keys of the rows whose intervals it needs."""

    numbers: Callable[[pd.DataFrame], pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]
    keys: Callable[[pd.DataFrame], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Look:
    """The look of the figures: the arguments of their functions."""

    by: By = "device"
    choice: Choice = "best"
    against: Against = "local size"


@dataclass(frozen=True, slots=True)
class Request:
    """Figures and their measurements. With `several`, a figure that can't be drawn is left out, with a note."""

    measurements: Sequence[Measurement]
    drawings: Mapping[str, Drawing]
    several: bool


def look_of(by: str, choice: str, against: str) -> Look:
    """Return the look that the command line's words ask for; the figures' functions refuse any but theirs."""
    return Look(cast(By, by), cast(Choice, choice), cast(Against, against.replace("-", " ")))


def request_of(measurements: Sequence[Measurement], name: str, look: Look) -> Request:
    """Return a request for one figure, or for "all"."""
    by, choice, against = look.by, look.choice, look.against
    drawings = {
        "curves": Drawing(
            partial(plots.curve_points, by=by, choice=choice),
            partial(plots.draw_curves, by=by, choice=choice),
            lambda rows: plots.curve_points(rows, by, choice)["key"],
        ),
        "violins": Drawing(plots.violin_points, plots.draw_violins, lambda rows: comparisons(rows)["key"]),
        "hinton": Drawing(
            partial(plots.top_shares, against=against), partial(plots.draw_hinton, against=against), _no_keys
        ),
        "portability": Drawing(plots.transfers, plots.draw_portability, _no_keys),
    }
    several = name == "all"
    return Request(measurements, MappingProxyType(drawings if several else {name: drawings[name]}), several)


def numbers(request: Request) -> dict[str, pd.DataFrame]:
    """Return the frames that the figures are drawn from, by name. Raises InvalidInputError where there is none."""
    return _each(request, lambda drawing, rows: drawing.numbers(rows))


def figures(request: Request) -> dict[str, Figure]:
    """Return the figures by their names. Raises InvalidInputError where there is none."""
    return _each(request, lambda drawing, rows: drawing.draw(rows))


def write(drawn: Mapping[str, Figure], paths: Mapping[str, Path]) -> None:
    """Write figures to their paths. Raises InvalidInputError where one can't be written."""
    for name, figure in drawn.items():
        plots.save(figure, paths[name])


def show(drawn: Mapping[str, Figure]) -> None:
    """Open a window for each figure. Raises InvalidInputError where there can be none."""
    plots.show(list(drawn.values()))


def _each(request: Request, make: Callable[[Drawing, pd.DataFrame], Result]) -> dict[str, Result]:
    made: dict[str, Result] = {}
    for name, drawing in request.drawings.items():
        try:
            made[name] = make(drawing, frame_with_intervals(request.measurements, drawing.keys))
        except InvalidInputError as error:
            if not request.several:
                raise
            note(f"no {name}: {error}")
    if not made:
        raise InvalidInputError("none of the figures can be drawn")
    return made


def _no_keys(_rows: pd.DataFrame) -> Iterable[str]:
    return ()
