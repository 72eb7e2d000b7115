"""Layouts and orders of arrays: where the bytes of each field of each element lie.

For element e of N, field f of b bytes at offset o of a record of s bytes, and the field's packed offset p:

    aos        e·s + o
    soa        N·p + e·b
    aosoa:W    ⌊e/W⌋·T + W·p + (e mod W)·b,   T = W·(bytes of all fields), rounded up to the largest alignment

A field is a member of the record; in a deep layout (`deep-soa`, `deep-aosoa:W`) each element of a member that is
an array of numbers is one. These have one size and one alignment and stand side by side: element j of such an
array lies N·j·b, or W·j·b, after its first.

An order permutes the dimensions of an array before that: `1,0` of H rows of W elements puts element e at
(e mod W)·H + ⌊e/W⌋, which takes 0 … W·H-1 to itself however e was computed.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from coarsen.errors import InvalidInputError

# Wider tiles are of no use, and a tile's bytes must not come near what an address can hold.
_WIDEST_TILE = 2**16
# More than any memory holds: sums of products of such numbers stay below 2^63.
_LARGEST_ARRAY = 2**48
_DEEP = "deep-"
# Longer numbers are larger than that, and Python reads none of more than some thousand digits.
_MOST_DIGITS = 16


class Kind(enum.StrEnum):
    """The kinds of layouts: an array of structures, a structure of arrays, an array of structures of arrays."""

    AOS = "aos"
    SOA = "soa"
    AOSOA = "aosoa"


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """A layout; `width` is the number of elements in a tile of `aosoa`, else 1.

    `is_deep`: whether the elements of arrays inside of records are fields of their own.

    Raises:
        InvalidInputError: a width that can't be; an array of structures that is deep.
    """

    kind: Kind
    width: int = 1
    is_deep: bool = False

    def __post_init__(self) -> None:
        most = _WIDEST_TILE if self.kind is Kind.AOSOA else 1
        if not 1 <= self.width <= most:
            raise InvalidInputError(f"the width of a tile must be from 1 to {most}, not {self.width}")
        if self.is_deep and self.kind is Kind.AOS:
            raise InvalidInputError("an array of structures leaves arrays inside of these whole: it is never deep")

    @classmethod
    def parse(cls, text: str) -> ArrayLayout:
        """Return the layout that a text names: `aos`, `soa`, `aosoa:32`, `deep-soa`. Raises InvalidInputError."""
        is_deep = text.startswith(_DEEP)
        kind, colon, width = text.removeprefix(_DEEP).partition(":")
        if kind == Kind.AOSOA and width.isdecimal():
            return cls(Kind.AOSOA, _whole_number(width, "the width of a tile"), is_deep)
        if (kind == Kind.SOA or (kind == Kind.AOS and not is_deep)) and not colon:
            return cls(Kind(kind), is_deep=is_deep)
        raise InvalidInputError(f"a layout is aos, soa, aosoa:WIDTH, deep-soa or deep-aosoa:WIDTH, not '{text}'")

    def __str__(self) -> str:
        deep = _DEEP if self.is_deep else ""
        return f"{deep}{self.kind}:{self.width}" if self.kind is Kind.AOSOA else f"{deep}{self.kind}"


AOS = ArrayLayout(Kind.AOS)
SOA = ArrayLayout(Kind.SOA)
DEEP_SOA = ArrayLayout(Kind.SOA, is_deep=True)


@dataclass(frozen=True, slots=True)
class Order:
    """The order of an array's dimensions in memory, the slowest first: `(1, 0)` is a transposed matrix.

    Raises:
        InvalidInputError: not each dimension once.
    """

    permutation: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.permutation or sorted(self.permutation) != list(range(len(self.permutation))):
            raise InvalidInputError(f"an order names each dimension once, as in 1,0; not '{self}'")

    @classmethod
    def parse(cls, text: str) -> Order:
        """Return the order that a text such as `1,0` names. Raises InvalidInputError."""
        words = text.split(",")
        if not all(word.isdecimal() for word in words):
            raise InvalidInputError(f"an order names each dimension once, as in 1,0; not '{text}'")
        return cls(tuple(_whole_number(word, "a dimension's number") for word in words))

    def __str__(self) -> str:
        return ",".join(map(str, self.permutation))

    @property
    def is_identity(self) -> bool:
        """Return True if the dimensions stay as they are."""
        return self.permutation == tuple(range(len(self.permutation)))


@dataclass(frozen=True)
class Arrangement:
    """An array of records as it lies in memory.

    Attributes:
        record: the elements.
        layout: where their fields lie.
        shape: how many elements along each dimension, the slowest first; None where that isn't known.
        order: of the dimensions; None leaves them.

    Raises:
        InvalidInputError: the shape can't be, or has other dimensions than the order.
    """

    record: RecordType
    layout: ArrayLayout = AOS
    shape: tuple[int, ...] | None = None
    order: Order | None = None

    def __post_init__(self) -> None:
        if self.shape is None:
            return
        if not self.shape or min(self.shape) < 1 or math.prod(self.shape) * self.record.size > _LARGEST_ARRAY:
            raise InvalidInputError(f"an array can't have the shape {_shape_text(self.shape)}")
        if self.order is not None and len(self.order.permutation) != len(self.shape):
            raise InvalidInputError(f"the order {self.order} does not fit the shape {_shape_text(self.shape)}")

    @property
    def is_ordered(self) -> bool:
        """Return True if the dimensions stand in another order."""
        return self.order is not None and not self.order.is_identity

    @property
    def is_as_written(self) -> bool:
        """Return True if each byte stays where it is."""
        return not self.is_ordered and (self.layout == AOS or self._is_one_word)

    @property
    def needs_shape(self) -> bool:
        """Return True if the shape must be known to say where a byte is."""
        return self.is_ordered or (self.layout.kind is Kind.SOA and not self._is_one_word)

    @property
    def _is_one_word(self) -> bool:
        return self.record.content == self.record.size and len(self.record.fields) == 1

    @property
    def count(self) -> int:
        """The number of elements. Raises InvalidInputError if the shape isn't known."""
        return math.prod(self._known_shape)

    @property
    def tile_bytes(self) -> int:
        """The distance from one tile of `aosoa` to the next, in bytes."""
        alignment = self.record.largest_alignment
        return -(-self.layout.width * self.record.content // alignment) * alignment

    @property
    def size(self) -> int:
        """The bytes of the whole array, with the padding of its last tile."""
        if self.layout.kind is Kind.AOS:
            return self.count * self.record.size
        if self.layout.kind is Kind.SOA:
            return self.count * self.record.content
        return -(-self.count // self.layout.width) * self.tile_bytes

    @property
    def steps(self) -> tuple[tuple[int, int, int], ...]:
        """Return how an element's position is computed: per dimension what to divide by, its length, its factor.

        The position is the sum of (element // divisor mod length) · factor. The first needs no remainder.
        """
        shape = self._known_shape
        permutation = self.order.permutation if self.order else tuple(range(len(shape)))
        factor_of = {
            d: math.prod(shape[later] for later in permutation[place + 1 :]) for place, d in enumerate(permutation)
        }
        return tuple((math.prod(shape[d + 1 :]), length, factor_of[d]) for d, length in enumerate(shape))

    def position(self, element: int) -> int:
        """Return where an element stands among the others, by the order."""
        if self.order is None:
            return element
        return sum(element // divisor % length * factor for divisor, length, factor in self.steps)

    def start_of(self, each: Field) -> int:
        """Return the byte at which a field of the element at position 0 lies."""
        if self.layout.kind is Kind.AOS:
            return each.offset
        width = self.count if self.layout.kind is Kind.SOA else self.layout.width
        return width * self.record.packed_offset[each] if self.record.packed_offset[each] else 0

    @property
    def _known_shape(self) -> tuple[int, ...]:
        if self.shape is None:
            raise InvalidInputError("the number of elements is not known: give the array's shape")
        return self.shape


def parse_shape(text: str) -> tuple[int, ...]:
    """Return the shape that a text such as `48,64` names, slowest dimension first. Raises InvalidInputError."""
    words = text.split(",")
    if not all(word.isdecimal() for word in words):
        raise InvalidInputError(f"a shape is one whole number for each dimension, as in 48,64; not '{text}'")
    return tuple(_whole_number(word, "an extent") for word in words)


def _whole_number(digits: str, what: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise InvalidInputError(f"{what} has {len(digits)} digits; {_MOST_DIGITS} are the most")
    return int(digits)


def _shape_text(shape: Sequence[int]) -> str:
    return ",".join(map(str, shape))


# Records: the elements of an array, as fields that a layout keeps whole and may lay apart.
#
#     struct { float x; uchar tag; double mass; short kind; }   →   24: 4@0 1@4 8@8 2@16
#
# A field is a member of the outermost structure, with all that is inside of it; a plain element is a record of one
# field. For a deep layout the elements of a member that is an array of numbers or of vectors are fields:
#
#     struct { float place[3]; int n; }   →   16: 4@0 4@4 4@8 4@12
# Host and device describe a record alike, by sizes and offsets alone, so that their texts can be compared.

# Copies of records with more are refused anyway; what packs them would be slow.
MOST_FIELDS = 1024
# What clang fills at the end of a structure: all that reaches further than its largest integer's alignment.
_INTEGER_ALIGNMENT = 8
_FIELD = re.compile(r"(?P<size>\d+)@(?P<offset>\d+)\Z")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record: `size` bytes at `offset` bytes from the record's start; `name` is for messages."""

    offset: int
    size: int
    name: str = field(default="", compare=False)

    @property
    def end(self) -> int:
        """The first byte after the field, from the record's start."""
        return self.offset + self.size

    def parts(self, size: int) -> list[Field]:
        """Return the fields of so many bytes each, a divisor of the field's, that the field is made of."""
        return [Field(offset, size, self.name) for offset in range(self.offset, self.end, size)]

    def __str__(self) -> str:
        return f"{self.size}@{self.offset}"


@dataclass(frozen=True)
class RecordType:
    """A record of `size` bytes with its padding, and its fields by rising offset; what is in none is padding.

    Raises:
        InvalidInputError: fields overlap, are empty or reach out of the record.
    """

    size: int
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        ends = (0, *(each.end for each in self.fields))
        starts = (*(each.offset for each in self.fields), self.size)
        if not self.fields or any(end > start for end, start in zip(ends, starts, strict=True)):
            raise InvalidInputError(f"the fields of the record '{self}' must follow each other within it")
        if any(each.size < 1 for each in self.fields):
            raise InvalidInputError(f"the record '{self}' has a field without bytes")

    @classmethod
    def plain(cls, size: int) -> RecordType:
        """Return the record of one field that an element of `size` bytes is."""
        return cls(size, (Field(0, size),))

    @classmethod
    def with_tail(cls, size: int, fields: Iterable[Field], *, is_deep: bool = False) -> RecordType:
        """Return a record as clang lays it out: a long gap at its end is a field of bytes.

        Args:
            size: in bytes, with padding.
            fields: as they were declared, in any order.
            is_deep: whether each of these bytes is a field.
        """
        ordered = sorted(fields, key=lambda each: each.offset)
        end = ordered[-1].end if ordered else 0
        if -(-end // _INTEGER_ALIGNMENT) * _INTEGER_ALIGNMENT < size:
            ordered += Field(end, size - end).parts(1) if is_deep else [Field(end, size - end)]
        return cls(size, tuple(ordered))

    @classmethod
    def parse(cls, text: str) -> RecordType:
        """Return the record that a text such as `24: 4@0 1@4 8@8 2@16` describes. Raises InvalidInputError."""
        size, colon, rest = text.partition(":")
        found = [_FIELD.match(word) for word in rest.split()]
        if not (size.isdecimal() and colon) or not all(found):
            raise InvalidInputError(
                f"a record is written as '24: 4@0 8@8' (size: fields as size@offset), not '{text}'"
            )
        return cls(int(size), tuple(Field(int(each["offset"]), int(each["size"])) for each in found if each))

    def __str__(self) -> str:
        return f"{self.size}: {' '.join(map(str, self.fields))}"

    def alignment(self, each: Field) -> int:
        """Return the largest power of two that a field's addresses in an array of records are multiples of.

        It is no larger than what divides the field's size, so that fields side by side keep it.
        """
        common = math.gcd(each.offset, each.size, self.size)
        return common & -common

    @cached_property
    def content(self) -> int:
        """The bytes of all fields, without padding."""
        return sum(each.size for each in self.fields)

    @cached_property
    def largest_alignment(self) -> int:
        """The largest alignment of a field."""
        return max(map(self.alignment, self.fields))

    @cached_property
    def packed_offset(self) -> dict[Field, int]:
        """Return where each field starts when all stand side by side without padding, by falling alignment."""
        offsets, end = {}, 0
        for each in sorted(self.fields, key=lambda each: (-self.alignment(each), each.offset)):
            offsets[each] = end
            end += each.size
        return offsets
