"""The address of some bytes of an element in the new layout, built where it is needed.

    soa, N = 1000    getelementptr double, (getelementptr i8, %bodies, N·p), position
    aosoa:32         getelementptr double, (getelementptr i8, %bodies, (position / 32)·T + 32·p), position mod 32
    deep-soa         an index k into an array inside of the record: the address of its first element + k·N·b
    order 1,0        position = (element mod W)·H + element / W

Extents are numbers, or arguments of the kernel. All arithmetic has 64 bits and is exact: elements, and the
bytes of an array, are below 2^48 (`Arrangement`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.layout import size_of
from coarsen.ir.types import IntegerType, Type
from coarsen.transform.layouts.element_types import ElementType
from coarsen.transform.layouts.elements import Place
from coarsen.transform.names import own
from coarsen.variant.data_layout import Arrangement, Kind
from coarsen.variant.records import Field

_INDEX = IntegerType(64)
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

    def address(self, target: Target, place: Place, piece: Piece) -> Operand:
        """Return the address of a piece's first byte."""
        position = self._position(target, self._element(place, target.arrangement.record.size))
        pointer = self._field(target, place, piece.field, position)
        for each in place.inner:
            # What is taken off first leaves no address beside the array on the way.
            index = self._plus(self._wide(each.value), number(_INDEX, -each.least))
            distance = self._times(index, each.scale)
            if piece.is_one_of:
                distance = self._computed(Opcode.MUL, distance, self._lanes(target))
            pointer = self._bytes_on(pointer, distance)
        return self._bytes_on(pointer, number(_INDEX, piece.start - piece.field.offset))

    def _element(self, place: Place, record_size: int) -> Operand:
        """The index of the element."""
        index: Operand = number(_INDEX, place.constant // record_size)
        for value, scale in place.steps:
            index = self._plus(self._times(self._wide(value), scale // record_size), index)
        return index

    def _position(self, target: Target, element: Operand) -> Operand:
        """Return where an element stands by the order."""
        order, extents = target.arrangement.order, target.extents
        if order is None or order.is_identity:
            return element
        position: Operand = number(_INDEX, 0)
        for dimension, length in enumerate(extents):
            later = order.permutation[order.permutation.index(dimension) + 1 :]
            coordinate = self._computed(Opcode.UDIV, element, self._product(extents[dimension + 1 :]))
            if dimension:
                coordinate = self._computed(Opcode.UREM, coordinate, length)
            factor = self._product([extents[each] for each in later])
            position = self._plus(self._computed(Opcode.MUL, coordinate, factor), position)
        return position

    def _field(self, target: Target, place: Place, each: Field, position: Operand) -> Operand:
        """The address of a field of the element at a position."""
        arrangement = target.arrangement
        start: Operand = place.array
        if arrangement.layout.kind is Kind.AOS:
            pointer = self._elements_on(start, target.element.type, position)
            return self._bytes_on(pointer, number(_INDEX, each.offset))
        width: Operand = number(_INDEX, arrangement.layout.width)
        if arrangement.layout.kind is Kind.AOSOA:
            tile = self._times(self._computed(Opcode.UDIV, position, width), arrangement.tile_bytes)
            start = self._bytes_on(start, tile)
            position = self._computed(Opcode.UREM, position, width)
        if arrangement.record.packed_offset[each]:
            lanes = self._lanes(target)
            start = self._bytes_on(start, self._times(lanes, arrangement.record.packed_offset[each]))
        return self._elements_on(start, target.element.parts[each], position)

    def _lanes(self, target: Target) -> Operand:
        """How many elements' values of one field stand side by side."""
        layout = target.arrangement.layout
        if layout.kind is Kind.AOSOA:
            return number(_INDEX, layout.width)
        return self._product(target.extents)

    def _elements_on(self, pointer: Operand, type_: Type, index: Operand) -> Operand:
        assert size_of(type_) > 0
        return pointer if _is_zero(index) else self._build.element(type_, pointer, [index], own("laid"))

    def _bytes_on(self, pointer: Operand, distance: Operand) -> Operand:
        return pointer if _is_zero(distance) else self._build.element(_BYTE, pointer, [distance], own("laid"))

    def _wide(self, value: Operand) -> Operand:
        """An index as a `getelementptr` takes it: of 64 bits, with its sign."""
        return value if value.type == _INDEX else self._build.cast(Opcode.SEXT, value, _INDEX, own("index"))

    def _plus(self, left: Operand, right: Operand) -> Operand:
        if _is_zero(right):
            return left
        return right if _is_zero(left) else self._build.binary(Opcode.ADD, left, right, own("position"))

    def _product(self, factors: Sequence[Operand]) -> Operand:
        product: Operand = number(_INDEX, 1)
        for factor in factors:
            product = self._computed(Opcode.MUL, product, factor)
        return product

    def _times(self, value: Operand, factor: int) -> Operand:
        return self._computed(Opcode.MUL, value, number(_INDEX, factor))

    def _computed(self, opcode: Opcode, left: Operand, right: Operand) -> Operand:
        if not left.is_local and not right.is_local:
            return number(_INDEX, _COMPUTED[opcode](int(left.text), int(right.text)))
        if _is_one(right) and opcode in (Opcode.MUL, Opcode.UDIV):
            return left
        if _is_one(left) and opcode is Opcode.MUL:
            return right
        return self._build.binary(opcode, left, right, own("position"))


_COMPUTED = {
    Opcode.MUL: lambda left, right: left * right,
    Opcode.UDIV: lambda left, right: left % 2**64 // right,
    Opcode.UREM: lambda left, right: left % 2**64 % right,
}


def _is_one(value: Operand) -> bool:
    return not value.is_local and value.text == "1"


def _is_zero(value: Operand) -> bool:
    return not value.is_local and value.text == "0"


def whole_piece(pieces: Sequence[Piece], place: Place, size: int) -> Piece | None:
    """Return the one piece that holds all of an access; None if it reaches over several, or over padding."""
    if len(pieces) != 1 or pieces[0].size != size + (0 if pieces[0].is_one_of else place.reach):
        return None
    return pieces[0]
