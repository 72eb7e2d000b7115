"""A divergent region for all replicas, one copy after the other.

After each copy stands a block that takes the copy's results out of it and enters the next one:

    dispatch ─▶ region ─▶ after ─▶ region.1 ─▶ after.1 ─▶ join

Where the region has barriers, the work-group meets in each of these blocks (`RejoinBarriers`).

A replica comes in by one of two entries. Either it takes a branch, by its own condition and with its own values;
or it starts an iteration of the region's loop again, which is right where nothing that the iteration did so far
could be seen:

    take the branch of `head`                 restart the iteration at `header`

    dispatch:  br %c, in.alone, leave         dispatch:      br header.alone
    in.alone:  …                              header.alone:  %i.alone = phi [ %i, dispatch ], [ …, latch.alone ]
               br leave                                      …
    leave:     …                              leave:         …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Callee, Operand
from coarsen.ir.graph.rewriting import OriginMap, ValueMap, copy_instruction
from coarsen.ir.opencl.queries import mangled_name
from coarsen.ir.types import IntegerType, VoidType
from coarsen.transform.regions.plan import Entry, PlannedRegion
from coarsen.transform.regions.plan_regions import has_barrier
from coarsen.transform.replicas import Replicas, new_block


@dataclass(frozen=True)
class ReplicaClone:
    """One replica's way through a region.

    Attributes:
        around: the kernel around the region.
        region: its blocks, its head and its join.
        entry: where the replica comes in.
        replica: which one it is.
        arriving: what stands for values when it arrives.
        values: what stands for values, and for the region's blocks, from then on.
        dispatch: the block from which it comes in.
        leave: the block that stands for the region's join.
        origin: of what is copied.
    """

    around: Replicas
    region: Region
    entry: Entry
    replica: int
    arriving: ValueMap
    values: ValueMap
    dispatch: Block
    leave: Block
    origin: OriginMap

    def enter(self, build: Builder) -> None:
        """Build the last instruction of the dispatching block."""
        entry = self.around.kernel.block[self.entry.block]
        if self.entry.is_restart:
            build.branch(self.values.block(entry))
            return
        arriving = ValueMap(self.arriving)
        for block in self.around.kernel.in_order(self.region.blocks):
            arriving[block] = self.values.find(block)
        arriving[self._join] = self.leave
        build.insert(copy_instruction(entry.terminator, arriving, self.origin))

    def blocks(self) -> Iterator[Block]:
        """Write the region's blocks."""
        for block in self.around.kernel.in_order(self.region.blocks):
            into = self.values.block(block)
            for instruction in block.instructions:
                if instruction.opcode is Opcode.PHI:
                    self._write_phi(instruction, block, into)
                else:
                    self.around.write(instruction, self.replica, self._values_inside, into, self.origin)
            yield into

    def leaving(self, phi: Instruction) -> Iterator[tuple[Operand, Block]]:
        """Yield what one of the join's phis takes from this replica: values, and the blocks they come from."""
        for value, source in phi.edges():
            if source.name in self.region.blocks:
                yield self.values.operand(value), self.values.block(source)
            if not self.entry.is_restart and source.name == self.entry.block:
                yield self.arriving.operand(value), self.dispatch

    @property
    def _join(self) -> Block:
        return self.around.kernel.block[self.region.join]

    @cached_property
    def _values_inside(self) -> ValueMap:
        """Return what stands for what in the region's blocks."""
        inside = ValueMap(self.values)
        inside[self._join] = self.leave
        return inside

    def _write_phi(self, phi: Instruction, block: Block, into: Block) -> None:
        copied = self.values.find(phi)
        assert isinstance(copied, Instruction)
        for value, source in self._incoming(phi, block):
            copied.add_incoming(value, source)
        into.append(copied)

    def _incoming(self, phi: Instruction, block: Block) -> Iterator[tuple[Operand, Block]]:
        if self.entry.is_restart and block.name == self.entry.block:
            yield self.arriving.find(phi), self.dispatch
        yield from self.leaving(phi)


Meet = Callable[[Builder], None]
"""Builds what makes the whole work-group meet, or nothing where it need not."""


class AllReplicas:
    """The way of all replicas, one after the other, through a region.

    Args:
        around: the kernel around it.
        region: its blocks, its head and its join.
        dispatch: the block that enters it.
        meet: lets the whole work-group meet after each replica's way.

    Attributes:
        dispatch: the block that enters it.
    """

    def __init__(self, around: Replicas, region: Region, dispatch: Block, meet: Meet) -> None:
        self.dispatch = dispatch
        self._around = around
        self._join = around.kernel.block[region.join]
        self._meet = meet
        self._results: dict[tuple[Instruction, int], Operand] = {}

    def out(self, phi: Instruction, k: int) -> Operand:
        """Return what one of the join's phis is for replica k in the last block, once the blocks are written."""
        return self._results[phi, k if self._is_divergent(phi) else 0]

    def _is_divergent(self, phi: Instruction) -> bool:
        return self._around.divergence.is_divergent(phi)


class CopiesInSequence(AllReplicas):
    """The copies of a region.

    Args:
        around: the kernel around it, as for `AllReplicas`.
        entry: where each replica comes in.
        values: what stands for values, and for the region's blocks, in each replica's copy.
        origin: of the copies, for each replica.
    """

    def __init__(
        self,
        around: Replicas,
        region: Region,
        entry: Entry,
        values: Sequence[ValueMap],
        dispatch: Block,
        meet: Meet,
        origin: Callable[[int], OriginMap],
    ) -> None:
        super().__init__(around, region, dispatch, meet)
        self._after = [
            new_block(around.supply.spelling(f"{region.join}.after"), origin(k)(self._join.origin))
            for k in range(len(values))
        ]
        sources = [dispatch, *self._after]
        self._ways = [
            ReplicaClone(around, region, entry, k, around.values[k], own, sources[k], self._after[k], origin(k))
            for k, own in enumerate(values)
        ]

    @property
    def last(self) -> Block:
        """The block that goes on to the join."""
        return self._after[-1]

    def enter(self, build: Builder) -> None:
        """Build what the dispatching block ends with."""
        self._ways[0].enter(build)

    def blocks(self) -> Iterator[Block]:
        """Write the copies and the blocks after them."""
        for k, way in enumerate(self._ways):
            yield from way.blocks()
            yield self._block_after(k)

    def _block_after(self, k: int) -> Block:
        after = self._after[k]
        build = Builder(after, after.origin)
        for phi in self._join.phis:
            if k == 0 or self._is_divergent(phi):
                name = self._around.supply.derived(phi, Derivation.OUT)
                self._results[phi, k] = build.phi(phi.type, list(self._ways[k].leaving(phi)), name)
        self._meet(build)
        if k + 1 == len(self._ways):
            build.branch(self._around.values[0].block(self._join))
        else:
            self._ways[k + 1].enter(build)
        return after


# Barriers that keep the barriers of one copy of a region apart from those of the next one.
#
#     if (inside) {                            if (inside) {
#         … barrier(CLK_LOCAL_MEM_FENCE); …        … barrier(CLK_LOCAL_MEM_FENCE); …
#     }                                        }
#                                              barrier(CLK_LOCAL_MEM_FENCE);
#     if (inside_2) {                          if (inside_2) {
#         … barrier(CLK_LOCAL_MEM_FENCE); …        … barrier(CLK_LOCAL_MEM_FENCE); …
#     }                                        }
#                                              barrier(CLK_LOCAL_MEM_FENCE);
#
# OpenCL does not ask for them. PoCL 3.1 does: where one barrier under a condition can be reached from another one
# without a barrier between them that is always reached, it leaves out stores, or compiles without an end.
#
# They are put only where whole work-groups are merged and every work-item of a group is sure to get there: each
# branch on the way depends on nothing that differs inside of a group. That a barrier depends on a branch does not
# prove it: a right program may have a barrier that is never reached.

_FUNCTION = mangled_name("barrier", "j")
_ATTRIBUTES = "convergent nounwind"
_LOCAL = number(IntegerType(32), 1)


class RejoinBarriers:
    """Where one coarsening of a kernel puts barriers besides the kernel's own.

    Args:
        divergence: of the kernel.
        module: in which the coarsened kernel will stand.
    """

    def __init__(self, divergence: Divergence, module: Module) -> None:
        self._divergence = divergence
        self._module = module
        self._barrier = module.callees.get(_FUNCTION) or Callee(
            _FUNCTION, f"declare spir_func void @{_FUNCTION}(i32) {_ATTRIBUTES}"
        )

    def of_region(self, planned: PlannedRegion) -> Meet:
        """Return what builds a meeting after each copy of a region, and before the first one of a slow path."""
        if not self._divergence.merges_groups or not has_barrier(self._divergence, planned.region):
            return _meet_nowhere
        if not self._is_reached_by_all({planned.region.head, *planned.branches}, planned.branches):
            return _meet_nowhere
        return self._meet

    def declare(self) -> None:
        """Declare the barrier if one was put and the module has none of its own; to be done at the end."""
        if self._barrier.uses:
            self._module.declare([self._barrier])

    def _meet(self, build: Builder) -> None:
        build.call(self._barrier, VoidType(), [_LOCAL], attributes=_ATTRIBUTES)

    def _is_reached_by_all(self, blocks: Iterable[str], branches: frozenset[str]) -> bool:
        """Return True if all work-items of a group reach blocks together, and go the same way at branches."""
        flow = self._divergence.control_flow
        deciding = branches.union(*(flow.controlling(block) for block in blocks))
        return deciding.isdisjoint(self._differing)

    @cached_property
    def _differing(self) -> frozenset[str]:
        """The branches that some work-items of a group may take differently than others."""
        kernel, flow = self._divergence.kernel, self._divergence.control_flow
        found: set[str] = set()
        for dimension in range(3):
            along = Divergence(kernel, dimension, flow)
            found |= along.branches | along.assumed_uniform
        return frozenset(found)


def _meet_nowhere(_build: Builder) -> None:
    """Build nothing."""
