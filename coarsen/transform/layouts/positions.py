"""Where elements stand in an array whose dimensions are in another order, built before their accesses.

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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.kernel import Kernel, Value
from coarsen.ir.types import IntegerType
from coarsen.transform.index_type import INDEX
from coarsen.transform.layouts.addresses import Target
from coarsen.transform.layouts.carries import Carries
from coarsen.transform.layouts.demands import AreElementsAtMost, Digits
from coarsen.transform.layouts.digits import DigitsOfIndices
from coarsen.transform.layouts.elements import Place, Places
from coarsen.transform.layouts.extent_tests import ExtentTests
from coarsen.transform.layouts.operand_arithmetic import OperandArithmetic
from coarsen.transform.names import own

# So many elements, and with them extents, positions and sums of these, have 32 bits.
_NARROW = IntegerType(32)
_NARROW_DEMANDS = (AreElementsAtMost(31),)

_Made = Callable[[Builder], Operand]
_Key = tuple[object, ...]


@dataclass(frozen=True)
class _Element:
    """An element whose position is asked for: its place, its array, and its coordinates if they are proved."""

    place: Place
    target: Target
    digits: Digits | None


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
    if not any(_is_ordered(target) for target in targets.values()):
        return dict(accesses)
    positions = _Positions(kernel, module)
    found = dict(accesses)
    for block, instruction in _in_order(module.function(kernel.name), accesses):
        found[instruction] = {
            slot: positions.placed(instruction, block, place, targets[place.array])
            for slot, place in accesses[instruction].items()
        }
    positions.finish()
    return found


def _in_order(function: Function, accesses: Mapping[Instruction, Places]) -> Sequence[tuple[str, Instruction]]:
    """The accesses in the function's order, each with the name of its block."""
    return [(block.name, each) for block in function.blocks for each in block.instructions if each in accesses]


def _is_ordered(target: Target) -> bool:
    order = target.arrangement.order
    return order is not None and not order.is_identity


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
        if not _is_ordered(target):
            return place
        constant = place.constant // target.arrangement.record.size
        digits = self._digits_of(place, constant, target, block)
        # Equal coordinates do not suffice: where what they demand does not hold, the index itself is divided.
        key: _Key = (block, place.array, constant, *map(_alike, place.steps))
        if key not in self._known:
            self._known[key] = self._position(access, _Element(place, target, digits))
        return place.at(self._known[key])

    def finish(self) -> None:
        """Declare what was called."""
        self._tests.queries.declare()

    def _digits_of(self, place: Place, constant: int, target: Target, block: str) -> Digits | None:
        """The coordinates of an element whose index is one value."""
        if constant or len(place.steps) != 1 or place.steps[0][1] != target.arrangement.record.size:
            return None
        index = place.steps[0][0]
        return self._digits.of(Value(index.kind, index.type, index.text), block, len(target.extents))

    def _position(self, access: Instruction, element: _Element) -> Operand:
        def wide(build: Builder) -> Operand:
            return _divided(build, element, INDEX)

        def narrow(build: Builder) -> Operand:
            return _divided(build, element, _NARROW)

        extents, digits = element.target.extents, element.digits
        if digits is None:
            return self._chosen(access, self._tests.all_of(_NARROW_DEMANDS, extents), narrow, wide)
        are_open = any(extent.is_local for extent in extents)
        is_narrow = not are_open and self._tests.all_of(_NARROW_DEMANDS, extents) is True
        test = self._tests.all_of(digits.demands, extents)
        otherwise = narrow if is_narrow else wide
        return self._chosen(access, test, lambda build: self._combined(build, element, digits), otherwise)

    def _combined(self, build: Builder, element: _Element, digits: Digits) -> Operand:
        """The position of coordinates that are known."""
        extents = element.target.extents
        carries = Carries(build, lambda value: self._named[value.text])
        coordinates = carries.coordinates(digits.coordinates, extents)
        return _joined(OperandArithmetic(build), coordinates, extents, element.target)

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


def _divided(build: Builder, element: _Element, type_: IntegerType) -> Operand:
    """The position of an element whose coordinates are found by divisions, of a type."""
    target = element.target
    place, size = element.place, target.arrangement.record.size
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
