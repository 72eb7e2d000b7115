"""Where the parts of a kernel stand in its source, also after a transform has rewritten it.

A transform writes text, which carries no positions. What it wrote has the names of what it was made from, though,
perhaps with more behind (`if.then` gives `if.then` and `if.then.1`), and by these the place is found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coarsen.errors import SourcePosition
from coarsen.ir.kernel import Block, Instruction, Kernel


@dataclass(frozen=True, slots=True)
class Lines:
    """The first and the last line, from 1, of the kernel's own file."""

    first: int
    last: int


class SourcePlaces:
    """The places of a lowered kernel's values and branches, by their names.

    Args:
        lowered: the kernel as the front end gave it, with positions.
    """

    def __init__(self, lowered: Kernel) -> None:
        self._values = {i.name: i.position for i in lowered.instructions() if i.name and i.position}
        self._own = {i.name: place for i in lowered.instructions() if i.name and (place := _own_place(i))}
        self._branches = {b.name: b.terminator.position for b in lowered.blocks if b.terminator.position}

    def of_branch(self, block: Block) -> SourcePosition | None:
        """Where the branch at the end of a block stands; None where that isn't known."""
        terminator = block.terminator
        if terminator.position is not None:
            return terminator.position
        condition = [operand.text for operand in terminator.arguments if operand.is_local]
        return _found(block.name, self._branches) or next(
            (place for name in condition if (place := _found(name, self._values))), None
        )

    def lines(self, blocks: Iterable[Block]) -> Lines | None:
        """The lines of the kernel itself that blocks have instructions from; None where there are none.

        What was inlined counts as the line of its call. Lines of other files than the kernel's don't count.
        """
        places = [
            _own_place(instruction) or _found(instruction.name, self._own)
            for block in blocks
            for instruction in block.instructions
        ]
        numbers = [place.line for place in places if place is not None and not place.file]
        return Lines(min(numbers), max(numbers)) if numbers else None


def _own_place(instruction: Instruction) -> SourcePosition | None:
    """The place in the kernel: of the call, for what was inlined."""
    return instruction.call_position or instruction.position


def _found(name: str, known: Mapping[str, SourcePosition]) -> SourcePosition | None:
    """The place of a name, or of the name that it was made from."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return known.get(name)
