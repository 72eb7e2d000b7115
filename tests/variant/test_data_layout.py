"""Layouts, orders and records: their texts, and the byte of each field by the formulas."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError
from coarsen.variant.data_layout import AOS, SOA, Arrangement, ArrayLayout, Field, Order, RecordType, parse_shape
from tests.variant.byte_places import byte_of

# struct { float x; uchar tag; double mass; short kind; }: 15 bytes of data in 24.
BODY = RecordType.parse("24: 4@0 1@4 8@8 2@16")
X, TAG, MASS, KIND = BODY.fields


@pytest.mark.parametrize("text", ["aos", "soa", "aosoa:1", "aosoa:32"])
def test_a_layout_is_its_text(text: str) -> None:
    assert str(ArrayLayout.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["", "AOS", "aos:4", "soa:", "aosoa", "aosoa:", "aosoa:0", "aosoa:-1", "aosoa:99999"]
)
def test_other_texts_are_no_layout(text: str) -> None:
    with pytest.raises(InvalidInputError):
        ArrayLayout.parse(text)


@pytest.mark.parametrize("text", ["0", "1,0", "2,0,1"])
def test_an_order_is_its_text(text: str) -> None:
    assert str(Order.parse(text)) == text


@pytest.mark.parametrize("text", ["", "1", "0,0", "0,2", "1;0", "-1,0"])
def test_other_texts_are_no_order(text: str) -> None:
    with pytest.raises(InvalidInputError):
        Order.parse(text)


def test_a_shape_is_whole_numbers() -> None:
    assert parse_shape("48,64") == (48, 64)
    with pytest.raises(InvalidInputError):
        parse_shape("48x64")


@pytest.mark.parametrize("text", ["24: 4@0 1@4 8@8 2@16", "4: 4@0"])
def test_a_record_is_its_text(text: str) -> None:
    assert str(RecordType.parse(text)) == text


@pytest.mark.parametrize("text", ["24", "24:", "24: 8@4 4@8", "4: 8@0", "4: 0@0", "24: x@0", "8: 4@4 4@0"])
def test_other_texts_are_no_record(text: str) -> None:
    with pytest.raises(InvalidInputError):
        RecordType.parse(text)


def test_a_long_gap_at_the_end_is_a_field() -> None:
    # clang: struct { float4 p; int k; } is { <4 x float>, i32, [12 x i8] }, and of 20 bytes in 24 nothing is said.
    assert str(RecordType.with_tail(32, [Field(16, 4), Field(0, 16)])) == "32: 16@0 4@16 12@20"
    assert str(RecordType.with_tail(24, [Field(0, 16), Field(16, 4)])) == "24: 16@0 4@16"


def test_fields_lie_side_by_side_by_falling_alignment() -> None:
    assert [BODY.alignment(each) for each in BODY.fields] == [4, 1, 8, 2]
    assert BODY.packed_offset == {MASS: 0, X: 8, KIND: 12, TAG: 14}
    assert BODY.content == 15


def test_a_structure_of_arrays() -> None:
    array = Arrangement(BODY, SOA, (33,))
    assert [byte_of(array, 2, each) for each in BODY.fields] == [
        33 * 8 + 2 * 4,
        33 * 14 + 2,
        2 * 8,
        33 * 12 + 2 * 2,
    ]
    assert array.size == 33 * 15


def test_tiles_are_rounded_up_to_the_largest_alignment() -> None:
    array = Arrangement(BODY, ArrayLayout.parse("aosoa:3"), (4,))
    assert array.tile_bytes == 48  # 45 bytes of data
    assert [byte_of(array, 3, each) for each in BODY.fields] == [48 + 3 * 8, 48 + 3 * 14, 48, 48 + 3 * 12]
    assert array.size == 96


def test_an_array_of_structures_in_another_order() -> None:
    array = Arrangement(BODY, AOS, (2, 3), Order.parse("1,0"))
    assert [array.position(element) for element in range(6)] == [0, 2, 4, 1, 3, 5]
    assert byte_of(array, 1, MASS) == 2 * 24 + 8


def test_an_order_takes_each_place_once() -> None:
    array = Arrangement(RecordType.plain(4), AOS, (2, 3, 5), Order.parse("2,0,1"))
    assert sorted(map(array.position, range(30))) == list(range(30))
    assert array.position(1) == 6  # The fastest dimension is the slowest now, of 2 by 3 elements.


def test_what_moves_nothing() -> None:
    assert Arrangement(RecordType.plain(4), SOA).is_as_written
    assert Arrangement(BODY, AOS, (6,), Order.parse("0")).is_as_written
    assert not Arrangement(BODY, ArrayLayout.parse("aosoa:4")).is_as_written


@pytest.mark.parametrize(("shape", "order"), [((0,), "0"), ((2, 3), "0"), ((2**50,), "0"), ((), "0")])
def test_shapes_that_cannot_be(shape: tuple[int, ...], order: str) -> None:
    with pytest.raises(InvalidInputError):
        Arrangement(BODY, AOS, shape, Order.parse(order))
