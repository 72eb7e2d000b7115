"""Where the fastest configurations lie: the numbers, and what is drawn of them."""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.figures.draw_hinton import draw_hinton
from coarsen.opencl_bench.reporting.figures.findings import hinton_finding
from coarsen.opencl_bench.reporting.numbers.hinton import top_shares, value_order
from tests.opencl_bench.reporting.figures.samples import (
    INTEL,
    NVIDIA,
    POCL,
    frame_of,
    row,
    sweep_frame,
)


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_title(loc="left")]


def areas(axes: Axes, name: str) -> list[float]:
    return [patch.get_width() * patch.get_height() for patch in axes.patches if patch.get_gid() == name]


def forty(benchmark: str, fastest: int, **columns: object) -> list[dict[str, object]]:
    """Forty configurations at factors 1 and 2, of which those at a factor are the fastest."""
    return [
        row(benchmark, factor, 1.0 + count / 100 + (factor == fastest), definitions=f"A={count}", **columns)
        for factor in (1, 2)
        for count in range(20)
    ]


def test_two_of_forty_are_the_fastest() -> None:
    shares = top_shares(frame_of(forty("mt", 2)))
    assert shares[["factor", "value", "share", "expected"]].to_numpy().tolist() == [
        [1, "64", 0.0, pytest.approx(0.5)],
        [2, "64", pytest.approx(1.0), pytest.approx(0.5)],
    ]


def test_every_kernel_weighs_the_same() -> None:
    rows = [*forty("mt", 2), row("nbody", 1, 1.0), row("nbody", 2, 0.5), row("nbody", 2, None, local_size="16")]
    shares = top_shares(frame_of(rows)).set_index("factor")
    assert shares["share"].to_dict() == pytest.approx({1: 0.5, 2: 0.5})


def test_fastest_are_rounded_up() -> None:
    rows = [row("mt", factor, 1.0 + factor) for factor in (1, 2, 4)]
    assert top_shares(frame_of(rows), top=0.34)["share"].tolist() == pytest.approx([0, 0.5, 0.5])
    assert top_shares(frame_of(rows), top=1)["share"].tolist() == pytest.approx([1 / 3] * 3)


def test_local_sizes_count_by_their_work_items() -> None:
    rows = [row("mt", 1, 1.0, local_size="16×16"), row("nbody", 1, 1.0, local_size="256")]
    shares = top_shares(frame_of(rows))
    assert shares[["factor", "value", "share"]].to_numpy().tolist() == [[1, "256", 1.0]]


def test_strides_are_in_the_order_of_their_values() -> None:
    strides = ["8", "32", "1", "1,8"]
    rows = [row("mt"), *(row("mt", 2, 2.0, stride=stride, definitions=f"A={stride}") for stride in strides[:3])]
    assert list(top_shares(frame_of(rows), "stride")["value"]) == ["none", "1", "8", "32"]
    assert sorted([*strides, "none"], key=value_order) == ["none", "1", "1,8", "8", "32"]


@pytest.mark.parametrize(
    ("against", "top", "message"),
    [
        ("colour", 0.05, "'colour' is none of local size, stride, dimension, benchmark"),
        ("stride", 0.0, "the part that counts as fastest lies between 0 and 1, not 0.0"),
    ],
)
def test_wrong_arguments(against: str, top: float, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        top_shares(frame_of([row("mt")]), against, top)  # type: ignore[arg-type]


def test_without_any_speedup() -> None:
    with pytest.raises(InvalidInputError, match="all of them failed"):
        top_shares(frame_of([row("mt", 2, None)]))


def test_the_finding() -> None:
    rows = [row("mt", 4, 2.0), row("nbody", 4, 2.0), row("reduce", 1, 1.0), row("mt", 2, 2.0, **POCL)]
    rows += [row("nbody", 1, 1.0, **POCL)]
    shares = top_shares(frame_of(rows), "stride")
    assert hinton_finding(shares, "stride") == (
        "The fastest 5 % of the configurations lie most often at factor 4, stride 1 (67 %) on AMD EPYC (Intel) "
        "and in 2 places alike (50 % each) on AMD EPYC (PoCL)"
    )
    uncoarsened = top_shares(frame_of([row("mt", 1, 1.0), row("mt", 2, 0.5)]), "stride", 0.1)
    assert hinton_finding(uncoarsened, "stride", 0.1) == (
        "The fastest 10 % of the configurations lie most often at no coarsening (100 %) on AMD EPYC (Intel)"
    )


def test_areas_are_proportional_to_shares() -> None:
    rows = [
        row("mt", 2, 2.0),
        row("nbody", 2, 2.0),
        row("reduce", 4, 2.0),
        row("sobel", 4, 0.5),
        row("sobel", 8, 0.6),
    ]
    axes = panels(draw_hinton(frame_of(rows)))[0]
    first, second, third = areas(axes, "share")
    assert (first / second, first / third) == pytest.approx((2.0, 2.0))
    assert len(areas(axes, "expected")) == 3


def test_what_is_drawn() -> None:
    rows = [row("mt", 2, 2.0), row("mt", 4, 1.0, local_size="16"), row("mt", 4, 1.0, **POCL)]
    intel, pocl = panels(draw_hinton(frame_of(rows)))
    assert [label.get_text() for label in intel.get_xticklabels()] == ["2", "4"]
    assert [label.get_text() for label in intel.get_yticklabels()] == ["16", "64"]
    assert (len(areas(intel, "share")), len(areas(intel, "expected"))) == (1, 2)
    assert sum(line.get_gid() == "not measured" for line in intel.lines) == 2
    assert sum(line.get_gid() == "not measured" for line in pocl.lines) == 3
    assert [text.get_text() for text in intel.texts] == ["100"]


def test_a_page_holds_the_whole_suite() -> None:
    figure = draw_hinton(sweep_frame((POCL, INTEL, NVIDIA)))
    assert len(panels(figure)) == 3
    width, height = figure.get_size_inches()
    assert width <= 6.71 and height <= 10.11
    shares = top_shares(sweep_frame((POCL, INTEL, NVIDIA)))
    assert shares.groupby("label")["share"].sum().tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert shares.groupby("label")["expected"].sum().tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_against_the_benchmark_each_kernel_has_a_line_of_its_own() -> None:
    rows = [*forty("mt", 2), row("nbody", 1, 1.0), row("nbody", 2, 0.5), row("nbody", 2, 0.4, local_size="16")]
    shares = top_shares(frame_of(rows), "benchmark").set_index(["value", "factor"])
    assert shares["share"].to_dict() == pytest.approx(
        {("mt", 1): 0, ("mt", 2): 1, ("nbody", 1): 1, ("nbody", 2): 0}
    )
    assert shares["expected"].to_dict()["nbody", 2] == pytest.approx(2 / 3)
    (axes,) = panels(draw_hinton(frame_of(rows), "benchmark"))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["nbody", "mt"]
    assert axes.get_ylabel() == "kernel"
    title = hinton_finding(top_shares(frame_of(rows), "benchmark"), "benchmark")
    assert title.startswith("The fastest 5 % of the configurations lie most often uncoarsened (50 %) on")
