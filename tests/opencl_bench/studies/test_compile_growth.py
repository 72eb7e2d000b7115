"""Growth of the cost of coarsening: how it is found, and that calls grow linearly."""

from __future__ import annotations

import pytest
from rich.console import Console

from coarsen.opencl_bench.studies.compile_growth import (
    Cell,
    growth_lines,
    growth_table,
    measured,
    power,
)

SIZES = [(size, factor) for size in (250, 1000) for factor in (2, 8, 32)]


def made_up(exponent: float) -> list[Cell]:
    """Cells whose costs grow with a power of instructions × factor."""
    costs = [(pair, (pair[0] * pair[1]) ** exponent) for pair in SIZES]
    return [Cell(*pair, cost * 1e-4, cost * 2e-3, int(cost * 90)) for pair, cost in costs]


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_the_power_is_found(exponent: float) -> None:
    assert power(made_up(exponent), lambda cell: cell.seconds) == pytest.approx(exponent)


def test_a_cost_that_was_measured_too_seldom_has_no_power() -> None:
    assert power(made_up(1.0)[:2], lambda cell: cell.seconds) is None
    assert power(made_up(1.0), lambda cell: 0.0) is None


def test_limits_are_said_where_they_are_passed() -> None:
    assert [keeps for _, keeps in growth_lines(made_up(1.0))] == [True] * 3
    assert [keeps for _, keeps in growth_lines(made_up(1.3))] == [False] * 3
    late = [*made_up(1.0), Cell(2000, 32, failed="time is up")]
    assert list(growth_lines(late))[3:] == [("not measured, time is up: 2000 by 32", False)]


def test_the_table_has_each_cost() -> None:
    console = Console(width=120)
    with console.capture() as captured:
        console.print(growth_table([Cell(250, 4, 0.1, 2.0, 90_000), Cell(500, 4, failed="time is up")]))
    text = captured.get()
    assert "0.100 (100 µs)" in text
    assert "90,000 (90)" in text
    assert "2.0 (2.05 KiB)" in text
    assert "time is up" in text


@pytest.mark.parametrize(("size", "factor"), [(130, 2), (65, 4)])
def test_calls_grow_linearly(size: int, factor: int) -> None:
    small = measured(65, 2, counts_calls=True)
    large = measured(size, factor, counts_calls=True)
    assert small.seconds > 0
    assert small.mebibytes >= 0
    assert large.calls < small.calls * 1.15 * large.product / small.product
