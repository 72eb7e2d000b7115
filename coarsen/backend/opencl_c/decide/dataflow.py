"""Where values really come from: through copies, and lane by lane through vectors that are taken apart.

LCSSA's phis copy a value out of a loop; `insertelement` and `shufflevector` build a vector step by step. The text
names the origin instead: `(float4)(x, y, v.zw)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.backend.opencl_c.decide.constants import Elements, Number, parse_constant
from coarsen.ir.graph.instruction import Instruction, aggregate_indices, shuffle_mask
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, VectorType

_NAMED_TWICE = ("llvm.cttz", "llvm.fsh", "llvm.scmp", "llvm.ucmp", "llvm.vector.reduce")
_UNDEFINED = frozenset({"undef", "poison"})


@dataclass(frozen=True, slots=True)
class Lane:
    """A vector's element: element `index` of `value`, or `value` itself where that is a scalar (index None)."""

    value: Operand
    index: int | None


class Dataflow:
    """The origins of a kernel's values. Everything is worked out once, when first asked for."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._lanes: dict[str, tuple[Lane | None, ...]] = {}
        self._origins: dict[str, Operand] = {}
        self._operands: dict[Instruction, tuple[Operand, ...]] = {}

    @cached_property
    def copies(self) -> Mapping[str, Operand]:
        """Phis that always have one value, by their names, and that value."""
        found: dict[str, Operand] = {}
        for instruction in self.kernel.instructions():
            if instruction.opcode == "phi":
                others = {v for v in instruction.operands if v.text != instruction.name or not v.is_local}
                if len(others) == 1:
                    found[instruction.name] = others.pop()
        return found

    def origin(self, value: Operand) -> Operand:
        """Return the value that stands for `value` in the text."""
        if value.kind is not ValueKind.INSTRUCTION:
            return value
        known = self._origins.get(value.text)
        if known is None:
            known = self._origins[value.text] = self._find_origin(value)
        return known

    def _find_origin(self, value: Operand) -> Operand:
        seen = 0
        while value.kind is ValueKind.INSTRUCTION and seen <= len(self.copies):
            if value.text in self.copies:
                value = self.copies[value.text]
            else:
                scalar = self._extracted(value)
                if scalar is None:
                    return value
                value = scalar
            seen += 1
        return value

    def definition(self, value: Operand) -> Instruction | None:
        """Return the instruction that computes a value, copies skipped."""
        origin = self.origin(value)
        return self.kernel.definition[origin.text] if origin.kind is ValueKind.INSTRUCTION else None

    def _extracted(self, value: Operand) -> Operand | None:
        """The scalar that an element was inserted as, where `value` extracts it again."""
        instruction = self.kernel.definition[value.text]
        if instruction.opcode != "extractelement":
            return None
        index = constant_index(instruction.operands[1])
        lanes = self.lanes(instruction.operands[0])
        lane = lanes[index] if index is not None and index < len(lanes) else None
        return lane.value if lane is not None and lane.index is None else None

    def lanes(self, vector: Operand) -> tuple[Lane | None, ...]:
        """Return the origins of a vector's elements; None for an element that may be anything."""
        if not isinstance(vector.type, VectorType):
            return ()
        if vector.text in _UNDEFINED:
            return (None,) * vector.type.count
        if vector.kind is not ValueKind.INSTRUCTION:
            return tuple(Lane(vector, index) for index in range(vector.type.count))
        if vector.text not in self._lanes:
            self._resolve(vector)
        return self._lanes[vector.text]

    def _resolve(self, vector: Operand) -> None:
        """Fill in `_lanes` for a vector and what it is built from, without recursion: chains can be long."""
        pending = [vector]
        while pending:
            value = pending[-1]
            missing = [
                v for v in self._parts(value) if v.kind is ValueKind.INSTRUCTION and v.text not in self._lanes
            ]
            if missing and len(pending) <= len(self.kernel.definition):
                pending.extend(missing)
                continue
            pending.pop()
            self._lanes[value.text] = self._built(value)

    def _parts(self, vector: Operand) -> list[Operand]:
        """The vectors that a vector is built from; none where its lanes are its own."""
        if vector.text in self.copies:
            return [self.copies[vector.text]]
        instruction = self.kernel.definition[vector.text]
        if not self.builds_vector(instruction):
            return []
        return [v for v in instruction.operands if isinstance(v.type, VectorType)]

    def _built(self, vector: Operand) -> tuple[Lane | None, ...]:
        instruction = self.kernel.definition[vector.text]
        if vector.text in self.copies:
            return self.lanes(self.copies[vector.text])
        if instruction.opcode == "insertelement" and self.builds_vector(instruction):
            lanes = list(self.lanes(instruction.operands[0]))
            scalar = instruction.operands[1]
            index = constant_index(instruction.operands[2]) or 0
            lanes[index] = None if scalar.text in _UNDEFINED else self._scalar_lane(scalar)
            return tuple(lanes)
        if instruction.opcode == "shufflevector":
            both = self.lanes(instruction.operands[0]) + self.lanes(instruction.operands[1])
            return tuple(None if index is None else both[index] for index in shuffle_mask(instruction))
        if instruction.opcode == "select" and self.builds_vector(instruction):
            chosen = zip(
                constant_mask(instruction.operands[0]) or (),
                *map(self.lanes, instruction.operands[1:]),
                strict=True,
            )
            return tuple(first if condition else second for condition, first, second in chosen)
        assert isinstance(instruction.type, VectorType)
        return tuple(Lane(vector, index) for index in range(instruction.type.count))

    def _scalar_lane(self, scalar: Operand) -> Lane:
        """A scalar that was extracted from a vector is that vector's lane."""
        if scalar.kind is ValueKind.INSTRUCTION:
            instruction = self.kernel.definition[scalar.text]
            if instruction.opcode == "extractelement":
                index = constant_index(instruction.operands[1])
                source = instruction.operands[0]
                if index is not None and source.kind is ValueKind.INSTRUCTION and source.text in self._lanes:
                    lanes = self._lanes[source.text]
                    # Beyond the vector there is no lane: the element is poison.
                    lane = lanes[index] if index < len(lanes) else None
                    return lane if lane is not None else Lane(scalar, None)
        return Lane(scalar, None)

    def builds_vector(self, instruction: Instruction) -> bool:
        """Return True if an instruction only rearranges elements, at places known now."""
        if instruction.opcode == "shufflevector":
            return True
        if instruction.opcode == "insertelement":
            index = constant_index(instruction.operands[2])
            return (
                index is not None and isinstance(instruction.type, VectorType) and index < instruction.type.count
            )
        return instruction.opcode == "select" and constant_mask(instruction.operands[0]) is not None

    def operands(self, instruction: Instruction) -> tuple[Operand, ...]:
        """Return what an instruction's text names, as often as it does."""
        known = self._operands.get(instruction)
        if known is None:
            known = self._operands[instruction] = tuple(self._find_operands(instruction))
        return known

    def _find_operands(self, instruction: Instruction) -> Iterable[Operand]:
        if isinstance(instruction.type, VectorType) and self.builds_vector(instruction):
            return self._lane_operands(instruction)
        if instruction.opcode == "extractelement":
            return self._extract_operands(instruction)
        if instruction.opcode == "extractvalue":
            return self._member_operands(instruction)
        is_named_twice = instruction.opcode == "call" and instruction.callee.startswith(_NAMED_TWICE)
        return map(self.origin, [*instruction.arguments] * (2 if is_named_twice else 1))

    def _lane_operands(self, instruction: Instruction) -> Iterator[Operand]:
        previous: Operand | None = None
        for lane in self._built(instruction):
            if lane is not None and (lane.index is None or lane.value != previous):
                yield self.origin(lane.value)
            previous = lane.value if lane is not None and lane.index is not None else None

    def _extract_operands(self, instruction: Instruction) -> Iterator[Operand]:
        index = constant_index(instruction.operands[1])
        lanes = self.lanes(instruction.operands[0])
        if index is not None and index < len(lanes):
            lane = lanes[index]
            if lane is not None:
                yield self.origin(lane.value)
        else:
            yield self.origin(instruction.operands[0])
            yield self.origin(instruction.operands[1])

    def _member_operands(self, instruction: Instruction) -> Iterator[Operand]:
        source = self.definition(instruction.operands[0])
        if source is not None and ".with.overflow" in source.callee:
            # An overflow test names the operands twice: `a + b < a`.
            yield from (self.origin(v) for v in [*source.arguments] * 2)
        elif source is not None and source.opcode == "cmpxchg" and aggregate_indices(instruction) == (1,):
            yield self.origin(instruction.operands[0])
            yield self.origin(source.operands[1])
        else:
            yield self.origin(instruction.operands[0])


def constant_index(value: Operand) -> int | None:
    """Return the number that an index is, if it is a constant; LLVM prints it with a sign, takes it without."""
    number = value.number
    if number is None:
        return None
    assert isinstance(value.type, IntegerType)
    return number % (1 << value.type.width)


def constant_mask(value: Operand) -> tuple[bool, ...] | None:
    """Return the truth values of a constant `<n x i1>`, or None."""
    if (
        value.kind is not ValueKind.CONSTANT
        or value.type == IntegerType(1)
        or not isinstance(value.type, VectorType)
    ):
        return None
    constant = parse_constant(value.type, value.text)
    if not isinstance(constant, Elements):
        return None
    return tuple(isinstance(item, Number) and item.value != 0 for _, item in constant.items)
