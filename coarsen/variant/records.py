"""Records: the elements of an array, as fields that a layout keeps whole and may lay apart.

    struct { float x; uchar tag; double mass; short kind; }   →   24: 4@0 1@4 8@8 2@16

A field is a member of the outermost structure, with all that is inside of it; a plain element is a record of one
field. For a deep layout the elements of a member that is an array of numbers or of vectors are fields:

    struct { float place[3]; int n; }   →   16: 4@0 4@4 4@8 4@12
Host and device describe a record alike, by sizes and offsets alone, so that their texts can be compared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from coarsen.errors import InvalidInputError

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
