"""Growth of the cost of coarsening: how it is found, and that calls grow linearly."""

from __future__ import annotations

import pytest
from rich.console import Console

from coarsen.opencl_bench.studies import compile_time
from coarsen.opencl_bench.studies.compile_time import FACTORS, INSTRUCTIONS, Cell, measured, power, show_growth

SIZES = [(size, factor) for size in INSTRUCTIONS for factor in FACTORS]


def made_up(exponent: float) -> list[Cell]:
    """Cells whose costs grow with a power of instructions × factor."""
    costs = [(pair, (pair[0] * pair[1]) ** exponent) for pair in SIZES]
    return [Cell(*pair, cost * 1e-4, int(cost * 90)) for pair, cost in costs]


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_the_power_is_found(exponent: float) -> None:
    assert power(made_up(exponent), lambda cell: cell.seconds) == pytest.approx(exponent)


def test_a_cost_that_was_measured_too_seldom_has_no_power() -> None:
    assert power(made_up(1.0)[:2], lambda cell: cell.seconds) is None
    assert power(made_up(1.0), lambda cell: 0.0) is None


@pytest.mark.parametrize(
    ("found", "keeps"), [(made_up(1.0), True), (made_up(1.3), False), (made_up(1.0)[:9], False)]
)
def test_limits_are_said(found: list[Cell], keeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the time was up."""
    monkeypatch.setattr(compile_time, "cells", lambda _seconds: found)
    console = Console(width=120)
    with console.capture() as captured:
        assert show_growth(console, 1.0) is keeps
    assert ("LIMIT PASSED" in captured.get()) == (found == made_up(1.3))


@pytest.mark.parametrize(("size", "factor"), [(130, 2), (65, 4)])
def test_calls_grow_linearly(size: int, factor: int) -> None:
    small = measured(65, 2, counts_calls=True)
    large = measured(size, factor, counts_calls=True)
    assert small.seconds > 0
    assert large.calls < small.calls * 1.15 * large.product / small.product
