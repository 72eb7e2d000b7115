"""The address of some bytes of an element in the new layout, built where it is needed.

    soa, N = 1000    getelementptr double, (getelementptr i8, %bodies, N·p), position
    aosoa:32         getelementptr double, (getelementptr i8, %bodies, (position / 32)·T + 32·p), position mod 32
    aosoa:5          getelementptr double, (getelementptr i8, %bodies, (position / 5)·(T - 5·8) + 5·p), position
    deep-soa         an index k into an array inside of the record: the address of its first element + k·N·b
    order            the position is built before (`positions.py`); without one it is the element's index

Extents are numbers, or arguments of the kernel. All arithmetic has 64 bits and is exact: elements, and the
bytes of an array, are below 2^48 (`Arrangement`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.layout import size_of
from coarsen.ir.types import IntegerType, Type
from coarsen.transform.layouts.element_types import ElementType
from coarsen.transform.layouts.elements import Place
from coarsen.transform.layouts.operand_arithmetic import OperandArithmetic, is_zero
from coarsen.transform.names import own
from coarsen.variant.data_layout import Arrangement, Kind
from coarsen.variant.records import Field

_BYTE = IntegerType(8)


@dataclass(frozen=True)
class Piece:
    """Bytes of one field of an element: from `start` on, counted from the record's start, `size` of them.

    `is_one_of`: inner indices choose among this field and those after it, which are alike and stand side by side.
    """

    field: Field
    start: int
    size: int
    is_one_of: bool = False


@dataclass(frozen=True)
class Target:
    """An argument's array as it will lie: where, and of what.

    Attributes:
        arrangement: where its bytes are.
        element: what it is an array of.
        extents: how many elements there are along each dimension, where that counts; else none.
    """

    arrangement: Arrangement
    element: ElementType
    extents: tuple[Operand, ...] = ()

    def alignment(self, place: Place, piece: Piece) -> int:
        """Return the power of two that the new address of a piece is a multiple of."""
        record = self.arrangement.record
        scales = [each.scale for each in place.inner]
        common = math.gcd(record.alignment(piece.field), piece.start - piece.field.offset, *scales)
        return common & -common


def pieces_of(target: Target, place: Place, size: int) -> list[Piece] | None:
    """Return the bytes of fields among those at a place, in order; None if they reach out of the element.

    Args:
        target: the array.
        place: where they start.
        size: the number of bytes.
    """
    record = target.arrangement.record
    start = place.constant % record.size
    end = start + place.reach + size
    if end > record.size:
        return None
    chosen = _chosen_of(target, place, start, size)
    if chosen is not None:
        return [chosen]
    overlaps = ((each, max(each.offset, start), min(each.end, end)) for each in record.fields)
    return [Piece(each, first, last - first) for each, first, last in overlaps if first < last]


def _chosen_of(target: Target, place: Place, start: int, size: int) -> Piece | None:
    """Return the piece of an access whose indices choose among fields that are an array; None if they don't."""
    whole = target.element.split_at(start) if place.inner else None
    if whole is None or start + place.reach + size > whole.end:
        return None
    record = target.arrangement.record
    first = next(each for each in record.fields if each.offset <= start < each.end)
    if start + size > first.end or any(each.scale % first.size for each in place.inner):
        return None
    return Piece(first, start, size, is_one_of=True)


class Addresses:
    """Builds addresses at one place of a function."""

    def __init__(self, build: Builder) -> None:
        self._build = build
        self._arithmetic = OperandArithmetic(build)

    def address(self, target: Target, place: Place, piece: Piece) -> Operand:
        """Return the address of a piece's first byte."""
        position = place.position
        if position is None:
            size = target.arrangement.record.size
            position = self._arithmetic.sum_of(place.steps, size, place.constant // size)
        pointer = self._field(target, place, piece.field, position)
        for each in place.inner:
            # What is taken off first leaves no address beside the array on the way.
            index = self._arithmetic.plus(self._arithmetic.wide(each.value), self._arithmetic.number(-each.least))
            distance = self._arithmetic.times(index, each.scale)
            if piece.is_one_of:
                distance = self._arithmetic.computed(Opcode.MUL, distance, self._lanes(target))
            pointer = self._bytes_on(pointer, distance)
        return self._bytes_on(pointer, self._arithmetic.number(piece.start - piece.field.offset))

    def _field(self, target: Target, place: Place, each: Field, position: Operand) -> Operand:
        """The address of a field of the element at a position."""
        arrangement = target.arrangement
        start: Operand = place.array
        if arrangement.layout.kind is Kind.AOS:
            pointer = self._elements_on(start, target.element.type, position)
            return self._bytes_on(pointer, self._arithmetic.number(each.offset))
        part = target.element.parts[each]
        if arrangement.layout.kind is Kind.AOSOA:
            start, position = self._tile(arrangement, place.array, part, position)
        if arrangement.record.packed_offset[each]:
            lanes = self._lanes(target)
            start = self._bytes_on(start, self._arithmetic.times(lanes, arrangement.record.packed_offset[each]))
        return self._elements_on(start, part, position)

    def _tile(
        self, arrangement: Arrangement, array: Operand, part: Type, position: Operand
    ) -> tuple[Operand, Operand]:
        """Return an address and how many parts after it that of a position is, in the tile's first field.

        Remainders of a power of two are its low bits. Others aren't built: they take another multiplication, and
        NVIDIA's compiler (driver 580) gets addresses wrong that have `i / 5` and `i % 5` of an `i` in an unrolled
        loop: it takes the 1 out of `(i + 1) - 5 * ((i + 1) / 5)`, leaves -1 where that was 0, and widens it
        without a sign.
        """
        width = arrangement.layout.width
        tile = self._arithmetic.divided(position, width)
        if width.bit_count() == 1:
            start = self._bytes_on(array, self._arithmetic.times(tile, arrangement.tile_bytes))
            return start, self._arithmetic.remainder(position, width)
        others = arrangement.tile_bytes - width * size_of(part)
        start = self._bytes_on(array, self._arithmetic.times(tile, others)) if others else array
        return start, position

    def _lanes(self, target: Target) -> Operand:
        """Return how many elements' values of one field stand side by side."""
        layout = target.arrangement.layout
        if layout.kind is Kind.AOSOA:
            return self._arithmetic.number(layout.width)
        return self._arithmetic.product(target.extents)

    def _elements_on(self, pointer: Operand, type_: Type, index: Operand) -> Operand:
        assert size_of(type_) > 0
        return pointer if is_zero(index) else self._build.element(type_, pointer, [index], own("laid"))

    def _bytes_on(self, pointer: Operand, distance: Operand) -> Operand:
        return pointer if is_zero(distance) else self._build.element(_BYTE, pointer, [distance], own("laid"))


def whole_piece(pieces: Sequence[Piece], place: Place, size: int) -> Piece | None:
    """Return the one piece that holds all of an access; None if it reaches over several, or over padding."""
    if len(pieces) != 1 or pieces[0].size != size + (0 if pieces[0].is_one_of else place.reach):
        return None
    return pieces[0]
