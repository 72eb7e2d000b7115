"""Variants are values: equal where they mean the same, and the same again after JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DEFAULT, REPLICATION_ALONE, DeviceKind, Transforms, Use
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
)
variants = st.builds(
    Variant,
    st.lists(extents, max_size=3).map(tuple),
    st.lists(coarsenings, max_size=4, unique_by=lambda c: (c.level, c.dimension)).map(tuple),
    st.dictionaries(st.sampled_from("ABC"), st.text(max_size=3)).map(lambda d: tuple(d.items())),
    transforms,
    st.booleans(),
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
    with pytest.raises(InvalidInputError, match=r"not a configuration|level must be|only once|not the local size"):
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
