"""Plans of arrays, as the command line has them."""

from __future__ import annotations

from typing import Any

import pytest

import coarsen
from coarsen.errors import InvalidInputError
from coarsen.variant.data_layout import AOS, SOA, ArrayLayout, Order
from coarsen.variant.data_plan import ArrayPlan, array_plan, array_plans
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import array_from_json, array_to_json


def test_plans_by_argument() -> None:
    assert array_plans(
        ["bodies=soa", "grid=aosoa:32"], ["image=1,0", "grid=1,0"], ["image=48,64", "bodies=7"]
    ) == (
        ArrayPlan("bodies", SOA, None, (7,)),
        ArrayPlan("grid", ArrayLayout.parse("aosoa:32"), Order((1, 0))),
        ArrayPlan("image", AOS, Order((1, 0)), (48, 64)),
    )


@pytest.mark.parametrize(
    ("layouts", "orders", "shapes", "message"),
    [
        (["bodies"], [], [], "--layout is written as ARGUMENT=VALUE, not 'bodies'"),
        ([], ["=1,0"], [], "--order is written as"),
        (["a=soa", "a=aos"], [], [], "--layout names the argument a twice"),
        (["a=rows"], [], [], "a layout is aos, soa, aosoa:WIDTH, deep-soa or deep-aosoa:WIDTH, not 'rows'"),
        ([], ["a=1,1"], [], "an order names each dimension once"),
        (["a=soa"], [], ["a=many"], "a shape is one whole number for each dimension"),
        ([], [], ["a=100"], "--shape a=… goes with --layout a=… or --order a=…"),
    ],
)
def test_what_cannot_be_read(layouts: list[str], orders: list[str], shapes: list[str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        array_plans(layouts, orders, shapes)


def test_pads_and_places_are_read_by_array() -> None:
    plans = array_plans((), (), ["tile=16,16"], ["weights=constant"], ["tile=1", "other=xor", "none=0"])
    assert plans == (
        array_plan("weights", place="constant"),
        array_plan("tile", shape=(16, 16), pad=1),
        array_plan("other", pad="xor"),
    )
    assert [str(plan) for plan in plans] == [
        "weights as in constant memory",
        "tile as of 16 x 16 with pad 1",
        "other as with pad xor",
    ]


def test_pads_and_places_go_through_json() -> None:
    plan = array_plan("tile", shape=[16, 16], place="noncoherent", pad="xor")
    value = {"shape": [16, 16], "place": "noncoherent", "pad": "xor"}
    assert array_to_json(plan) == value
    assert array_from_json("tile", value) == plan
    assert Variant(arrays=(plan,)).arrays == (plan,)
    assert Variant(arrays=(array_plan("tile"),)).is_original


@pytest.mark.parametrize("shape", [(-1,), (4, 2.5), (), "many", (10**20,)])
def test_a_shape_is_whole_numbers(shape: Any) -> None:  # noqa: ANN401 (what a caller may give by mistake)
    with pytest.raises(InvalidInputError, match=r"a shape is one whole number|an extent has"):
        array_plan("tile", place="local", shape=shape)


@pytest.mark.parametrize(
    "words", [{"order": (1, 0)}, {"layout": 3}, {"place": None}, {"name": 3}], ids=lambda words: next(iter(words))
)
def test_what_is_no_text_is_refused(words: dict[str, Any]) -> None:
    option = next(iter(words))
    with pytest.raises(InvalidInputError, match=f"the {option} of a plan is a text"):
        array_plan(**{"name": "a", **words})


@pytest.mark.parametrize("arrays", [["a"], "a", 3, [None]], ids=str)
def test_what_is_no_plan_is_refused(arrays: Any) -> None:  # noqa: ANN401 (any mistake)
    source = "kernel void k(global float *a) { a[get_global_id(0)] += 1; }"
    with pytest.raises(InvalidInputError, match="arrays are given as a sequence of"):
        coarsen.coarsen(source, factor=2, arrays=arrays)
