"""Packing: each byte where the formula says, and back again as it was."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyopencl import cltypes

import coarsen
from coarsen.variant.data_layout import AOS, DEEP_SOA, SOA, ArrayLayout, Order
from tests.variant.byte_places import byte_of

BODY = np.dtype([("x", "f4"), ("tag", "u1"), ("mass", "f8"), ("kind", "i2")], align=True)
WORDS: tuple[Any, ...] = ("u1", "i2", "f4", "f8", ("f4", (3,)), ("u2", (4,)))


@st.composite
def layouts(draw: st.DrawFn) -> tuple[coarsen.Layout, tuple[int, ...]]:
    """A layout of a random type, and a shape for it."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
    names = [(f"field_{place}", word) for place, word in enumerate(words)]
    dtype = np.dtype(names, align=draw(st.booleans())) if draw(st.booleans()) else np.dtype(words[0])
    if dtype.subdtype is not None:
        dtype = np.dtype("f4")
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    order = draw(st.none() | st.permutations(range(len(shape))).map(lambda chosen: Order(tuple(chosen))))
    tiles = [f"{deep}aosoa:{width}" for width in (1, 3, 4, 32) for deep in ("", "deep-")]
    layout = draw(st.sampled_from([AOS, SOA, DEEP_SOA, *map(ArrayLayout.parse, tiles)]))
    return coarsen.Layout(dtype, layout, order), shape


def filled(dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of which each byte, padding too, is set; no two fields of neighbours alike."""
    rng = np.random.default_rng(5)
    raw = rng.integers(1, 256, math.prod(shape) * dtype.itemsize).astype(np.uint8)
    return raw.view(dtype).reshape(shape)


def fields_equal(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether all fields hold the same bytes, whatever the padding."""
    if one.dtype.names is None:
        return one.tobytes() == other.tobytes()
    return all(one[name].tobytes() == other[name].tobytes() for name in one.dtype.names)


@settings(max_examples=60)
@given(layouts())
def test_unpacking_undoes_packing(drawn: tuple[coarsen.Layout, tuple[int, ...]]) -> None:
    layout, shape = drawn
    host = filled(layout.dtype, shape)
    unpacked = layout.unpack(layout.pack(host), shape)
    assert unpacked.shape == shape
    assert fields_equal(unpacked, host)


@settings(max_examples=60)
@given(layouts())
def test_each_byte_is_where_the_formula_says(drawn: tuple[coarsen.Layout, tuple[int, ...]]) -> None:
    layout, shape = drawn
    host = filled(layout.dtype, shape)
    arrangement = layout.arrangement(shape)
    expected = np.zeros(arrangement.size, np.uint8)
    raw = np.frombuffer(host.tobytes(), np.uint8).reshape(-1, layout.dtype.itemsize)
    for element, each in itertools.product(range(arrangement.count), layout.record.fields):
        start = byte_of(arrangement, element, each)
        assert start % layout.record.alignment(each) == 0
        assert not expected[start : start + each.size].any()
        expected[start : start + each.size] = raw[element, each.offset : each.end]
    np.testing.assert_array_equal(layout.pack(host), expected)


def test_the_fields_of_a_deep_layout() -> None:
    placed = np.dtype(
        [("place", "f4", (3,)), ("n", "i4"), ("tag", "u1", (2, 2)), ("body", BODY, (2,))], align=True
    )
    deep, shallow = coarsen.Layout.soa(placed, deep=True), coarsen.Layout.soa(placed)
    assert str(deep.record) == "72: 4@0 4@4 4@8 4@12 1@16 1@17 1@18 1@19 48@24"
    assert str(shallow.record) == "72: 12@0 4@12 4@16 48@24"
    vectors = np.dtype([("turn", cltypes.float4, (2,)), ("n", "i4", (8,))])
    assert str(coarsen.Layout.aosoa(vectors, 4, deep=True).record).startswith("64: 16@0 16@16 4@32")
    assert coarsen.Layout.aosoa(vectors, 4, deep=True).layout == ArrayLayout.parse("deep-aosoa:4")
    threes = np.dtype([("ends", cltypes.float3, (2,)), ("tags", cltypes.char3, (2, 2)), ("mid", cltypes.float3)])
    assert str(coarsen.Layout.soa(threes, deep=True).record) == "64: 16@0 16@16 4@32 4@36 4@40 4@44 16@48"
    assert str(coarsen.Layout.soa(cltypes.float3).record) == "16: 16@0"
    with pytest.raises(coarsen.InvalidInputError, match="at most 1024 fields, and here are 100000001"):
        coarsen.Layout.soa([("n", "i4"), ("all", "u1", (100_000_000,))], deep=True).arrangement((2,))
    host = np.zeros(3, placed)
    host["place"] = np.arange(9).reshape(3, 3)
    packed = deep.pack(host)
    # The largest alignment comes first: of the two bodies, whole; then the numbers, each component by itself.
    np.testing.assert_array_equal(packed[144:180].view("f4"), [0, 3, 6, 1, 4, 7, 2, 5, 8])


def test_the_fields_of_a_type() -> None:
    assert str(coarsen.Layout.soa(BODY).record) == "24: 4@0 1@4 8@8 2@16"
    assert str(coarsen.Layout.soa(np.float32).record) == "4: 4@0"
    assert str(coarsen.Layout.soa(cltypes.float4).record) == "16: 16@0"


def test_padding_is_zero() -> None:
    packed = coarsen.Layout.aos(BODY).pack(filled(BODY, (3,))).reshape(3, 24)
    assert not packed[:, [5, 6, 7, 18, 19, 20, 21, 22, 23]].any()
    tiles = coarsen.Layout.aosoa(BODY, 4).pack(filled(BODY, (5,)))
    assert tiles.size == 2 * 64
    assert not tiles[60:64].any()
    assert not tiles[64 + 8 : 64 + 32].any()


def test_arrays_with_gaps_between_elements() -> None:
    host = filled(BODY, (6, 4))[::2, ::-1]
    layout = coarsen.Layout.soa(BODY, order=(1, 0))
    assert fields_equal(layout.unpack(layout.pack(host), (3, 4)), host)


def test_what_does_not_fit_is_said() -> None:
    layout = coarsen.Layout.aosoa(BODY, 4)
    packed = layout.pack(filled(BODY, (5,)))
    with pytest.raises(coarsen.InvalidInputError, match="give the shape"):
        layout.unpack(packed)
    with pytest.raises(coarsen.InvalidInputError, match="the array has 128 bytes, the layout 192"):
        layout.unpack(packed, 9)
    with pytest.raises(coarsen.InvalidInputError, match="the array of float32"):
        layout.pack(np.zeros(4, np.float32))
    with pytest.raises(coarsen.InvalidInputError, match="does not fit the shape 5"):
        coarsen.Layout.soa(BODY, order=(1, 0)).pack(filled(BODY, (5,)))
    with pytest.raises(coarsen.InvalidInputError, match="no bytes that a device could read"):
        coarsen.Layout.soa(object).pack(np.zeros(3, object))


def test_fields_that_overlap_are_refused() -> None:
    union = np.dtype({"names": ["a", "b"], "formats": ["f4", "i4"], "offsets": [0, 0]})
    with pytest.raises(coarsen.InvalidInputError, match="must follow each other"):
        coarsen.Layout.soa(union).pack(np.zeros(3, union))
