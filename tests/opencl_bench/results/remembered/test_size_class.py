"""Classes of sizes: which launches share one, and how they are written."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.errors import InvalidInputError
from coarsen.tuning.remembered.choice import SizeClass

EXTENTS = st.lists(st.integers(1, 2**40), min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("global_size", "local_size", "text"),
    [
        ((1,), None, "2^0%1/open"),
        ((1023,), (1,), "2^9%1/1"),
        ((1024,), (64,), "2^10%1024/64"),
        ((1500, 300), (16, 16), "2^10%4x2^8%4/16x16"),
        ((4, 5, 6), (1, 1, 2), "2^2%4x2^2%1x2^2%2/1x1x2"),
        (np.array([1 << 33]), np.array([256]), "2^33%32768/256"),
    ],
)
def test_the_class_of_a_launch(
    global_size: tuple[int, ...], local_size: tuple[int, ...] | None, text: str
) -> None:
    assert str(SizeClass.of(global_size, local_size)) == text


@given(EXTENTS, st.booleans())
def test_what_is_written_is_read_back(extents: list[int], is_open: bool) -> None:
    local_size = None if is_open else [extent % 1024 + 1 for extent in extents]
    own = SizeClass.of(extents, local_size)
    assert SizeClass.parse(str(own)) == own


@given(st.integers(1, 2**26))
def test_global_sizes_up_to_the_next_power_of_two_that_divide_alike_are_one_class(extent: int) -> None:
    own = SizeClass.of((extent,), None)
    assert own != SizeClass.of((2 * extent,), None)
    if extent % 2**16 == 0:
        assert own == SizeClass.of((1 << (extent.bit_length() - 1),), None)
    assert own != SizeClass.of((extent + 1,), None)


def test_divisors_are_powers_of_two() -> None:
    with pytest.raises(InvalidInputError, match="no power of two"):
        SizeClass.parse("2^10%3/open")


@pytest.mark.parametrize(
    ("global_size", "local_size", "message"),
    [
        ((), None, "not the sizes of one launch"),
        ((1, 2, 3, 4), None, "not the sizes of one launch"),
        ((64, 64), (8,), "not the sizes of one launch"),
        ((64, 0), None, "a launch without work-items"),
        ((64,), (0,), "a launch without work-items"),
    ],
)
def test_what_is_no_launch(global_size: tuple[int, ...], local_size: tuple[int, ...] | None, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        SizeClass.of(global_size, local_size)


@pytest.mark.parametrize(
    "text",
    ["", "2^10%1", "2^10%1/", "2^01%1/open", "10%1/open", "2^10%1/0", "2^10%1/064", "2^10/64", "2^10%1/open "],
)
def test_texts_that_are_none(text: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(f"or 2^20%4/open: {text!a}")):
        SizeClass.parse(text)


def test_dimensions_must_agree() -> None:
    with pytest.raises(InvalidInputError, match="different numbers of dimensions"):
        SizeClass.parse("2^10%2x2^8%2/64")
