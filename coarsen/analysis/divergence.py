"""Divergence along one dimension: what differs between the replicas of a work-item.

A value is divergent when it may differ between work-items whose ids differ only along that dimension, within one
work-group. Sources are the ids along the dimension and results of calls with an effect per work-item. It spreads

- through data: an instruction with a divergent operand, a load from a divergent address included;
- through private memory: an alloca is divergent when anything divergent is stored to it, through it, or under
  divergent control, or when it escapes; its address is then a divergent value;
- through control (Karrenberg and Hack, CC 2012): phis where paths from a divergent branch join;
- through time: phis that take values out of a loop which the replicas leave in different iterations.

A branch that decides whether a barrier is reached is uniform across the work-group by the OpenCL specification,
whatever its condition looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from coarsen.analysis.builtins import Effect, builtin_name, effect_of, is_barrier
from coarsen.analysis.control_flow import EXIT, ControlFlow, Loop
from coarsen.analysis.private_memory import PrivateMemory
from coarsen.analysis.uses import uses_of_values
from coarsen.ir.details import is_atomic, is_volatile
from coarsen.ir.kernel import Instruction, Kernel, ValueKind

_LINEAR_IDS = frozenset({"get_global_linear_id", "get_local_linear_id"})
_STANDS_ONCE = frozenset({Effect.GROUP_WIDE, Effect.FENCE, Effect.IGNORED})


class Divergence:
    """The divergent values and branches of a kernel along one dimension."""

    def __init__(self, kernel: Kernel, dimension: int, control_flow: ControlFlow | None = None) -> None:
        self.kernel = kernel
        self.dimension = dimension
        self.control_flow = control_flow or ControlFlow(kernel)
        self.group_uniform_branches = self._group_uniform_branches()
        self._private = PrivateMemory(kernel)
        self._uses = uses_of_values(kernel)
        self._values: set[str] = set()
        self._branches: set[str] = set()
        self._pending: list[str] = []
        self._run()

    @property
    def values(self) -> frozenset[str]:
        """The names of the divergent values."""
        return frozenset(self._values)

    @property
    def branches(self) -> frozenset[str]:
        """The blocks whose branch the replicas may take differently."""
        return frozenset(self._branches)

    @cached_property
    def assumed_uniform(self) -> frozenset[str]:
        """Branches that look divergent and are taken as uniform since a barrier depends on them."""
        return frozenset(
            block
            for block in self.group_uniform_branches
            if self._has_divergent_operand(self.kernel.block[block].terminator)
        )

    def is_divergent(self, instruction: Instruction) -> bool:
        """Whether the replicas of an instruction differ, or each must be executed."""
        if instruction.name in self._values:
            return True
        if instruction.opcode == "call" and effect_of(instruction, self._declaration(instruction)) in _STANDS_ONCE:
            return False
        return self._has_divergent_operand(instruction) or self._has_item_effect(instruction)

    def is_left_apart(self, loop: Loop) -> bool:
        """Whether replicas may leave a loop in different iterations: one of its exits is a divergent branch."""
        inside = loop.blocks & self._branches
        return any(not loop.blocks.issuperset(self.control_flow.successors(block)) for block in inside)

    def _has_divergent_operand(self, instruction: Instruction) -> bool:
        return any(operand.text in self._values for operand in instruction.operands if operand.is_local)

    def _declaration(self, instruction: Instruction) -> str:
        return self._declarations.get(instruction.callee, "")

    @cached_property
    def _declarations(self) -> dict[str, str]:
        return declaration_comments(self.kernel)

    def _group_uniform_branches(self) -> frozenset[str]:
        found: set[str] = set()
        for block in self.kernel.blocks:
            if any(is_barrier(instruction) for instruction in block.instructions):
                found |= self.control_flow.controlling(block.name)
        return frozenset(found)

    # The fixed point.

    def _run(self) -> None:
        self._mark(self._private.escaping)
        for instruction in self.kernel.instructions():
            if self._is_source(instruction):
                self._mark_effects(instruction)
        while self._pending:
            for use in self._uses.get(self._pending.pop(), ()):
                self._follow(use.block, use.instruction)

    def _follow(self, block: str, instruction: Instruction) -> None:
        """A divergent operand has reached an instruction."""
        if instruction.opcode == "br":
            if block not in self.group_uniform_branches and block not in self._branches:
                self._branches.add(block)
                self._spread_control(block)
        elif self.is_divergent(instruction):
            self._mark_effects(instruction)

    def _mark_effects(self, instruction: Instruction) -> None:
        if instruction.name:
            self._mark([instruction.name])
        self._mark(self._private.written_by(instruction))

    def _mark(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._values:
                self._values.add(name)
                self._pending.append(name)

    def _is_source(self, instruction: Instruction) -> bool:
        if instruction.opcode == "call" and effect_of(instruction) is Effect.WORK_ITEM_ID:
            return self._identifies_along(instruction)
        return self._has_item_effect(instruction)

    def _identifies_along(self, instruction: Instruction) -> bool:
        if builtin_name(instruction.callee) in _LINEAR_IDS:
            return True
        queried = instruction.arguments[0]
        return queried.kind is not ValueKind.CONSTANT or queried.text == str(self.dimension)

    def _has_item_effect(self, instruction: Instruction) -> bool:
        """An effect, or a look at memory that others may change meanwhile, which each work-item has for itself."""
        if instruction.opcode == "call":
            return effect_of(instruction, self._declaration(instruction)) is Effect.PER_ITEM
        return is_atomic(instruction) or (instruction.opcode in ("load", "store") and is_volatile(instruction))

    # Divergent control.

    def _spread_control(self, branch: str) -> None:
        join = self.control_flow.immediate_post_dominator.get(branch, EXIT)
        region = self.control_flow.between(branch, join)
        for name in region:
            for instruction in self.kernel.block[name].instructions:
                self._mark(self._private.written_by(instruction))
        for block in self._joins(branch, join, region):
            self._mark(
                phi.name for phi in self.kernel.block[block].phis if not _is_settled(phi, region, self.kernel)
            )

    def _joins(self, branch: str, join: str, region: frozenset[str]) -> Iterable[str]:
        """The blocks where different paths from a branch meet, and those where replicas arrive from a loop that
        they leave in different iterations.

        Each path carries the label of the last such block that it passed; where two labels meet is the next one.
        """
        loops = [loop for loop in self.control_flow.loops_around(branch) if join not in loop.blocks]
        left = frozenset().union(*(loop.blocks for loop in loops))
        label: dict[str, str] = {}
        members = region | {join}
        for block in (b for b in self.control_flow.reverse_postorder if b in members):
            if block == branch:
                continue
            labels = set()
            for predecessor in self.control_flow.predecessors(block):
                if predecessor == branch:
                    labels.add(f"{branch}→{block}")
                elif predecessor in label:
                    labels.add(label[predecessor])
            leaves_loop = block not in left and any(p in left for p in self.control_flow.predecessors(block))
            if len(labels) > 1 or leaves_loop:
                label[block] = block
                yield block
            elif labels:
                label[block] = labels.pop()


def _is_settled(phi: Instruction, region: frozenset[str], kernel: Kernel) -> bool:
    """Whether a phi has one value whichever way it is reached, and that value is the same at any time."""
    first = phi.operands[0]
    return all(operand == first for operand in phi.operands) and kernel.block_of.get(first.text) not in region


def declaration_comments(kernel: Kernel) -> dict[str, str]:
    """LLVM's comment on the attributes of each declared function, by its name."""
    comments: dict[str, str] = {}
    previous = ""
    for line in [*kernel.before.splitlines(), *kernel.after.splitlines()]:
        if line.startswith("declare "):
            name = line.partition("@")[2].partition("(")[0].strip('"')
            comments[name] = previous if previous.startswith("; Function Attrs:") else ""
        previous = line
    return comments
