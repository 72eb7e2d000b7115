"""Which values are written inside of the expression that uses them, and which get a variable.

    %i = load %p; %a = fadd %i, 1.0; store %a, %q   →   *q = *p + 1.0f;

A value is folded where its text stands once, in the same loop, and, if it reads memory, nothing between its place
and that expression writes memory. Addresses and widened indices are folded wherever they are used: they cost
nothing and `a[i]` reads better than a pointer. Names that the source gave keep their variables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.backend.opencl_c.decide.dataflow import Dataflow
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, PointerType, TargetType, Type, VectorType

_MAXIMUM_DEPTH = 24
_MAXIMUM_SIZE = 32
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
        if user == "fneg" and instruction.name in self.inlined:
            user = self.uses[instruction.name].users[0]  # a product's sign doesn't keep C from fusing it
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
        if self._is_free(instruction):
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

    def _is_free(self, instruction: Instruction) -> bool:
        if instruction.opcode in ("bitcast", "ptrtoint", "inttoptr"):
            return isinstance(instruction.type, PointerType) and isinstance(
                instruction.operands[0].type, PointerType
            )
        if instruction.opcode in ("sext", "zext"):
            is_scalar = isinstance(instruction.type, IntegerType)
            return is_scalar and not _is_condition(instruction.operands[0].type)
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
        return any(user in ("fadd", "fsub") for user in users) and {"contract", "fast"}.isdisjoint(
            instruction.flags
        )

    def _keeps_name(self, instruction: Instruction, uses: _Uses) -> bool:
        if uses.users == ["phi"] or _is_condition(instruction.type):
            return False
        is_named = bool(instruction.origin.name.text)
        if isinstance(instruction.type, VectorType) and self.dataflow.builds_vector(instruction):
            return is_named and uses.users != ["extractelement"]
        return is_named


def _is_condition(type_: Type) -> bool:
    return isinstance(type_, IntegerType) and type_.width == 1
