"""Families of values: what the replicas of an instruction compute, told apart by where in a family each stands.

    %x = get_global_id(0)        family of ids, at 0; replica k at k·stride
    %left = sub %x, 1            the same family, at -1
    %at = mul %x, %width         a family of its own, at 0: a step is worth %width
    %v = load %values[%left]     the family of such loads, at -1

Two replicas, of one instruction or of two, are the same value where they stand at one place of one family. Places
count in work-items along each axis of a coarsening, those of merged work-groups in groups. As in
`transform/value_numbering/`, sums are compared as polynomials, everything else by what its instruction says.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.exact_forms import combined, is_exact
from coarsen.analysis.algebra.polynomial import Polynomial, Product
from coarsen.analysis.algebra.symbols import answer
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.cost.planned_work.axes import Axis
from coarsen.ir.graph.details import CallSite
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import (
    IDS_OF_GROUPS,
    IDS_OF_ITEMS,
    Query,
    builtin_name,
    may_concern,
    queried_dimension,
    query_of,
)
from coarsen.ir.types import IntegerType
from coarsen.transform.coarsen import Analysed
from coarsen.variant.coarsening import Level

Offset = tuple[int, ...]
"""A place in a family, one number for each axis."""
_NOTHING = Polynomial({})
_ONE = Polynomial.constant(1)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of replica 0 of a value: its family, and the place in it."""

    family: int
    offset: Offset


@dataclass(frozen=True, slots=True)
class Part:
    """A value that others are computed from: a place, or what is the same for all replicas."""

    place: Place | None
    same: Hashable = None


class Families:
    """The families of a kernel's values, numbered as they are found.

    Args:
        axes: how many axes there are.
    """

    def __init__(self, axes: int) -> None:
        self.axes = axes
        self.origin: Offset = (0,) * axes
        self._units = tuple(tuple(int(a == b) for b in range(axes)) for a in range(axes))
        self._numbers: dict[Hashable, int] = {}
        self._steps: list[tuple[Offset, ...]] = []
        self._linear: dict[str, tuple[Polynomial, ...]] = {}
        self._symbols: dict[str, Place] = {}

    def steps(self, family: int) -> tuple[Offset, ...]:
        """Return how far one replica further along each axis is; zeros where that makes no difference."""
        return self._steps[family]

    def moves(self, place: Place) -> tuple[bool, ...]:
        """Return along which axes the replicas of a value differ."""
        return tuple(map(any, self._steps[place.family]))

    def own(self, key: Hashable, moves: Sequence[bool]) -> Place:
        """Return the place of a value of which nothing is known but along which axes it differs."""
        return self._place(key, self.origin, self._units_along(moves))

    # What is a function of other values.

    def of_parts(self, key: Hashable, parts: Sequence[Part]) -> Place:
        """Return the place of a value that is computed from others.

        Args:
            key: how.
            parts: from what.
        """
        moving = [part.place for part in parts if part.place is not None and any(self.moves(part.place))]
        if len({place.family for place in moving}) <= 1 or all(map(self._is_plain, moving)):
            return self._shifted(key, parts, moving)
        moves = [any(self.moves(place)[axis] for place in moving) for axis in range(self.axes)]
        return self._place((key, tuple(parts)), self.origin, self._units_along(moves))

    def _is_plain(self, place: Place) -> bool:
        steps = self._steps[place.family]
        return all(step in (unit, self.origin) for step, unit in zip(steps, self._units, strict=True))

    def _shifted(self, key: Hashable, parts: Sequence[Part], moving: Sequence[Place]) -> Place:
        """Place a value where the first of its parts that moves is, the others being relative to it."""
        if not moving:
            return self._place((key, tuple(parts)), self.origin, (self.origin,) * self.axes)
        if len({place.family for place in moving}) == 1:
            base, steps = moving[0].offset, self._steps[moving[0].family]
        else:
            along = [[place for place in moving if self.moves(place)[axis]] for axis in range(self.axes)]
            base = tuple(places[0].offset[axis] if places else 0 for axis, places in enumerate(along))
            steps = self._units_along([bool(places) for places in along])
        relative = tuple(self._relative(part, base) for part in parts)
        return self._place((key, relative), base, steps)

    def _relative(self, part: Part, base: Offset) -> Hashable:
        if part.place is None:
            return part
        place, moves = part.place, self.moves(part.place)
        if not self._is_plain(place):
            moves = (any(moves),) * self.axes
        return place.family, tuple(o - b if m else o for o, b, m in zip(place.offset, base, moves, strict=True))

    # Sums.

    def linear(self, symbol: str, steps: Sequence[Polynomial]) -> Polynomial:
        """Return a symbol that grows by so much from one replica to the next along each axis."""
        if any(step.terms for step in steps):
            self._linear[symbol] = tuple(steps)
        return Polynomial.symbol(symbol)

    def symbol(self, place: Place) -> Polynomial:
        """Return the polynomial of a value that is no sum."""
        if not any(self.moves(place)):
            return Polynomial.symbol(f"v{place.family}:{place.offset}")
        name = f"v{place.family}@{place.offset}"
        self._symbols[name] = place
        return Polynomial.symbol(name)

    def of_sum(self, polynomial: Polynomial, width: int) -> Place:
        """Return the place of a sum of so many bits."""
        symbols = polynomial.symbols
        moving = [self._symbols[symbol] for symbol in symbols if symbol in self._symbols]
        linear = [symbol for symbol in symbols if symbol in self._linear]
        if moving:
            return self._of_moving(polynomial, width, moving, linear)
        gains = [self.gain(polynomial, axis) for axis in range(self.axes)]
        if any(gain is None for gain in gains):
            return self._place(
                ("sum", width, _terms(polynomial)), self.origin, self._units_along([True] * self.axes)
            )
        return self._of_linear(polynomial, width, [gain for gain in gains if gain is not None])

    def gain(self, polynomial: Polynomial, axis: int) -> Polynomial | None:
        """Return what a sum of linear symbols gains with each replica; None where that isn't the same for all."""
        gained = Polynomial({})
        for symbol in polynomial.symbols:
            if symbol in self._symbols and self.moves(self._symbols[symbol])[axis]:
                return None
            step = self._linear[symbol][axis] if symbol in self._linear else None
            if step is None or not step.terms:
                continue
            factor = polynomial.factor_of(symbol)
            if factor is None or any(other in self._linear for other in factor.symbols):
                return None
            gained = gained + factor * step
        return gained

    def _of_moving(
        self, polynomial: Polynomial, width: int, moving: Sequence[Place], linear: Sequence[str]
    ) -> Place:
        """Place a sum with a part that is no sum: at the least of such parts."""
        if not all(map(self._is_plain, moving)):
            moves = [any(self.moves(place)[axis] for place in moving) for axis in range(self.axes)]
            return self._place(("sum", width, _terms(polynomial)), self.origin, self._units_along(moves))
        along = [[place for place in moving if self.moves(place)[axis]] for axis in range(self.axes)]
        base = tuple(min((place.offset[axis] for place in places), default=0) for axis, places in enumerate(along))
        moves = [bool(places) for places in along]
        for axis in range(self.axes):
            moves[axis] |= any(self._linear[symbol][axis].terms for symbol in linear)
        if any(base):
            polynomial = polynomial.replaced(self._shift_by(base))
        return self._place(("sum", width, _terms(polynomial)), base, self._units_along(moves))

    def _shift_by(self, base: Offset) -> Callable[[str], Polynomial]:
        def shifted(symbol: str) -> Polynomial:
            if symbol in self._symbols:
                place = self._symbols[symbol]
                offset = tuple(
                    o - b if m else o for o, b, m in zip(place.offset, base, self.moves(place), strict=True)
                )
                return self.symbol(Place(place.family, offset))
            result = Polynomial.symbol(symbol)
            for step, distance in zip(self._linear.get(symbol, ()), base, strict=False):
                result = result - step.scaled(distance)
            return result

        return shifted

    def _of_linear(self, polynomial: Polynomial, width: int, gains: Sequence[Polynomial]) -> Place:
        """Place a sum of linear symbols: at how often the gain fits into it."""
        offset = [0] * self.axes
        steps = [self.origin] * self.axes
        used: list[int] = []
        for axis in sorted(range(self.axes), key=lambda axis: _size(gains[axis])):
            if not gains[axis].terms:
                continue
            times, other = next(
                ((ratio, each) for each in used if (ratio := _ratio(gains[axis], gains[each])) is not None),
                (1, axis),
            )
            steps[axis] = tuple(times * unit for unit in self._units[other])
            if other != axis:
                continue
            used.append(axis)
            leading = min(gains[axis].terms, key=lambda product: (len(product), product))
            offset[axis] = polynomial.terms.get(leading, 0) // gains[axis].terms[leading]
            if offset[axis]:
                polynomial = polynomial - gains[axis].scaled(offset[axis])
        return self._place(("sum", width, _terms(polynomial)), tuple(offset), tuple(steps))

    def _place(self, key: Hashable, offset: Offset, steps: tuple[Offset, ...]) -> Place:
        number = self._numbers.setdefault((key, steps), len(self._steps))
        if number == len(self._steps):
            self._steps.append(steps)
        return Place(number, offset)

    def _units_along(self, moves: Sequence[bool]) -> tuple[Offset, ...]:
        return tuple(unit if moved else self.origin for unit, moved in zip(self._units, moves, strict=True))


def _terms(polynomial: Polynomial) -> frozenset[tuple[Product, int]]:
    return frozenset(polynomial.terms.items())


def _size(gain: Polynomial) -> int:
    return max(map(abs, gain.terms.values()), default=0)


def _ratio(gain: Polynomial, other: Polynomial) -> int | None:
    """Return how many times another a gain is, None where it isn't a whole multiple."""
    first: Mapping[Product, int] = gain.terms
    if first.keys() != other.terms.keys():
        return None
    ratios = {divmod(value, other.terms[product]) for product, value in first.items()}
    if len(ratios) != 1:
        return None
    [(times, rest)] = ratios
    return times if rest == 0 else None


class ShiftedValues:
    """The places of the values of a kernel in their families.

    Attributes:
        families: of its values.
        place: of each value that has a name.
        roots: the ids that are computed at the kernel's start.
        epoch: for each load, a number that is the same where nothing may have changed memory between two of them.

    Args:
        kernel: uncoarsened.
        flow: its control flow.
        axes: along which it would be coarsened.
        analysed: the kernel along each of them.
    """

    def __init__(
        self, kernel: Kernel, flow: ControlFlow, axes: Sequence[Axis], analysed: Sequence[Analysed]
    ) -> None:
        self.kernel, self.flow, self.axes, self.analysed = kernel, flow, axes, analysed
        self.families = Families(len(axes))
        self.place: dict[str, Place] = {}
        self.roots: set[str] = set()
        self.epoch: dict[str, int] = {}
        self._sums: dict[str, Polynomial] = {}
        self._epoch_at_end: dict[str, int] = {}
        self._epochs = 0
        for block in flow.reverse_postorder:
            epoch = self._epoch_at_start(block)
            for instruction in kernel.block[block].instructions:
                if self._effects.of(instruction).changes_memory:
                    epoch = self._next_epoch()
                if instruction.name:
                    self.place[instruction.name] = self._placed(instruction, epoch)
            self._epoch_at_end[block] = epoch

    # Memory.

    def _epoch_at_start(self, block: str) -> int:
        predecessors = self.flow.predecessors(block)
        if len(predecessors) == 1 and predecessors[0] in self._epoch_at_end:
            return self._epoch_at_end[predecessors[0]]
        return self._next_epoch()

    def _next_epoch(self) -> int:
        self._epochs += 1
        return self._epochs

    @property
    def _effects(self) -> EffectsOfKernel:
        return self.analysed[0].divergence.effects

    # Values.

    def _placed(self, instruction: Instruction, epoch: int) -> Place:
        opcode = instruction.opcode
        steps = self._steps_of_id(instruction)
        if steps is not None:
            self.roots.add(instruction.name)
            query = f"{builtin_name(instruction.callee)}({instruction.arguments[0].text})"
            return self._remember(instruction, self.families.linear(query, steps))
        if is_exact(opcode) and isinstance(instruction.type, IntegerType):
            left, right = map(self._polynomial, instruction.operands)
            found = combined(opcode, left, right, instruction.type.width)
            if found is not None:
                return self._remember(instruction, found)
        if opcode == "trunc" and isinstance(instruction.type, IntegerType):
            return self._truncated(instruction)
        if opcode == "load" and not self._effects.of(instruction).orders:
            self.epoch[instruction.name] = epoch
            return self.families.of_parts((_text(instruction), epoch), self._parts(instruction))
        if self._effects.is_function_of_operands(instruction):
            return self.families.of_parts(_text(instruction), self._parts(instruction))
        moves = [each.divergence.is_divergent(instruction) for each in self.analysed]
        return self.families.own((opcode, instruction.name), moves)

    def _parts(self, instruction: Instruction) -> list[Part]:
        return [self._part(operand) for operand in instruction.operands]

    def _part(self, value: Operand) -> Part:
        if value.kind is ValueKind.INSTRUCTION:
            place = self.place.get(value.text)
            return Part(None, value.text) if place is None else Part(place)
        name = f"@{value.text}" if value.kind is ValueKind.GLOBAL else value.text
        moves = [name in each.divergence.own_local_memory for each in self.analysed]
        if any(moves):
            return Part(self.families.own(("memory", name), moves))
        return Part(None, (value.kind, value.text))

    # Ids and sums.

    def _steps_of_id(self, instruction: Instruction) -> list[Polynomial] | None:
        """Return what an id along one of the axes gains with each replica; None for anything else."""
        query = query_of(instruction)
        if query is None or query.is_linear or query not in IDS_OF_ITEMS | IDS_OF_GROUPS:
            return None
        if queried_dimension(instruction) is None:
            return None
        steps = [
            self._step(query, axis) if may_concern(instruction, axis.dimension) else _NOTHING for axis in self.axes
        ]
        return steps if any(step.terms for step in steps) else None

    def _step(self, query: Query, axis: Axis) -> Polynomial:
        if axis.level is Level.ITEM:
            return _ONE if query in IDS_OF_ITEMS else _NOTHING
        if query is Query.GROUP_ID:
            return _ONE
        return answer(Query.LOCAL_SIZE, axis.dimension) if query in IDS_OF_GROUPS else _NOTHING

    def _remember(self, instruction: Instruction, found: Polynomial) -> Place:
        self._sums[instruction.name] = found
        return self.families.of_sum(found, _width(instruction))

    def _polynomial(self, value: Operand) -> Polynomial:
        if value.kind is ValueKind.CONSTANT:
            try:
                return Polynomial.constant(int(value.text))
            except ValueError:
                return Polynomial.symbol(f"constant {value.text}")
        if value.kind is not ValueKind.INSTRUCTION:
            return Polynomial.symbol(f"%{value.text}")
        known = self._sums.get(value.text)
        if known is not None:
            return known
        place = self.place.get(value.text)
        return Polynomial.symbol(f"later {value.text}") if place is None else self.families.symbol(place)

    def _truncated(self, instruction: Instruction) -> Place:
        """Return a sum cut to fewer bits: what all but its number is then, and the number."""
        operand = instruction.operands[0]
        known, width = self._polynomial(operand), _width(instruction)
        is_root = operand.kind is ValueKind.INSTRUCTION and operand.text in self.roots
        number = Polynomial.constant(known.constant_part)
        gains = [self.families.gain(known, axis) for axis in range(len(self.axes))]
        steps = [gain for gain in gains if gain is not None and (gain.is_constant or is_root)]
        if len(steps) < len(gains):
            return self.families.of_parts(_text(instruction), self._parts(instruction))
        if is_root:
            self.roots.add(instruction.name)
            steps = [gain if gain.is_constant else Polynomial.symbol(f"i{width} of {gain}") for gain in steps]
        cut = self.families.linear(f"i{width} of {known - number}", steps)
        return self._remember(instruction, cut + number)


def _width(instruction: Instruction) -> int:
    return instruction.type.width if isinstance(instruction.type, IntegerType) else 0


def _text(instruction: Instruction) -> str:
    """Return what an instruction does, whatever its operands are called."""
    detail: object = instruction.detail
    if isinstance(detail, CallSite):
        detail = (detail.tail, detail.convention, detail.signature)
    operands = [f"{o.type} {'%' if o.is_local else o.text}" for o in instruction.operands]
    flags, attachments = instruction.flags, instruction.attachments
    return f"{instruction.opcode} {flags} {instruction.type} {detail} {operands} {attachments}"
