"""Choices become rows in which an order is one of values, not of places in a list."""

from __future__ import annotations

from coarsen.opencl_bench.search.encoding import Encoding
from coarsen.opencl_bench.search.spaces import Axis, ConstrainedSpace
from coarsen.variant.transforms import Use


def test_numbers_shapes_and_names() -> None:
    space = ConstrainedSpace(
        (
            Axis("factor", (4, 1, 2)),
            Axis("-D TILE", ("16", "8")),
            Axis("local_size", ((64,), (16, 16))),
            Axis("wide_accesses", (False, True)),
            Axis("fast_path", tuple(Use)),
        )
    )
    rows = Encoding(space).rows([(0, 0, 0, 0, 0), (1, 1, 1, 1, 2)])
    assert rows.tolist() == [
        [4, 16, 64, 1, 64, 0, 1, 0, 0],
        [1, 8, 16, 16, 256, 1, 0, 0, 1],
    ]


def test_no_choices_have_no_rows() -> None:
    assert Encoding(ConstrainedSpace((Axis("factor", (1, 2)),))).rows([]).shape == (0, 1)
