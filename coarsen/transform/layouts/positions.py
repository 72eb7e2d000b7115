"""Where elements of an array that lies otherwise stand, built before their accesses, and their bytes' addresses.

    order 1,0 of rows of W           matrix[row * width + column]

    proved (`digits.py`)             if (width == W && height <= H && H·W <= 2^32)      tested once
                                         position = column·H + row
                                     else
                                         position = (element mod W)·H + element / W

    not proved, extents open         if (H·W <= 2^31) … divisions of 32 bits … else … of 64 bits …
    not proved, extents known        divisions of as many bits as they need

Each access's element is less than the number of elements, or the kernel as written accesses what is not there; so
the low 32 bits are all of it where there are no more than 2^31. What is tested is the same for all of a launch.
A block's accesses to one element share a position. It is built at the first of them and no earlier, so nothing is
divided by extents of an array that is not accessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, Type, size_of
from coarsen.transform.layouts.coordinates import Demand, Digits, ElementCount, ExtentTests
from coarsen.transform.layouts.digits import Carries, DigitsOfIndices
from coarsen.transform.layouts.elements import ElementType, Place, Places
from coarsen.transform.layouts.indices import OperandArithmetic, is_zero
from coarsen.transform.names import own
from coarsen.transform.prologue import INDEX
from coarsen.variant.data_layout import Arrangement, Field, Kind

# So many elements, and with them extents, positions and sums of these, have 32 bits.
_NARROW = IntegerType(32)
_NARROW_DEMANDS = (Demand(ElementCount(), "ule", 1 << 31),)

_Made = Callable[[Builder], Operand]
_Key = tuple[object, ...]


def with_positions(
    kernel: Kernel, module: Module, targets: Mapping[Named, Target], accesses: Mapping[Instruction, Places]
) -> dict[Instruction, Places]:
    """Return accesses whose places have positions where their arrays have an order, and build these.

    Args:
        kernel: as it was.
        module: owned by the caller, with a copy of the kernel.
        targets: the arrays that lie otherwise, by the kernel's arguments.
        accesses: all of those to these arrays.
    """
    if not any(target.arrangement.is_ordered for target in targets.values()):
        return dict(accesses)
    positions = _Positions(kernel, module)
    found = dict(accesses)
    blocks = module.function(kernel.name).blocks
    in_order = [(block.name, each) for block in blocks for each in block.instructions if each in accesses]
    for block, instruction in in_order:
        found[instruction] = {
            slot: positions.placed(instruction, block, place, targets[place.array])
            for slot, place in accesses[instruction].items()
        }
    positions.finish()
    return found


class _Positions:
    """Builds positions in one function."""

    def __init__(self, kernel: Kernel, module: Module) -> None:
        self._function = module.function(kernel.name)
        self._digits = DigitsOfIndices(kernel)
        self._named: dict[str, Operand] = dict(_values(self._function))
        self._tests = ExtentTests(module, self._function, self._named)
        self._known: dict[_Key, Operand] = {}

    def placed(self, access: Instruction, block: str, place: Place, target: Target) -> Place:
        """Return a place with its element's position.

        Args:
            access: before which it is built.
            block: in which that stood at first.
            place: what it accesses.
            target: the array.
        """
        if not target.arrangement.is_ordered:
            return place
        constant = place.constant // target.arrangement.record.size
        digits = self._digits_of(place, constant, target, block)
        # Equal coordinates do not suffice: where what they demand does not hold, the index itself is divided.
        key: _Key = (block, place.array, constant, *map(_alike, place.steps))
        if key not in self._known:
            self._known[key] = self._position(access, place, target, digits)
        return replace(place, position=self._known[key])

    def finish(self) -> None:
        """Declare what was called."""
        self._tests.queries.declare()

    def _digits_of(self, place: Place, constant: int, target: Target, block: str) -> Digits | None:
        """The coordinates of an element whose index is one value."""
        if constant or len(place.steps) != 1 or place.steps[0][1] != target.arrangement.record.size:
            return None
        index = place.steps[0][0]
        return self._digits.of(index, block, len(target.extents))

    def _position(self, access: Instruction, place: Place, target: Target, digits: Digits | None) -> Operand:
        extents = target.extents
        wide = partial(_divided, place=place, target=target, type_=INDEX)
        narrow = partial(_divided, place=place, target=target, type_=_NARROW)
        if digits is None:
            return self._chosen(access, self._tests.all_of(_NARROW_DEMANDS, extents), narrow, wide)
        are_open = any(extent.is_local for extent in extents)
        is_narrow = not are_open and self._tests.all_of(_NARROW_DEMANDS, extents) is True
        test = self._tests.all_of(digits.demands, extents)
        otherwise = narrow if is_narrow else wide
        return self._chosen(access, test, partial(self._combined, target=target, digits=digits), otherwise)

    def _combined(self, build: Builder, target: Target, digits: Digits) -> Operand:
        """The position of coordinates that are known."""
        carries = Carries(build, lambda value: self._named[value.text])
        coordinates = carries.coordinates(digits.coordinates, target.extents)
        return _joined(OperandArithmetic(build), coordinates, target.extents, target)

    def _chosen(self, access: Instruction, test: Operand | bool, true: _Made, false: _Made) -> Operand:
        """Build one of two values before an access, by a test that is known or carried out."""
        if isinstance(test, bool):
            return (true if test else false)(Builder.replacing(access))
        return _forked(self._function, access, test, true, false)


def _alike(step: tuple[Operand, int]) -> object:
    """Return what a step has in common with others of its value: several extensions of one are alike."""
    value, scale = step
    if isinstance(value, Instruction) and value.opcode in (Opcode.SEXT, Opcode.ZEXT):
        return value.opcode, value.type, value.operands[0], scale
    return step


def _values(function: Function) -> Iterator[tuple[str, Operand]]:
    """Yield a function's arguments and instructions' results by their names."""
    yield from ((argument.name, argument) for argument in function.arguments)
    yield from ((each.name, each) for each in function.instructions() if each.name)


def _divided(build: Builder, place: Place, target: Target, type_: IntegerType) -> Operand:
    """The position of an element whose coordinates are found by divisions, of a type."""
    size = target.arrangement.record.size
    index = OperandArithmetic(build).sum_of(place.steps, size, place.constant // size)
    arithmetic = OperandArithmetic(build, type_)
    extents = [arithmetic.truncated(extent) for extent in target.extents]
    rest, coordinates = arithmetic.truncated(index), list[Operand]()
    for extent in reversed(extents[1:]):
        quotient = arithmetic.computed(Opcode.UDIV, rest, extent)
        coordinates.insert(0, _remainder(arithmetic, rest, quotient, extent))
        rest = quotient
    position = _joined(arithmetic, [rest, *coordinates], extents, target)
    return OperandArithmetic(build).resized(Opcode.ZEXT, position)


def _remainder(arithmetic: OperandArithmetic, value: Operand, quotient: Operand, extent: Operand) -> Operand:
    """Return what a division leaves: another one by a number, which compilers do well, else what it lacks."""
    if not extent.is_local:
        return arithmetic.computed(Opcode.UREM, value, extent)
    return arithmetic.computed(Opcode.SUB, value, arithmetic.computed(Opcode.MUL, quotient, extent))


def _joined(
    arithmetic: OperandArithmetic, coordinates: Sequence[Operand], extents: Sequence[Operand], target: Target
) -> Operand:
    """The position that coordinates have by an array's order."""
    order = target.arrangement.order
    assert order is not None
    position = arithmetic.number(0)
    for dimension, coordinate in enumerate(coordinates):
        later = order.permutation[order.permutation.index(dimension) + 1 :]
        factor = arithmetic.product([extents[each] for each in later])
        position = arithmetic.plus(arithmetic.computed(Opcode.MUL, coordinate, factor), position)
    return position


def _forked(function: Function, access: Instruction, test: Operand, true: _Made, false: _Made) -> Operand:
    """Build two values on two ways to an access, and what they are where the ways meet.

    before: … access …        after: … if (test) true else false; phi, access …
    """
    head = access.block
    assert head is not None
    origin = Origin(position=access.position, call_position=access.call_position)
    ways = [Block(f"{head.name}.{word}", origin) for word in ("moved", "divided")]
    rest = Block(f"{head.name}.placed", origin)
    for made in (rest, *reversed(ways)):
        function.add_after(head, made)
    for instruction in head.take_from(head.instructions.index(access)):
        rest.append(instruction)
    head.replace_as_source(rest)
    build = Builder(head, origin)
    build.branch_if(test, *ways)
    values = [make(build.at_end(way)) for make, way in zip((true, false), ways, strict=True)]
    for way in ways:
        build.at_end(way).branch(rest)
    return build.at_start(rest).phi(INDEX, list(zip(values, ways, strict=True)), own("position"))


# The address of some bytes of an element in the new layout, built where it is needed.
#
#     soa, N = 1000    getelementptr double, (getelementptr i8, %bodies, N·p), position
#     aosoa:32         getelementptr double, (getelementptr i8, %bodies, (position / 32)·T + 32·p), position mod 32
#     aosoa:5          getelementptr double, (getelementptr i8, %bodies, (position / 5)·(T - 5·8) + 5·p), position
#     deep-soa         an index k into an array inside of the record: the address of its first element + k·N·b
#     order            the position is built before; without one it is the element's index
#
# Extents are numbers, or arguments of the kernel. All arithmetic has 64 bits and is exact: elements, and the
# bytes of an array, are below 2^48 (`Arrangement`).

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
        scales = [scale for _, scale in place.inner]
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
    if start + size > first.end or any(scale % first.size for _, scale in place.inner):
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
        for value, scale in place.inner:
            distance = self._arithmetic.times(self._arithmetic.wide(value), scale)
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
