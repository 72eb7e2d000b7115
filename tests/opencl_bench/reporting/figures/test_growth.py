"""How features grow with the factor: the numbers and what is drawn of them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURES, Features, FeatureTable
from coarsen.opencl_bench.plots import draw_growth, growth_table, rendered
from coarsen.opencl_bench.reporting.figures.style import PAGE_WIDTH, SMALLEST_SIZE
from coarsen.opencl_bench.reporting.numbers.growth import growth_finding

PLAIN = Features(*[2.0] * len(FEATURES))


def kernel(name: str, instructions: float) -> FeatureTable:
    """A kernel without barriers, whose instructions grow so much, and whose other features stay."""
    before = replace(PLAIN, barriers=0.0)
    return FeatureTable(name, 0, {1: before, 8: replace(before, instructions=2 * instructions)})


TABLES = [kernel("spmv", 7.5), kernel("mt", 5.9), kernel("nbody", 12.0)]


def test_a_row_for_each_kernel_and_feature() -> None:
    table = growth_table(TABLES)
    assert list(dict.fromkeys(table["kernel"])) == ["mt", "spmv", "nbody"]
    assert len(table) == 3 * len(FEATURES)
    own = table[table["kernel"] == "spmv"].set_index("feature")
    assert own.loc["instructions"].tolist() == ["spmv", 2.0, 15.0, 7.5]
    assert own.loc["loads", "growth"] == 1.0
    assert math.isnan(own.loc["barriers", "growth"])


def test_the_finding_names_the_extremes() -> None:
    several, one = growth_table(TABLES), growth_table(TABLES[:1])
    assert growth_finding(several, 8) == (
        "Coarsened by 8, kernels have 5.9 times (mt) to 12.0 times (nbody) their instructions"
    )
    assert growth_finding(one, 8) == "Coarsened by 8, spmv has 7.5 times its instructions"


def test_each_cell_has_its_number() -> None:
    figure = draw_growth(TABLES)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["mt", "spmv", "nbody"]
    line = [feature.name for feature in FEATURES].index("instructions")
    written = [text.get_text() for text in axes.texts if text.get_position()[1] == line]
    assert written == ["5.9", "7.5", "12"]
    assert [text.get_text() for text in axes.texts if text.get_gid() == "none"] == ["·"] * 3
    assert min(text.get_fontsize() for text in axes.texts) >= SMALLEST_SIZE
    assert rendered(figure, "svg") == rendered(figure, "svg")


def test_seventeen_kernels_fit_a_page() -> None:
    figure = draw_growth([kernel(f"kernel{number}", 5.0) for number in range(17)])
    assert figure.get_size_inches()[0] <= PAGE_WIDTH


def test_what_cannot_be_shown() -> None:
    with pytest.raises(InvalidInputError, match="no kernel"):
        growth_table([])
    with pytest.raises(InvalidInputError, match="twice"):
        growth_table([TABLES[0], TABLES[0]])
    with pytest.raises(InvalidInputError, match="no features at factor 4"):
        growth_table(TABLES, 4)
