"""The families of a kernel's values (`families.py`) along some axes, as the transforms write the replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.predict.queries import answer
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.cost.planned_work.axes import Axis
from coarsen.cost.planned_work.families import Families, Part, Place
from coarsen.ir.graph.details import CallSite
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.opencl.queries import IDS_OF_GROUPS, IDS_OF_ITEMS, Query, may_concern, queried_dimension, query_of
from coarsen.ir.types import IntegerType
from coarsen.transform.coarsen import Analysed
from coarsen.variant.coarsening import Level

_SUMS = frozenset({"add", "sub", "mul", "shl"})
_MAXIMUM_TERMS = 8
_MAXIMUM_DEGREE = 4
_NOTHING = Polynomial({})
_ONE = Polynomial.constant(1)


@dataclass
class ShiftedValues:
    """The places of the values of a kernel in their families.

    Attributes:
        kernel: uncoarsened.
        flow: its control flow.
        axes: along which it would be coarsened.
        analysed: the kernel along each of them.
        families: of its values.
        place: of each value that has a name.
        roots: the ids that are computed at the kernel's start.
        epoch: for each load, a number that is the same where nothing may have changed memory between two of them.
    """

    kernel: Kernel
    flow: ControlFlow
    axes: Sequence[Axis]
    analysed: Sequence[Analysed]
    families: Families = field(init=False)
    place: dict[str, Place] = field(init=False, default_factory=dict)
    roots: set[str] = field(init=False, default_factory=set)
    epoch: dict[str, int] = field(init=False, default_factory=dict)
    _sums: dict[str, Polynomial] = field(init=False, default_factory=dict)
    _epoch_at_end: dict[str, int] = field(init=False, default_factory=dict)
    _epochs: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.families = Families(len(self.axes))
        for block in self.flow.reverse_postorder:
            epoch = self._epoch_at_start(block)
            for instruction in self.kernel.block[block].instructions:
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
            return self._remember(instruction, self.families.linear(_query(instruction), steps))
        if opcode in _SUMS and isinstance(instruction.type, IntegerType):
            found = self._sum(instruction)
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

    def _part(self, value: Value) -> Part:
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

    def _sum(self, instruction: Instruction) -> Polynomial | None:
        left, right = (self._polynomial(operand) for operand in instruction.operands)
        if instruction.opcode == "shl":
            distance = right.constant_part
            if not right.is_constant or not 0 <= distance < _width(instruction):
                return None
            right = Polynomial.constant(2**distance)
        if instruction.opcode in ("mul", "shl"):
            if len(left.terms) * len(right.terms) > 2 * _MAXIMUM_TERMS:
                return None
            result = left * right
        else:
            result = left + right if instruction.opcode == "add" else left - right
        degree = max(map(len, result.terms), default=0)
        return result if len(result.terms) <= _MAXIMUM_TERMS and degree <= _MAXIMUM_DEGREE else None

    def _polynomial(self, value: Value) -> Polynomial:
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


def _query(call: Instruction) -> str:
    return f"{builtin_name(call.callee)}({call.arguments[0].text})"


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


def moving_roots(values: ShiftedValues) -> Mapping[str, tuple[bool, ...]]:
    """Return along which axes each id that is computed at the kernel's start differs."""
    return {name: values.families.moves(values.place[name]) for name in values.roots}
