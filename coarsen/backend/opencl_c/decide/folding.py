"""Which values are written inside of the expression that uses them, and which get a variable.

    %i = load %p; %a = fadd %i, 1.0; store %a, %q   →   *q = *p + 1.0f;

A value is folded where its text stands once, in the same loop, and, if it reads memory, nothing between its place
and that expression writes memory. Addresses and widened indices are folded wherever they are used: they cost
nothing and `a[i]` reads better than a pointer. Names that the source gave keep their variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.backend.opencl_c.decide.constants import Elements, Number, parse_constant
from coarsen.ir.graph.instruction import Instruction, aggregate_indices, shuffle_mask
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, PointerType, TargetType, Type, VectorType

_MAXIMUM_DEPTH = 24
_MAXIMUM_SIZE = 32
_SUMS = frozenset({"fadd", "fsub"})
# What doesn't keep C from fusing a product with a sum.
_TRANSPARENT = frozenset({"fneg", "bitcast", "freeze", "extractelement"})
_FREE = frozenset({"getelementptr", "addrspacecast", "freeze", "extractvalue"})


class Site(NamedTuple):
    """A place in a block: the number of an instruction there, or past the last one for what leaves the block."""

    block: str
    place: int


@dataclass(slots=True)
class _Uses:
    """How often a value's text will stand, and the one place where it does if it is one."""

    count: int = 0
    site: Site | None = None
    users: list[str] = field(default_factory=list)
    depth: int = 0

    def add(self, count: int, site: Site | None, user: str, depth: int) -> None:
        self.site = site if self.count == 0 and count == 1 else None
        self.count += count
        self.users.append(user)
        if depth > self.depth:
            self.depth = depth


@dataclass(frozen=True, slots=True)
class Folding:
    """The plan: `inlined` values stand in expressions, `variables` have names, others are not needed."""

    inlined: frozenset[str]
    variables: frozenset[str]


def plan_folding(kernel: Kernel, flow: ControlFlow, dataflow: Dataflow, effects: EffectsOfKernel) -> Folding:
    """Decide for every value of a kernel, from the last use backwards."""
    return _Planner(kernel, flow, dataflow, effects).run()


class _Planner:
    def __init__(self, kernel: Kernel, flow: ControlFlow, dataflow: Dataflow, effects: EffectsOfKernel) -> None:
        self.kernel = kernel
        self.flow = flow
        self.dataflow = dataflow
        self.effects = effects
        self.uses: dict[str, _Uses] = {}
        self.sizes: dict[Site, int] = {}
        self.inlined: set[str] = set()
        self.variables: set[str] = set()
        self.effective = frozenset(filter(effects.has_effect, kernel.instructions()))
        self.live = self._live_values()
        self.writes = {block.name: self._write_counts(block.instructions) for block in kernel.blocks}

    def _write_counts(self, instructions: Iterable[Instruction]) -> list[int]:
        """For each place in a block, how many instructions before it may write memory."""
        counts = [0]
        for instruction in instructions:
            counts.append(counts[-1] + (instruction in self.effective))
        return counts

    def _live_values(self) -> frozenset[str]:
        """The values that something with an effect needs."""
        live: set[str] = set()
        pending = [i for i in self.kernel.instructions() if not i.name or i in self.effective]
        pending = [i for i in pending if not self.effects.is_ignored(i)]
        while pending:
            instruction = pending.pop()
            for value in self._named_by(instruction):
                if value.kind is ValueKind.INSTRUCTION and value.text not in live:
                    live.add(value.text)
                    pending.append(self.kernel.definition[value.text])
        return frozenset(live)

    def _named_by(self, instruction: Instruction) -> Iterable[Operand]:
        if instruction.opcode == "phi":
            return map(self.dataflow.origin, instruction.operands)
        return self.dataflow.operands(instruction)

    def run(self) -> Folding:
        for name in reversed(self.flow.reverse_postorder):
            self._edges_from(name)
            instructions = self.kernel.block[name].instructions
            for index in range(len(instructions) - 1, -1, -1):
                self._visit(instructions[index], Site(name, index))
        return Folding(frozenset(self.inlined), frozenset(self.variables))

    def _edges_from(self, name: str) -> None:
        """The values that phis take when this block is left."""
        end = Site(name, len(self.kernel.block[name].instructions))
        for successor in self.flow.successors(name):
            for phi in self.kernel.block[successor].phis:
                if phi.name in self.live and phi.name not in self.dataflow.copies:
                    for value, source in zip(phi.operands, phi.incoming, strict=True):
                        if source == name:
                            self._use([self.dataflow.origin(value)], 1, end, "phi", 0)
                            break

    def _visit(self, instruction: Instruction, site: Site) -> None:
        name = instruction.name
        if instruction.opcode == "phi":
            if name in self.live and name not in self.dataflow.copies:
                self.variables.add(name)
            return
        if instruction.opcode == "alloca" or self.effects.is_ignored(instruction):
            return
        stands = not name or instruction in self.effective
        uses = self.uses.get(name)
        if not stands and (name not in self.live or uses is None):
            return
        if not stands and uses is not None and self._folds(instruction, site, uses):
            self.inlined.add(name)
            if uses.site is not None:
                self.sizes[uses.site] = self.sizes.get(uses.site, 0) + 1
            self._use_operands(instruction, uses.count, uses.site, uses.depth + 1)
            return
        if name and uses is not None:
            self.variables.add(name)
        self._use_operands(instruction, 1, site, 0)

    def _use_operands(self, instruction: Instruction, count: int, site: Site | None, depth: int) -> None:
        user: str = instruction.opcode
        if user in _TRANSPARENT and instruction.name in self.inlined:
            users = self.uses[instruction.name].users
            user = next((each for each in users if each in _SUMS), users[0])
        self._use(self.dataflow.operands(instruction), count, site, user, depth)

    def _use(self, values: Iterable[Operand], count: int, site: Site | None, user: str, depth: int) -> None:
        for value in values:
            if value.kind is ValueKind.INSTRUCTION:
                uses = self.uses.get(value.text)
                if uses is None:
                    uses = self.uses[value.text] = _Uses()
                uses.add(count, site, user, depth)

    def _folds(self, instruction: Instruction, site: Site, uses: _Uses) -> bool:
        if self._must_fold(instruction):
            return True
        # A choice between events `? :` can't say everywhere: an `if` assigns one.
        is_opaque = instruction.opcode == "select" and isinstance(instruction.type, TargetType)
        if uses.depth >= _MAXIMUM_DEPTH or is_opaque:
            return False
        if self._is_free(instruction, uses):
            return True
        if uses.count != 1 or uses.site is None or self.sizes.get(uses.site, 0) >= _MAXIMUM_SIZE:
            return False
        if self.flow.loop_of[uses.site.block] is not self.flow.loop_of[site.block]:
            return False
        return self._may_move(instruction, site, uses.site) and not self._keeps_name(instruction, uses)

    def _must_fold(self, instruction: Instruction) -> bool:
        """Values of types that a variable can't have: pairs of result and overflow, samplers."""
        if instruction.opcode != "call":
            return False
        callee = instruction.callee
        return ".with.overflow" in callee or callee == "__translate_sampler_initializer"

    def _is_free(self, instruction: Instruction, uses: _Uses) -> bool:
        if instruction.opcode in ("bitcast", "ptrtoint", "inttoptr"):
            return isinstance(instruction.type, PointerType) and isinstance(
                instruction.operands[0].type, PointerType
            )
        if instruction.opcode in ("sext", "zext"):
            is_scalar = isinstance(instruction.type, IntegerType)
            is_named = uses.count > 1 and self._keeps_name(instruction, uses)
            return is_scalar and not is_named and not _is_condition(instruction.operands[0].type)
        if instruction.opcode == "extractelement":
            return len(self.dataflow.operands(instruction)) < 2
        if instruction.opcode == "shufflevector":
            return self._is_swizzle(instruction)
        return instruction.opcode in _FREE

    def _is_swizzle(self, instruction: Instruction) -> bool:
        lanes = self.dataflow.lanes(instruction)
        sources = {lane.value for lane in lanes if lane is not None}
        return len(sources) <= 1 and all(lane is None or lane.index is not None for lane in lanes)

    def _may_move(self, instruction: Instruction, site: Site, target: Site) -> bool:
        if "fmul" in instruction.opcode and self._would_contract(instruction):
            return False
        if not self.effects.depends_on_memory(instruction):
            return True
        if target.block != site.block:
            return False
        counts = self.writes[site.block]
        return counts[min(target.place, len(counts) - 1)] == counts[site.place]

    def _would_contract(self, instruction: Instruction) -> bool:
        """Return True if a product folded into a sum would let C fuse what the source kept apart."""
        users = self.uses[instruction.name].users
        return not _SUMS.isdisjoint(users) and {"contract", "fast"}.isdisjoint(instruction.flags)

    def _keeps_name(self, instruction: Instruction, uses: _Uses) -> bool:
        if uses.users == ["phi"] or _is_condition(instruction.type):
            return False
        is_named = bool(instruction.origin.name.text)
        if isinstance(instruction.type, VectorType) and self.dataflow.builds_vector(instruction):
            return is_named and uses.users != ["extractelement"]
        return is_named


def _is_condition(type_: Type) -> bool:
    return isinstance(type_, IntegerType) and type_.width == 1


# Where values really come from: through copies, and lane by lane through vectors that are taken apart.
#
# LCSSA's phis copy a value out of a loop; `insertelement` and `shufflevector` build a vector step by step. The
# text names the origin instead: `(float4)(x, y, v.zw)`.

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
