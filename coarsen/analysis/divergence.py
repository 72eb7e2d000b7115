"""Divergence along one dimension: what differs between the replicas of a work-item.

A value is divergent when it may differ between work-items whose ids differ only along that dimension, within one
work-group. Sources are the ids along the dimension and results of calls with an effect per work-item. It spreads

- through data: an instruction with a divergent operand, a load from a divergent address included;
- through private memory: an alloca is divergent when anything divergent is stored to it, through it, or anything
  under divergent control or in a block that is replicated whole, or when it escapes; so is its address then;
- through control (Karrenberg and Hack, CC 2012): phis where paths from a divergent branch join;
- through time: phis that take values out of a loop which the replicas leave in different iterations.

A branch that decides whether a barrier is reached is uniform across the work-group by the OpenCL specification,
whatever its condition looks like.

Where whole work-groups are merged, the replicas of a work-item stand at the same local id of neighbouring groups.
The sources are then the ids that tell groups apart. Local memory is treated as private memory is: what divergent
stores reach is a replica's own, what all groups fill alike is shared. A branch around a barrier need not be
uniform, as another group may take another way; copies by the whole group are divergent when one of them is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any

from coarsen.analysis.control_flow import EXIT, ControlFlow, Loop
from coarsen.analysis.liveness import names_in
from coarsen.analysis.memory_accesses import PrivateMemory, local_memory
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import Role, is_barrier, is_group_copy
from coarsen.ir.opencl.queries import IDS_OF_GROUPS, IDS_OF_ITEMS, may_concern, query_of

_STANDS_ONCE = frozenset({Role.GROUP_WIDE, Role.FENCE, Role.IGNORED})


class Divergence:
    """The divergent values and branches of a kernel along one dimension.

    Args:
        kernel: in normal form.
        dimension: along which the replicas differ.
        control_flow: the kernel's, if it is known already.
        merges_groups: whether the replicas belong to neighbouring work-groups, not to the same one.
        every_dimension: whether ids along all dimensions are sources, not those along `dimension` alone: what
            differs between any two work-items of a work-group.
    """

    def __init__(
        self,
        kernel: Kernel,
        dimension: int,
        control_flow: ControlFlow | None = None,
        *,
        merges_groups: bool = False,
        every_dimension: bool = False,
    ) -> None:
        self.kernel = kernel
        self.dimension = dimension
        self.merges_groups = merges_groups
        self._every_dimension = every_dimension
        self.control_flow = control_flow or ControlFlow(kernel)
        self.group_uniform_branches = self._group_uniform_branches()
        self.effects = EffectsOfKernel.of_kernel(kernel)
        further = local_memory(kernel) if merges_groups else ()
        self._private = PrivateMemory(kernel, further, self.effects)
        self._sources = IDS_OF_GROUPS if merges_groups else IDS_OF_ITEMS
        self._group_copies = [i for i in kernel.instructions() if merges_groups and is_group_copy(i)]
        self._group_copies_diverge = False
        self._values: set[str] = set()
        self._branches: set[str] = set()
        self._known: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
        self._stored: set[str] = set()
        self._pending: list[str] = []
        self._run()

    def __reduce__(self) -> tuple[Any, ...]:
        # It follows from the kernel; what it keeps has instructions, and a graph is not copied link by link.
        return partial(Divergence, merges_groups=self.merges_groups, every_dimension=self._every_dimension), (
            self.kernel,
            self.dimension,
        )

    @property
    def values(self) -> frozenset[str]:
        """The names of the divergent values, and of memory that is each replica's own (variables with `@`)."""
        return self._snapshots[0]

    @cached_property
    def own_local_memory(self) -> tuple[str, ...]:
        """The local memory that is each replica's own: arguments, and program-scope variables with their `@`.

        Empty unless whole work-groups are merged.
        """
        return tuple(name for name in local_memory(self.kernel) if name in self._values)

    @property
    def branches(self) -> frozenset[str]:
        """The blocks whose branch the replicas may take differently."""
        return self._snapshots[1]

    @property
    def _snapshots(self) -> tuple[frozenset[str], frozenset[str]]:
        """The divergent values and branches, copied only when there are more: both sets only grow."""
        values, branches = self._known
        if len(values) < len(self._values) or len(branches) < len(self._branches):
            self._known = frozenset(self._values), frozenset(self._branches)
        return self._known

    @cached_property
    def assumed_uniform(self) -> frozenset[str]:
        """Branches that look divergent and are taken as uniform since a barrier depends on them."""
        if self.merges_groups:
            return frozenset()
        return frozenset(
            block
            for block in self.group_uniform_branches
            if self._has_divergent_operand(self.kernel.block[block].terminator)
        )

    def is_divergent(self, instruction: Instruction) -> bool:
        """Return True if the replicas of an instruction differ, or each must be executed."""
        if instruction.name in self._values:
            return True
        if instruction.opcode == "call" and self.effects.builtin(instruction).role in _STANDS_ONCE:
            return self.merges_groups and self._differs_between_groups(instruction)
        return self._has_divergent_operand(instruction) or self.effects.of(instruction).is_counted

    def _differs_between_groups(self, instruction: Instruction) -> bool:
        """Return True if merged groups each execute a call that a single group executes once."""
        if is_group_copy(instruction) and self._group_copies_diverge:
            return True
        return not self.effects.is_ignored(instruction) and self._has_divergent_operand(instruction)

    def is_left_apart(self, loop: Loop) -> bool:
        """Return True if replicas may leave a loop in different iterations, as one of its exits is divergent."""
        inside = loop.blocks & self._branches
        return any(not loop.blocks.issuperset(self.control_flow.successors(block)) for block in inside)

    def replicate_whole(self, blocks: Iterable[str]) -> bool:
        """Mark what blocks store to that are replicated whole, whatever branches they depend on.

        `if (uniform ? (++counts[1], 1) : divergent) …`: each replica counts for itself. Returns whether anything
        became divergent by that.
        """
        known = len(self._values)
        self._mark_stores(blocks)
        self._follow_all()
        return len(self._values) > known

    def _has_divergent_operand(self, instruction: Instruction) -> bool:
        return not all(map(self._values.isdisjoint, map(names_in, instruction.operands)))

    def _group_uniform_branches(self) -> frozenset[str]:
        with_barriers = [
            block.name
            for block in self.kernel.blocks
            if any(is_barrier(instruction) for instruction in block.instructions)
        ]
        return self.control_flow.controlling(*with_barriers)

    # The fixed point.

    def _run(self) -> None:
        self._mark(self._private.escaping)
        for instruction in self.kernel.instructions():
            if self._is_source(instruction):
                self._mark_effects(instruction)
        self._follow_all()

    def _follow_all(self) -> None:
        while self._pending:
            for user in self.kernel.users(self._pending.pop()):
                self._follow(user)

    def _follow(self, instruction: Instruction) -> None:
        """A divergent operand has reached an instruction."""
        if instruction.opcode == "br":
            assert instruction.block is not None
            block = instruction.block.name
            assumed = block in self.group_uniform_branches and not self.merges_groups
            if not assumed and block not in self._branches:
                self._branches.add(block)
                self._spread_control(block)
        elif self.is_divergent(instruction):
            self._mark_effects(instruction)

    def _mark_effects(self, instruction: Instruction) -> None:
        if instruction.name:
            self._mark([instruction.name])
        self._mark(self._private.written_by(instruction))
        if is_group_copy(instruction):
            self._part_group_copies()

    def _part_group_copies(self) -> None:
        """All copies by the whole group are divergent, as one of them is: they share events."""
        if not self._group_copies_diverge:
            self._group_copies_diverge = True
            for instruction in self._group_copies:
                self._mark_effects(instruction)

    def _mark(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._values:
                self._values.add(name)
                self._pending.append(name)

    def _is_source(self, instruction: Instruction) -> bool:
        """Return True for an id, and for an effect that each work-item has for itself."""
        if query_of(instruction) in self._sources:
            return self._every_dimension or may_concern(instruction, self.dimension)
        return self.effects.of(instruction).is_counted

    # Divergent control.

    def _spread_control(self, branch: str) -> None:
        join = self.control_flow.immediate_post_dominator.get(branch, EXIT)
        region = self.control_flow.between(branch, join)
        self._mark_stores(region)
        for block in self._joins(branch, join, region):
            self._mark(
                phi.name for phi in self.kernel.block[block].phis if not _is_settled(phi, region, self.kernel)
            )

    def _mark_stores(self, region: Iterable[str]) -> None:
        """Each replica stores for itself in a region; regions overlap, and once for each block is enough."""
        new = [name for name in region if name not in self._stored]
        self._stored.update(new)
        for name in new:
            for instruction in self.kernel.block[name].instructions:
                self._mark(self._private.written_by(instruction))
                if is_group_copy(instruction):
                    self._part_group_copies()

    def _joins(self, branch: str, join: str, region: frozenset[str]) -> frozenset[str]:
        """The blocks where different paths from a branch meet, and those where replicas arrive from a loop that
        they leave in different iterations.

        Each path carries the label of the last such block that it passed; where two labels meet is the next one.
        Paths may lead through a loop's back edge to blocks that stand before the branch.
        """
        members = self.control_flow.in_order({*region, join} - {EXIT})
        joins = self._behind_loops(branch, join, members)
        while self._add_joins(branch, members, joins):
            pass
        return frozenset(joins)

    def _behind_loops(self, branch: str, join: str, members: list[str]) -> set[str]:
        """The blocks behind the loops that replicas leave in different iterations because of a branch."""
        successors = self.control_flow.successors(branch)
        loops = [
            loop.blocks
            for loop in self.control_flow.loops_around(branch)
            if join not in loop.blocks or not loop.blocks.issuperset(successors)
        ]
        left = frozenset().union(*loops)
        return {b for b in members if b not in left and any(p in left for p in self.control_flow.predecessors(b))}

    def _add_joins(self, branch: str, members: list[str], joins: set[str]) -> bool:
        """Add blocks at which paths with different labels arrive; whether all labels are to be set anew.

        In the first round, labels come from blocks that stand before: those of a new join are right at once.
        Later, when they come round a loop, what stands behind the join has other labels than it should.
        """
        label: dict[str, str] = {}
        is_first = changed = True
        while changed:
            changed = False
            for block in members:
                arriving = self._labels(branch, block, label)
                if len(arriving) > 1 and block not in joins and block != branch:
                    joins.add(block)
                    if not is_first:
                        return True
                if block in joins or block == branch:
                    arriving = {block} if arriving and block != branch else set()
                if arriving and block not in label:
                    label[block] = arriving.pop()
                    changed = True
            is_first = False
        return False

    def _labels(self, branch: str, block: str, label: dict[str, str]) -> set[str]:
        """The labels of the paths that arrive at a block."""
        predecessors = self.control_flow.predecessors(block)
        found = {label[p] for p in predecessors if p in label and p != branch}
        return found | {f"{branch}→{block}" for p in predecessors if p == branch}


def _is_settled(phi: Instruction, region: frozenset[str], kernel: Kernel) -> bool:
    """Return True if a phi has one value whichever way it is reached, and that value is the same at any time."""
    first = phi.operands[0]
    return all(operand == first for operand in phi.operands) and kernel.block_of.get(first.text) not in region
