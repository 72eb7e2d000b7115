"""`coarsen bench --layout` and `--order`: what they leave to be chosen, and how it is searched."""

from __future__ import annotations

import pytest

from coarsen.cli.space_options import array_choices
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.variant_space import VariantSearchSpace
from coarsen.variant.data_layout import AOS, SOA, ArrayLayout, Order
from coarsen.variant.space import ArrayChoices, Dimension, VariantSpace
from coarsen.variant.variant import Variant


def test_values_by_argument() -> None:
    found = array_choices(["bodies=soa, aosoa:32", "image=soa"], ["image=1,0", "image=0,1"])
    assert found == (
        ArrayChoices("bodies", (SOA, ArrayLayout.parse("aosoa:32"))),
        ArrayChoices("image", (SOA,), (Order((1, 0)), Order((0, 1)))),
    )


@pytest.mark.parametrize(
    ("layouts", "orders", "message"),
    [
        (["bodies"], [], "--layout is written as ARGUMENT=VALUE, not 'bodies'"),
        (["bodies=soa,rows"], [], "a layout is aos, soa or aosoa:WIDTH, not 'rows'"),
        ([f"bodies=aosoa:{'9' * 5000}"], [], "the width of a tile has 5000 digits"),
        ([], ["image=1"], "an order names each dimension once"),
    ],
)
def test_what_can_not_be_read(layouts: list[str], orders: list[str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        array_choices(layouts, orders)


def test_arrays_are_independent_of_each_other_and_of_the_launch() -> None:
    dimensions = [
        each for choices in array_choices(["bodies=soa"], ["bodies=1,0"]) for each in choices.dimensions()
    ]
    space = VariantSearchSpace(VariantSpace((Dimension("local_size", ((64,), (32,))), *dimensions)))
    assert [(axis.name, axis.values, axis.shared) for axis in space.axes] == [
        ("local_size", ((64,), (32,)), True),
        ("layout_bodies", (AOS, SOA), False),
        ("order_bodies", (None, Order((1, 0))), False),
    ]
    assert [space.choice_of(space.variant(choice)) for choice in ((0, 1, 1), (1, 0, 1))] == [(0, 1, 1), (1, 0, 1)]
    assert space.variant((0, 0, 0)) == Variant((64,))
