"""Speed-up against factor: the numbers, and what is drawn of them."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.draw_curves import best_points, curve_points, curves_finding, draw_curves
from tests.opencl_bench.reporting.figures.samples import (
    INTEL,
    KERNELS,
    NVIDIA,
    POCL,
    frame_of,
    row,
    sweep_frame,
)


def marks(axes: Axes, name: str) -> list[float]:
    """The factors at which a panel has a mark of this name, without the shift that keeps curves apart."""
    return sorted(
        2.0 ** round(math.log2(x)) for line in axes.lines if line.get_gid() == name for x in line.get_xdata()
    )


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_title()]


def test_the_best_of_each_factor() -> None:
    points = curve_points(
        frame_of(
            [
                row("mt", 1, 1.0),
                row("mt", 1, 0.8, local_size="16"),
                row("mt", 2, 1.5, local_size="16"),
                row("mt", 2, 1.2),
                row("mt", 2, 1.4, dimension="1"),
                row("mt", 4, None),
                row("mt", 4, None, local_size="16", invalidity="constraints"),
            ]
        )
    )
    assert list(points["series"].unique()) == ["AMD EPYC (Intel)"]
    assert list(points["factor"]) == [1, 2, 4]
    assert list(points["speedup"])[:2] == [1.0, 1.5] and math.isnan(points["speedup"][2])
    assert points["low"][1] == pytest.approx(1.47) and points["high"][1] == pytest.approx(1.53)
    assert points["configuration"][1] == "factor 2 along dimension 0, local size 16"
    assert points[["measured", "failed", "excluded"]].to_numpy().tolist() == [[2, 0, 0], [3, 0, 0], [0, 1, 1]]


def test_the_baselines_local_size_only() -> None:
    rows = frame_of(
        [
            row("mt", 1, 1.0),
            row("mt", 2, 1.5, local_size="16"),
            row("mt", 2, 1.2),
            # It was never run, so nobody chose a baseline for it.
            row("mt", 4, None, invalidity="constraints", baseline_local_size=""),
        ]
    )
    points = curve_points(rows, choice="baseline")
    assert list(points["factor"]) == [1, 2, 4]
    assert list(points["speedup"])[:2] == [1.0, 1.2]
    assert points["excluded"][2] == 1


def test_curves_by_stride_share_the_uncoarsened_point() -> None:
    rows = frame_of([row("mt"), row("mt", 2, 1.1, stride="32"), row("mt", 2, 1.3, stride="8"), row("nbody")])
    points = curve_points(rows, "stride")
    assert points[["benchmark", "series", "factor", "speedup"]].to_numpy().tolist() == [
        ["mt", "stride 8", 1, 1.0],
        ["mt", "stride 8", 2, 1.3],
        ["mt", "stride 32", 1, 1.0],
        ["mt", "stride 32", 2, 1.1],
    ]


def test_curves_by_dimension_are_of_one_device() -> None:
    with pytest.raises(InvalidInputError) as caught:
        curve_points(frame_of([row("mt", 2, **POCL), row("mt", 2, **INTEL)]), "dimension")
    assert str(caught.value) == (
        "curves by dimension are of one device; choose one of AMD EPYC (Intel); AMD EPYC (PoCL)"
    )


def test_the_confirmed_best_stands_on_its_curve() -> None:
    rows = [
        *(row("mt", 1), row("mt", 2, 2.0), row("mt", 2, 1.8, stride="8"), row("mt", 4, 1.9)),
        row("mt", 2, 1.5, role="confirmation"),
    ]
    points = curve_points(frame_of(rows))
    assert points[["factor", "speedup", "best", "unsure"]].to_numpy().tolist() == [
        [1, 1.0, False, False],
        [2, 1.5, True, False],
        [4, 1.9, False, True],
    ]
    assert list(best_points(points)["speedup"]) == [1.5]
    gain = "Coarsening makes mt 1.50 times as fast on AMD EPYC (Intel) at factor 2; what lies above was timed once"
    assert curves_finding(points, "device") == gain
    (panel,) = draw_curves(frame_of(rows)).axes[:1]
    (white,) = (line for line in panel.lines if line.get_gid() == "unsure AMD EPYC (Intel)")
    assert white.get_markerfacecolor() == "white" and list(white.get_ydata()) == [1.9]


@pytest.mark.parametrize("confirmed", [0.88, 1.01])
def test_a_best_that_does_not_hold_is_not_marked(confirmed: float) -> None:
    rows = [row("mt", 1), row("mt", 2, 1.04), row("mt", 2, confirmed, role="confirmation")]
    points = curve_points(frame_of(rows))
    assert list(points["best"]) == [True, False]
    assert list(points["speedup"]) == [1.0, confirmed]
    assert curves_finding(points, "device") == "Coarsening does not help mt on AMD EPYC (Intel)"


def test_curves_by_stride_need_coarsened_configurations() -> None:
    with pytest.raises(InvalidInputError, match="there is no coarsened configuration to draw a curve of"):
        curve_points(frame_of([row("mt")]), "stride")


@pytest.mark.parametrize(
    ("arguments", "message"), [(("colour",), "'colour' is none of device, dimension, stride")]
)
def test_wrong_arguments(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        curve_points(frame_of([row("mt")]), *arguments)  # type: ignore[arg-type]


def test_the_best_point_competes_with_the_uncoarsened_one() -> None:
    points = curve_points(frame_of([row("mt", 1, 1.0), row("mt", 2, 0.9), row("nbody", 1), row("nbody", 8, 3.0)]))
    assert list(best_points(points)["factor"]) == [1, 8]


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        (
            [
                row("mt", 2, 2.0),
                row("nbody", 2, 0.5),
                row("nbody", 1),
                row("reduce", 2, None),
                row("mt", 2, **POCL),
            ],
            "Coarsening helps 1 of 3 kernels (1 without a result) on AMD EPYC (Intel) "
            "and none of 1 on AMD EPYC (PoCL)",
        ),
        ([row("mt"), row("mt", 2, 0.5)], "Coarsening does not help mt on AMD EPYC (Intel)"),
        (
            [row("mt", 4, 1.5), row("mt", 2, 0.5, **POCL)],
            "Coarsening makes mt 1.50 times as fast on AMD EPYC (Intel) at factor 4, "
            "and does not help it on AMD EPYC (PoCL)",
        ),
    ],
)
def test_the_finding_by_device(rows: list[dict[str, object]], finding: str) -> None:
    assert curves_finding(curve_points(frame_of(rows)), "device") == finding


def test_the_finding_by_stride() -> None:
    rows = [
        row("mt", 2, 2.0),
        row("mt", 2, 1.5, stride="8"),
        row("nbody", 2, 3.0),
        row("reduce", 2, 0.5, stride="8"),
    ]
    points = curve_points(frame_of(rows), "stride")
    assert curves_finding(points, "stride") == (
        "Coarsening helps 2 of 3 kernels on AMD EPYC (Intel): stride 1 is best for 2 (1 with no other to choose)"
    )
    nothing = points.assign(speedup=0.5, low=0.4)
    assert curves_finding(nothing, "stride") == "Coarsening helps none of 3 kernels on AMD EPYC (Intel)"


def test_the_finding_says_how_many_gains_are_clear() -> None:
    points = curve_points(frame_of([row("mt", 2, 2.0), row("nbody", 2, 1.04), row("reduce", 2, 0.5)]))
    assert curves_finding(points, "device") == (
        "Coarsening helps 2 of 3 kernels (1 by more than 5 %) on AMD EPYC (Intel)"
    )


def test_the_finding_at_the_baselines_local_size_says_so() -> None:
    rows = frame_of([row("mt"), row("mt", 2, 0.5), row("mt", 2, 2.0, local_size="16"), row("nbody", 2, 2.0)])
    points = curve_points(rows, choice="baseline")
    assert curves_finding(points, "device", "baseline") == (
        "At the baseline's local size coarsening helps 1 of 2 kernels on AMD EPYC (Intel)"
    )


def test_a_kernel_that_never_ran_on_a_device_counts_and_is_marked() -> None:
    rows = [
        *(row("mt", 2, 2.0, **place) for place in (INTEL, POCL)),
        row("nbody", 2, 2.0, **INTEL),
        row("nbody", 1, None, role="selection", invalidity="compile", **POCL),
    ]
    points = curve_points(frame_of(rows))
    assert curves_finding(points, "device") == (
        "Coarsening helps 2 of 2 kernels on AMD EPYC (Intel) and 1 of 2 (1 without a result) on AMD EPYC (PoCL)"
    )
    assert marks(panels(draw_curves(frame_of(rows)))[1], "none worked") == [1]


def test_what_is_drawn() -> None:
    figure = draw_curves(
        frame_of(
            [
                *(row("mt", factor, 1.0 + factor / 10) for factor in (1, 2, 4)),
                row("mt", 2, None, local_size="16"),
                row("mt", 8, None),
                row("mt", 16, None, invalidity="constraints"),
                *(row("mt", factor, 1.5, **POCL) for factor in (1, 2)),
                row("nbody", 1),
            ]
        )
    )
    drawn = panels(figure)
    assert [axes.get_title() for axes in drawn] == ["mt", "nbody"]
    assert len(drawn[0].containers) == 2 and len(drawn[1].containers) == 1
    assert marks(drawn[0], "some failed") == [2]
    assert marks(drawn[0], "none worked") == [8]
    assert marks(drawn[0], "none allowed") == [16]
    assert not any(marks(drawn[1], name) for name in ("some failed", "none worked", "none allowed"))
    assert any(line.get_gid() == "one" and set(line.get_ydata()) == {1.0} for line in drawn[1].lines)
    assert {(axes.get_xscale(), axes.get_yscale()) for axes in drawn} == {("log", "log")}
    labels = [text.get_text() for text in figure.findobj() if hasattr(text, "get_text")]
    for expected in (
        *("AMD EPYC (Intel)", "AMD EPYC (PoCL)", "some configurations failed", "every configuration failed"),
        *("no configuration is allowed", "coarsening factor (work-items merged into one)"),
    ):
        assert expected in labels, expected


def test_a_line_breaks_where_nothing_worked() -> None:
    figure = draw_curves(frame_of([row("mt", 1), row("mt", 2, None), row("mt", 4, 2.0)]))
    curve = panels(figure)[0].containers[0].lines[0]
    assert [math.isnan(value) for value in curve.get_ydata()] == [False, True, False]


def test_the_bars_are_the_intervals() -> None:
    figure = draw_curves(frame_of([row("mt", 2, 2.0, low=1.5, high=2.25)]))
    bars = panels(figure)[0].containers[0].lines[2][0]
    assert [y for _, y in bars.get_segments()[0]] == pytest.approx([1.5, 2.25])


def test_a_page_holds_the_whole_suite() -> None:
    figure = draw_curves(sweep_frame((POCL, INTEL, NVIDIA)))
    assert [axes.get_title() for axes in panels(figure)] == list(KERNELS)
    width, height = figure.get_size_inches()
    assert width <= 6.71 and height <= 10.11
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        *("AMD EPYC (Intel)", "AMD EPYC (PoCL)", "NVIDIA H200 (OpenCL)", "some configurations failed"),
    ]


def test_curves_without_intervals_are_drawn() -> None:
    rows = frame_of([row("mt"), row("mt", 2, 2.0)]).assign(low=math.nan, high=math.nan)
    assert len(panels(draw_curves(rows))) == 1


def test_only_failures_make_a_figure_of_marks() -> None:
    figure = draw_curves(frame_of([row("mt", 2, None)]))
    assert marks(panels(figure)[0], "none worked") == [2]


def test_frames_are_left_as_they_are() -> None:
    rows = frame_of([row("mt"), row("mt", 2, 2.0)])
    before = rows.copy()
    draw_curves(rows)
    pd.testing.assert_frame_equal(rows, before)


def test_what_another_layout_gains_is_no_point_of_the_kernel_as_it_is() -> None:
    rows = [
        row("mt", 1),
        row("mt", 2, 1.2),
        row("mt", 1, 1.9, arrays="bodies as soa", configuration="bodies as soa"),
    ]
    points = curve_points(frame_of(rows)).set_index("factor")
    assert points["speedup"].to_dict() == {1: 1.0, 2: 1.2}
