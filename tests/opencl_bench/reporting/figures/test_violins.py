"""All configurations of each kernel: the numbers, and what is drawn of them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.figures.draw_violins import draw_violins
from coarsen.opencl_bench.reporting.figures.findings import violins_finding
from coarsen.opencl_bench.reporting.numbers.violins import density, violin_points
from tests.opencl_bench.reporting.figures.samples import (
    INTEL,
    KERNELS,
    POCL,
    frame_of,
    row,
    sweep_frame,
)


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_title(loc="left")]


def drawn(axes: Axes, name: str) -> list[float]:
    """The speed-ups of the marks of a name in a panel."""
    return sorted(y for line in axes.lines if line.get_gid() == name for y in line.get_ydata())


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_gid() == "failed"]


FEW = (
    row("mt", 1, 1.0),
    row("mt", 2, 2.0),
    row("mt", 4, 0.5),
    row("mt", 8, None),
    row("mt", 16, None, invalidity="constraints"),
    row("nbody", 1, 1.0),
    row("nbody", 2, 0.25),
)


def test_every_configuration_is_a_point_once() -> None:
    points = violin_points(frame_of(FEW))
    found = points[["benchmark", "speedup", "mark"]].to_numpy().tolist()
    assert sorted(found) == [
        *(["mt", 0.5, ""], ["mt", 1.0, "baseline"], ["mt", 2.0, "best"]),
        *(["nbody", 0.25, ""], ["nbody", 1.0, "baseline"], ["nbody", 1.0, "best"]),
    ]


def test_without_any_speedup() -> None:
    with pytest.raises(InvalidInputError, match="none of the configurations has a speed-up: all of them failed"):
        violin_points(frame_of([row("mt", 2, None)]))


def test_the_density() -> None:
    values = np.array([0.0, 0.0, 2.0])
    positions = np.array([0.0, 1.0, 2.0])
    bandwidth = np.sqrt(4 / 3) * 3**-0.2
    near, far = np.exp(-0.5 / bandwidth**2), np.exp(-0.5 * 4 / bandwidth**2)
    by_hand = np.array([2 + far, 3 * near, 2 * far + 1]) / (2 + far)
    assert density(values, positions) == pytest.approx(by_hand / by_hand.max())


def test_the_finding() -> None:
    points = violin_points(frame_of([*FEW, row("mt", 2, 3.0, **POCL)]))
    assert violins_finding(points) == (
        "33 % of the measured coarsened configurations on AMD EPYC (Intel) and 100 % on AMD EPYC (PoCL) are "
        "faster than the baseline; speed-ups reach from 0.25 to 3"
    )
    only = violin_points(frame_of([row("mt")]))
    assert violins_finding(only) == "No coarsened configuration has a speed-up"


def test_what_is_drawn() -> None:
    figure = draw_violins(frame_of([*FEW, row("spmv", 2, None), row("mt", 2, 3.0, **POCL)]))
    intel, pocl = panels(figure)
    assert [axes.get_title(loc="left") for axes in (intel, pocl)] == ["AMD EPYC (Intel)", "AMD EPYC (PoCL)"]
    assert drawn(intel, "configurations") == [0.25, 0.5]
    assert drawn(intel, "best") == [1.0, 2.0]
    assert drawn(intel, "baseline") == [1.0, 1.0]
    assert texts(intel) == ["×1", "×1\nall"]
    assert texts(pocl) == ["not\nrun", "not\nrun"]
    assert [label.get_text() for label in pocl.get_xticklabels()] == ["mt", "nbody", "spmv", "all"]
    assert intel.get_yscale() == "log"
    assert drawn(intel, "one") == [1.0, 1.0]


@pytest.mark.parametrize("known", [True, False])
def test_the_note_says_what_faster_means_where_there_are_intervals(known: bool) -> None:
    frame = frame_of(FEW)
    if not known:
        frame[["low", "high"]] = np.nan
    said = "".join(text.get_text() for text in draw_violins(frame).texts)
    assert ("Faster: the whole 95 % interval lies above 1." in said.replace("\n", " ")) is known


def test_every_point_of_the_whole_suite_is_shown() -> None:
    frame = sweep_frame((POCL, INTEL))
    figure = draw_violins(frame)
    shown = sum(
        len(drawn(axes, name)) for axes in panels(figure) for name in ("configurations", "best", "baseline")
    )
    assert shown == len(violin_points(frame)) >= frame["speedup"].notna().sum()
    assert all(
        sum(c.get_gid() == "violin" for c in axes.collections) == len(KERNELS) + 1 for axes in panels(figure)
    )
    width, height = figure.get_size_inches()
    assert width <= 6.71 and height <= 10.11


def test_points_stay_within_their_violin() -> None:
    figure = draw_violins(sweep_frame((INTEL,)))
    lines = [line for line in panels(figure)[0].lines if line.get_gid() == "configurations"]
    for position, line in enumerate(lines):
        assert np.abs(np.asarray(line.get_xdata()) - position).max() < 0.42


def test_the_last_column_is_of_all_kernels_together() -> None:
    rows = [
        row("mt", 1, 1.0),
        row("mt", 2, 0.5),
        row("nbody", 1, 1.0),
        row("nbody", 2, 0.25),
        row("nbody", 4, 0.2),
    ]
    figure = draw_violins(frame_of(rows))
    (axes,) = (axes for axes in figure.axes if axes.get_title(loc="left"))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["mt", "nbody", "all"]
    lines = {line.get_gid(): line for line in axes.lines}
    # Of 1, 1/2, 1, 1/4 and 1/5.
    assert list(lines["median"].get_ydata()) == [0.5]
    assert list(lines["half"].get_ydata()) == [0.25, 1.0]
    assert [text.get_text() for text in axes.texts if text.get_gid() == "median number"] == ["0.50"]


def test_a_single_kernel_has_no_column_of_all() -> None:
    (axes,) = draw_violins(frame_of([row("mt", 1, 1.0), row("mt", 2, 0.5)])).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["mt"]
