"""One replica's way through a divergent region, alone.

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

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.regions import Region
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.rewriting import OriginMap, ValueMap, copy_instruction
from coarsen.transform.regions.plan import Entry
from coarsen.transform.replicas import Replicas


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
