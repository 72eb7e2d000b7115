"""Choices become rows in which an order is one of values, not of places in a list."""

from __future__ import annotations

from coarsen.tuning.search.spaces import Axis
from coarsen.tuning.search.surrogate import product_rows, unit_rows
from coarsen.variant.transforms import Use
from tests.opencl_bench.search.tables import ConstrainedSpace


def test_numbers_shapes_and_names() -> None:
    space = ConstrainedSpace(
        (
            Axis("factor", (4, 1, 2)),
            Axis("offset", (0, 3)),
            Axis("shift", ((0,), (16, 16))),
            Axis("wide_accesses", (False, True)),
            Axis("fast_path", tuple(Use)),
        )
    )
    # A logarithm where all are above 0; else numbers as they are, shapes by entries and product, words by columns.
    rows = product_rows(space)([(0, 0, 0, 0, 0), (1, 1, 1, 1, 2)])
    assert rows.tolist() == [
        [2, 0, 0, 1, 0, 0, 1, 0, 0],
        [0, 3, 16, 16, 256, 1, 0, 0, 1],
    ]


def test_no_choices_have_no_rows() -> None:
    assert product_rows(ConstrainedSpace((Axis("factor", (1, 2)),)))([]).shape == (0, 1)


def test_products_and_powers_of_two_are_columns_of_their_own() -> None:
    space = ConstrainedSpace((Axis("width", (16, 24, 32, 40, 48)), Axis("height", (1, 2)), Axis("padded", (0, 1))))
    rows = product_rows(space)([(0, 1, 1), (1, 0, 0)])
    # Logarithms, the flag as it is, the power of two of the width, width × height, width / height.
    assert rows.round(3).tolist() == [[4, 1, 1, 4, 5, 3], [4.585, 0, 0, 3, 4.585, 4.585]]


def test_columns_for_distances_are_from_0_to_1() -> None:
    space = ConstrainedSpace((Axis("width", (16, 24, 32, 40, 64)), Axis("way", ("rows", "columns"))))
    rows = unit_rows(space)([(0, 0), (4, 1), (1, 0)])
    assert rows.round(3).tolist() == [[0, 0.167, 1, 0], [1, 0.5, 0, 1], [0.292, 0, 1, 0]]
