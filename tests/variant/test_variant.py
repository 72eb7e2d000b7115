"""Variants are values: equal where they mean the same, and the same again after JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.data_layout import AOS, SOA, ArrayLayout, Order, RecordType
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.transforms import DEFAULT, REPLICATION_ALONE, DeviceKind, Tile, Transforms, Use, transforms_of
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

extents = st.integers(1, 2**10)
coarsenings = st.builds(
    lambda factor, dimension, stride, level: Coarsening(
        factor, dimension, stride if level is Level.ITEM else 1, level
    ),
    st.integers(1, 8),
    st.integers(0, 2),
    st.integers(1, 64),
    st.sampled_from(Level),
)
transforms = st.builds(
    Transforms,
    st.sampled_from(Use),
    st.sampled_from(Use),
    st.booleans(),
    st.booleans(),
    st.sampled_from(DeviceKind),
    st.booleans(),
)
plans = st.builds(
    ArrayPlan,
    st.sampled_from(("bodies", "image")),
    st.sampled_from([AOS, SOA, ArrayLayout.parse("aosoa:32")]),
    st.sampled_from([None, Order((0, 1)), Order((1, 0))]),
    st.sampled_from([None, (48, 64)]),
)
variants = st.builds(
    Variant,
    st.lists(extents, max_size=3).map(tuple),
    st.lists(coarsenings, max_size=4, unique_by=lambda c: (c.level, c.dimension)).map(tuple),
    st.dictionaries(st.sampled_from("ABC"), st.text(max_size=3)).map(lambda d: tuple(d.items())),
    transforms,
    st.booleans(),
    st.lists(plans, max_size=2, unique_by=lambda plan: plan.argument).map(tuple),
)


@given(variants)
def test_json_gives_the_same_variant(variant: Variant) -> None:
    written = json.loads(json.dumps(variant_to_json(variant)))
    assert variant_from_json(written, REPLICATION_ALONE) == variant


@given(variants)
def test_implied_transforms_need_no_mention(variant: Variant) -> None:
    written = variant_to_json(variant, variant.transforms)
    assert "transforms" not in written
    assert variant_from_json(written, variant.transforms) == variant


def test_what_has_no_effect_makes_no_other_variant() -> None:
    one = Variant((8,), (Coarsening(1, 0), Coarsening(2, 1)), (("B", "1"), ("A", "2")))
    assert one == Variant((8,), (Coarsening(2, 1),), (("A", "2"), ("B", "1")))
    assert Variant((8,), (), transforms=REPLICATION_ALONE, any_size=True) == Variant((8,))
    assert Variant((8,), (Coarsening(2),)) != Variant((8,), (Coarsening(2),), any_size=True)


def test_plans_that_change_nothing_make_no_other_variant() -> None:
    image = ArrayPlan("image", order=Order((1, 0)))
    nothing = ArrayPlan("table", order=Order((0, 1)), shape=(3, 4))
    bodies = ArrayPlan("bodies", SOA, record=RecordType.plain(4))
    variant = Variant((8,), arrays=(image, nothing, bodies))
    assert variant == Variant((8,), arrays=(ArrayPlan("bodies", SOA), image))
    assert (variant.is_coarsened, variant.is_original) == (False, False)
    assert variant.uncoarsened() == Variant((8,)) and Variant((8,)).is_original
    assert str(variant) == "uncoarsened, bodies as soa, image as order 1,0, local size 8"
    with pytest.raises(InvalidInputError, match="the argument bodies is laid out twice"):
        Variant(arrays=(bodies, bodies))


def test_a_tile_makes_another_kernel_of_one_that_is_not_coarsened() -> None:
    tile = Transforms(tile=Tile("16"), wide_accesses=True, device_kind=DeviceKind.GPU)
    variant = Variant((16, 16), transforms=tile)
    assert variant.transforms == Transforms(tile=Tile("16"), device_kind=DeviceKind.GPU)
    assert (variant.is_coarsened, variant.is_rewritten, variant.is_original) == (False, True, False)
    assert variant.uncoarsened() == Variant((16, 16)) and variant.code_variant() == variant
    assert str(variant) == "uncoarsened, tile 16, local size 16×16"
    for implied in (DEFAULT, tile, None):
        assert variant_from_json(variant_to_json(variant, implied), implied or DEFAULT) == variant
    # What is implied is of coarsened variants.
    assert variant_from_json(variant_to_json(Variant((16, 16)), tile), tile) == Variant((16, 16))


def test_a_tile_may_name_the_arrays_to_copy() -> None:
    tile = Tile("16:b+a+b")
    assert (tile, tile.trips, tile.arrays, Tile("8").arrays) == ("16:a+b", 16, ("a", "b"), ())
    variant = Variant((16,), (Coarsening(2),), transforms=transforms_of(tile="16:a"))
    assert str(variant) == "factor 2 along dimension 0, tile 16:a, local size 16"
    read = variant_from_json(json.loads(json.dumps(variant_to_json(variant))))
    assert read == variant and read.transforms.tile.arrays == ("a",)
    for wrong in ("", "7", "16:", "16:a,b", "no:a", "16:2"):
        with pytest.raises(InvalidInputError, match="tile is no, 8, 16, 32, or one with the arrays to copy"):
            Tile(wrong)


def test_arrays_are_said_only_where_they_lie_otherwise() -> None:
    assert "arrays" not in variant_to_json(Variant((8,), arrays=(ArrayPlan("bodies"),)))
    value = variant_to_json(Variant(arrays=(ArrayPlan("image", SOA, Order((1, 0)), (2, 3)), ArrayPlan("a", SOA))))
    assert value["arrays"] == {
        "a": {"layout": "soa"},
        "image": {"layout": "soa", "order": [1, 0], "shape": [2, 3]},
    }


def test_a_row_of_old_says_no_more_than_it_did() -> None:
    value = {"local_size": [16, 16], "coarsenings": [[4, 0, 8]], "definitions": {"TILE": "8"}}
    variant = variant_from_json(value, REPLICATION_ALONE)
    assert variant.transforms == REPLICATION_ALONE
    assert variant_to_json(variant, REPLICATION_ALONE) == value


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"local_size": [2**40], "coarsenings": [], "definitions": {}},
        {"local_size": [-1], "coarsenings": [], "definitions": {}},
        {"local_size": [1, 1, 1, 1], "coarsenings": [], "definitions": {}},
        {"local_size": [True], "coarsenings": [], "definitions": {}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": {}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": {"a": {}}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": {"a": {"layout": "aos"}}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": {"a": {"layout": 1}}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": {"a": {"order": "1,0"}}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": {"a": {"order": [1, True]}}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": {"a": {"layout": "soa", "pad": 1}}},
        {"local_size": [], "coarsenings": [], "definitions": {}, "arrays": [["a", {"layout": "soa"}]]},
        {"local_size": [8], "coarsenings": [[2, 0]], "definitions": {}},
        {"local_size": [8], "coarsenings": [[2, 0, 1, "item"]], "definitions": {}},
        {"local_size": [8], "coarsenings": [[2, 0, 1, "wave"]], "definitions": {}},
        {"local_size": [8], "coarsenings": [[2, 0, 1], [2, 0, 1]], "definitions": {}},
        {"local_size": [8], "coarsenings": [], "definitions": {"A": 1}},
        {"local_size": [8], "coarsenings": [], "definitions": {}, "any_size": True},
        {"local_size": [8], "coarsenings": [[2, 0, 1]], "definitions": {}, "transforms": {"fast_path": "auto"}},
    ],
)
def test_what_is_no_variant_is_refused(value: object) -> None:
    with pytest.raises(
        InvalidInputError,
        match=r"a configuration|level must be|only once|not the local size",
    ):
        variant_from_json(value)


def test_words() -> None:
    coarsened = (Coarsening(4, 1, 8), Coarsening(2, 0, level=Level.GROUP))
    assert str(Variant()) == "uncoarsened"
    assert str(Variant((16, 16), coarsened, (("TILE", "8"),))) == (
        "factor 2 of work-groups along dimension 0 and factor 4 along dimension 1 with stride 8, "
        "local size 16×16, -D TILE=8"
    )
    wide = Transforms(wide_accesses=True, device_kind=DeviceKind.CPU)
    assert str(Variant((), (Coarsening(2),), transforms=wide)) == "factor 2 along dimension 0, wide accesses"
    alone = Variant((), (Coarsening(2),), transforms=REPLICATION_ALONE)
    assert str(alone) == "factor 2 along dimension 0, replication alone"
    assert str(Variant((), (Coarsening(2),), transforms=DEFAULT, any_size=True)).endswith("for any size")
