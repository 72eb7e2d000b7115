"""All kernels at all factors by two of their features: the numbers and what is drawn of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS, FeatureTable
from coarsen.models.examples import Example
from coarsen.opencl_bench.reporting.figures.draw_deltas import draw_deltas
from coarsen.opencl_bench.reporting.figures.files import rendered
from coarsen.opencl_bench.reporting.numbers.deltas import delta_table, deltas_finding
from tests.opencl_bench.reporting.figures.evaluations import example


def with_rows(kernel: str, best: int, values: Mapping[int, tuple[float, float]]) -> Example:
    """An example with instructions and divergent regions at each factor."""
    plain = example(kernel, "cypress")
    first = plain.table.at(1)
    rows = {
        factor: replace(first, instructions=number, divergent_regions=regions)
        for factor, (number, regions) in values.items()
    }
    return replace(plain, best_factor=best, table=FeatureTable(kernel, 0, rows))


EXAMPLES = (
    with_rows("even", 4, {factor: (10 + factor, 0) for factor in FACTORS}),
    with_rows("parted", 1, {factor: (10 * factor, factor) for factor in FACTORS}),
)


def test_each_step_has_the_changes_of_both_features() -> None:
    table = delta_table(EXAMPLES)
    assert len(table) == 2 * 5
    second = table[(table["kernel"] == "even") & (table["factor"] == 2)].iloc[0]
    assert second["instructions"] == pytest.approx((14 - 12) / 12)
    assert (second["divergent_regions"], bool(second["further"])) == (0, True)
    parted = table[table["kernel"] == "parted"]
    assert set(parted["instructions"]) == set(parted["divergent_regions"]) == {1.0}
    assert deltas_finding(table) == (
        "The best factor lies beyond 40 % of the 5 steps that add no divergent region, "
        "and beyond 0 % of the 5 steps that add divergent regions"
    )


def test_dots_and_squares() -> None:
    figure = draw_deltas(delta_table(EXAMPLES))
    (axes,) = figure.axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert (len(lines["dots"].get_xdata()), len(lines["squares"].get_xdata())) == (2, 8)
    assert (lines["dots"].get_marker(), lines["squares"].get_marker()) == ("o", "s")
    assert all(abs(height) < 0.1 for height in lines["dots"].get_ydata())
    assert rendered(figure, "svg") == rendered(figure, "svg")


def test_without_kernels_there_is_nothing_to_draw() -> None:
    with pytest.raises(InvalidInputError, match="no kernel"):
        delta_table([])
