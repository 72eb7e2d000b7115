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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.regions import Region
from coarsen.ir.kernel import Block, Instruction, Kernel
from coarsen.ir.printer import rename
from coarsen.transform.written import Layered, WrittenBlock, phi_line, spelling

Write = Callable[[Instruction, Mapping[str, str]], Iterator[str]]
"""Writes an instruction that is not a phi under the names of one replica."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a replica comes into a region: at the branch of `block`, or at `block`, the header of a loop."""

    block: str
    is_restart: bool = False


@dataclass(frozen=True)
class Alone:
    """One replica's way through a region.

    Attributes:
        kernel: whose region it is.
        region: its blocks, its head and its join.
        entry: where the replica comes in.
        arriving: what the replica calls values when it arrives.
        names: what it calls values, and the region's blocks, from then on.
        dispatch: the block (without `%`) from which it comes in.
        leave: the block (without `%`) that stands for the region's join.
    """

    kernel: Kernel
    region: Region
    entry: Entry
    arriving: Mapping[str, str]
    names: Mapping[str, str]
    dispatch: str
    leave: str

    def coming_in(self) -> str:
        """The last instruction of the dispatching block."""
        if self.entry.is_restart:
            return f"br label {self.names[self.entry.block]}"
        blocks = {block: self.names[block] for block in self.region.blocks}
        blocks[self.region.join] = "%" + self.leave
        return rename(self.kernel.block[self.entry.block].terminator.text, Layered(blocks, self.arriving))

    def blocks(self, write: Write) -> Iterator[WrittenBlock]:
        """The region's blocks."""
        for block in self.kernel.in_order(self.region.blocks):
            yield self._block(block, write)

    def leaving(self, phi: Instruction) -> Iterator[tuple[str, str]]:
        """The values, and the blocks from which they come, that one of the join's phis has in this replica."""
        for value, source in zip(phi.operands, phi.incoming, strict=True):
            if source in self.region.blocks:
                yield spelling(value, self.names), self.names[source]
            if not self.entry.is_restart and source == self.entry.block:
                yield spelling(value, self.arriving), "%" + self.dispatch

    def _block(self, block: Block, write: Write) -> WrittenBlock:
        names = self._names_inside
        lines: list[str] = []
        for instruction in block.instructions:
            if instruction.opcode == "phi":
                name = self.names[instruction.name]
                lines.append(phi_line(name, instruction, self._incoming(instruction, block)))
            else:
                lines.extend(write(instruction, names))
        return WrittenBlock(self.names[block.name][1:], tuple(lines))

    @cached_property
    def _names_inside(self) -> Mapping[str, str]:
        """What is called what in the region's blocks."""
        return Layered({self.region.join: "%" + self.leave}, self.names)

    def _incoming(self, phi: Instruction, block: Block) -> Iterator[tuple[str, str]]:
        if self.entry.is_restart and block.name == self.entry.block:
            yield self.arriving.get(phi.name, "%" + phi.name), "%" + self.dispatch
        yield from self.leaving(phi)
