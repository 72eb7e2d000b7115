"""Where the parts of a kernel stand in its source, also after transforms: positions go with the instructions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coarsen.errors import SourcePosition
from coarsen.ir.kernel import Block, Instruction, Kernel


@dataclass(frozen=True, slots=True)
class Lines:
    """The first and the last line, from 1, of the kernel's own file."""

    first: int
    last: int


def place_of_branch(kernel: Kernel, block: Block) -> SourcePosition | None:
    """Return where the branch at the end of a block stands, or its condition; None where neither is known."""
    condition = [operand.text for operand in block.terminator.arguments if operand.is_local]
    known = (kernel.definition[name].position for name in condition if name in kernel.definition)
    return block.terminator.position or next(filter(None, known), None)


def lines_of(blocks: Iterable[Block]) -> Lines | None:
    """Return the lines of the kernel itself that blocks have instructions from; None where there are none.

    What was inlined counts as the line of its call. Lines of other files than the kernel's don't count.
    """
    places = (_own_place(instruction) for block in blocks for instruction in block.instructions)
    numbers = [place.line for place in places if place is not None and not place.file]
    return Lines(min(numbers), max(numbers)) if numbers else None


def _own_place(instruction: Instruction) -> SourcePosition | None:
    """The place in the kernel: of the call, for what was inlined."""
    return instruction.call_position or instruction.position
