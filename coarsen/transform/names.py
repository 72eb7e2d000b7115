"""Names of what transforms make: own words, or derived from the value that something is made of.

    own("inside")                      %inside       (inside)
    derived(%sum, Derivation.KEPT)     %sum.kept     (sum.kept)
    derived(%add, Derivation.ALONE)    %add.alone    (none, as %add has none)

A transform that rewrites a whole body takes them from a `NameSupply`, which makes them free in the kernel at once,
since copies are named before they are written. One that changes a few places leaves them as wishes, which
`make_names_unique` (`ir/graph/names.py`) fulfils when it is done. Both find free names with `FreeNames` there.
"""

from __future__ import annotations

from coarsen.ir.graph.display_name import Derivation, DisplayName, NewName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.names import FreeNames, without_numbers
from coarsen.ir.graph.operands import Argument, Named
from coarsen.ir.kernel import Kernel

TEMPORARY = NewName("call")
"""The name of what is used in one place, as a compiler names it, so that a back end may put it there."""


def own(word: str) -> NewName:
    """Return a name of a transform's own."""
    return NewName(word, DisplayName(word))


def like(original: Named) -> NewName:
    """Return the name of what takes the place of a value."""
    if isinstance(original, Instruction):
        return NewName(original.name, original.origin.name)
    return NewName(original.name, DisplayName(original.name if isinstance(original, Argument) else ""))


def derived(original: Named, derivation: Derivation) -> NewName:
    """Return the name of what is made of a value, block or variable.

    Where the original has no name for a reader, a stand-in has none either, and all else is called after LLVM's
    name, without its numbers.
    """
    name = like(original)
    is_computed = isinstance(original, Instruction)
    if name.display.text == "" and not (is_computed and derivation.is_a_stand_in):
        name = NewName(name.spelling, DisplayName(without_numbers(name.spelling)))
    if name.display.text == "":
        return NewName(name.derived(derivation).spelling)
    return name.derived(derivation)


class NameSupply:
    """Hands out names that no value, block or argument of a kernel has."""

    def __init__(self, kernel: Kernel) -> None:
        self._free = FreeNames(
            [
                *(argument.name for argument in kernel.arguments),
                *(block.name for block in kernel.blocks),
                *(instruction.name for instruction in kernel.instructions() if instruction.name),
                *kernel.structures,
            ]
        )

    def spelling(self, wanted: str) -> str:
        """Return LLVM's name of something that no reader sees: the wanted one, or that with a number."""
        return self._free.take(wanted)

    def free(self, wish: NewName) -> NewName:
        """Return a name, its spelling with the first number after it that makes it free."""
        return NewName(self._free.take(wish.spelling), wish.display)

    def derived(self, original: Named, derivation: Derivation) -> NewName:
        """Return a free name of what is made of a value, block or variable."""
        return self.free(derived(original, derivation))

    def replica(self, name: NewName, replica: int) -> NewName:
        """Return the name of a replica's copy; replica 0 keeps the original's own."""
        if replica == 0:
            return name
        return NewName(self._free.take(f"{name.spelling}.{replica}"), name.display)
