"""One device's best configuration on another: the numbers, and what is drawn of them."""

from __future__ import annotations

import math

import pytest
from matplotlib.figure import Figure

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.reporting.figures.draw_portability import draw_portability
from coarsen.opencl_bench.reporting.figures.findings import portability_finding
from coarsen.opencl_bench.reporting.numbers.portability import mean_transfers, transfers
from tests.opencl_bench.reporting.figures.samples import (
    INTEL,
    KERNELS,
    NVIDIA,
    POCL,
    frame_of,
    row,
    sweep_frame,
)

A, B = "AMD EPYC (Intel)", "AMD EPYC (PoCL)"
ROWS = (
    # mt: the best of A is worth half of B's best, the best of B a quarter of A's.
    *(row("mt", 2, 4.0, **INTEL), row("mt", 4, 1.0, **INTEL)),
    *(row("mt", 2, 1.5, **POCL), row("mt", 4, 3.0, **POCL)),
    # nbody: the best of A gave wrong results on B; B's best was never tried on A.
    *(row("nbody", 2, 2.0, **INTEL), row("nbody", 2, None, **POCL, invalidity="correctness")),
    row("nbody", 8, 1.25, **POCL),
    # reduce: nothing worked on A.
    *(row("reduce", 2, None, **INTEL), row("reduce", 2, 2.0, **POCL)),
)


def cell(figure: Figure, panel: str, text: str) -> int:
    """How many cells of a panel have this text."""
    axes = next(axes for axes in figure.axes if axes.get_title(loc="left") == panel)
    return sum(written.get_text() == text for written in axes.texts)


def test_transfers() -> None:
    pairs = transfers(frame_of(ROWS)).set_index(["benchmark", "tuned_on", "run_on"])
    assert len(pairs) == 3 * 4
    assert pairs.loc[("mt", A, B), "relative"] == pytest.approx(0.5)
    assert pairs.loc[("mt", B, A), "relative"] == pytest.approx(0.25)
    assert pairs.loc[("mt", A, A), "relative"] == pairs.loc[("mt", B, B), "relative"] == 1.0
    assert pairs.loc[("mt", A, B), "configuration"] == "factor 2 along dimension 0, local size 64"
    outcomes = pairs["outcome"].to_dict()
    assert outcomes["nbody", A, B] == "correctness"
    assert outcomes["nbody", B, A] == "not measured"
    assert outcomes["reduce", A, B] == outcomes["reduce", A, A] == "no best"
    assert outcomes["reduce", B, A] == "runtime"
    assert pairs["relative"].isna().sum() == 5


def test_a_configuration_is_more_than_its_factor() -> None:
    rows = [row("mt", 2, 4.0, **INTEL), row("mt", 2, 3.0, **POCL, stride="8")]
    outcomes = transfers(frame_of(rows)).set_index(["tuned_on", "run_on"])["outcome"]
    assert outcomes[A, B] == outcomes[B, A] == "not measured"


def test_means_say_what_they_are_of() -> None:
    more = (row("sobel", 2, 2.0, **INTEL), row("sobel", 2, 1.0, **POCL), row("sobel", 4, 8.0, **POCL))
    means = mean_transfers(transfers(frame_of([*ROWS, *more]))).set_index(["tuned_on", "run_on"])
    there = means.loc[(A, B)]
    assert there["relative"] == pytest.approx(math.sqrt(0.5 * 0.125))
    assert there[["measured", "failed", "missing", "kernels"]].tolist() == [2, 1, 1, 4]
    back = means.loc[(B, A)]
    assert back["relative"] == pytest.approx(0.25)
    assert back[["measured", "failed", "missing", "kernels"]].tolist() == [1, 1, 2, 4]


def test_one_device_is_not_enough() -> None:
    with pytest.raises(InvalidInputError) as caught:
        transfers(frame_of([row("mt")]))
    assert str(caught.value) == "portability compares devices, and there is only AMD EPYC (Intel)"


def test_without_any_speedup() -> None:
    with pytest.raises(InvalidInputError, match="all of them failed"):
        transfers(frame_of([row("mt", 2, None, **INTEL), row("mt", 2, None, **POCL)]))


def test_the_finding() -> None:
    assert portability_finding(transfers(frame_of(ROWS))) == (
        "With another device's best configuration a device keeps 35 % of its own best speed-up (geometric mean), "
        "at worst 25 % (mt); 2 of 6 failed there and 2 of 6 could not be compared"
    )
    nothing = transfers(frame_of([row("mt", 2, 2.0, **INTEL), row("nbody", 2, 2.0, **POCL)]))
    assert portability_finding(nothing).startswith("No configuration that is best on one device could be")


def test_what_is_drawn() -> None:
    figure = draw_portability(frame_of(ROWS))
    for text in ("0.50", "0.25", "wrong", "–", "none", "crash"):
        assert cell(figure, "Each kernel", text) == 1, text
    assert cell(figure, "Geometric mean over the kernels", "0.50\n1 of 3, 1 failed") == 1
    assert cell(figure, "Geometric mean over the kernels", "0.25\n1 of 3, 1 failed") == 1
    kernels = next(axes for axes in figure.axes if axes.get_title(loc="left") == "Each kernel")
    assert sum(patch.get_hatch() is not None for patch in kernels.patches) == 2
    assert [label.get_text() for label in kernels.get_xticklabels()] == ["A → B", "B → A"]
    assert [label.get_text() for label in kernels.get_yticklabels()] == ["mt", "nbody", "reduce"]


def test_nothing_to_carry_over_is_drawn_too() -> None:
    figure = draw_portability(frame_of([row("mt", 2, 2.0, **INTEL), row("nbody", 2, 2.0, **POCL)]))
    assert cell(figure, "Geometric mean over the kernels", "no value\n0 of 2") == 2
    assert cell(figure, "Each kernel", "–") == 2 and cell(figure, "Each kernel", "none") == 2


def test_a_page_holds_the_whole_suite() -> None:
    figure = draw_portability(sweep_frame((POCL, INTEL, NVIDIA)))
    kernels = next(axes for axes in figure.axes if axes.get_title(loc="left") == "Each kernel")
    assert len(kernels.texts) == 6 * len(KERNELS)
    width, height = figure.get_size_inches()
    assert width <= 6.71 and height <= 10.11
