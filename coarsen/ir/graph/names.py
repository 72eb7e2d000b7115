"""Names of values and blocks, made unique late: `sum` becomes `sum`, `sum.1`, `sum.2`, … in the function's order.

Until then a name is a wish. What has a unique name keeps it: a kernel's own values are called as they were. What
LLVM's passes make is called, for a reader, after what they made it of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from coarsen.ir.graph.details import ElementAddress
from coarsen.ir.graph.display_name import NAMELESS, DisplayName
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Named
from coarsen.ir.types import StructType, VoidType

# As LLVM's own pass calls what has no name.
_NAMELESS = "i"


def make_names_unique(function: Function, taken: Iterable[str] = ()) -> None:
    """Give each value and block of a function a name that no other one has.

    Args:
        function: owned by the caller.
        taken: further names that must not be used, those of structure types.
    """
    function.check_owned()
    names = FreeNames(taken)
    all_named = named_in(function)
    names.keep([named.name for named in all_named if named.has_unique_name])
    for named in all_named:
        if not named.has_unique_name:
            named.name = names.take(named.name or _NAMELESS)
            named.has_unique_name = True


def named_in(function: Function) -> Sequence[Named]:
    """Return what has a name in a function: arguments, then each block and the results in it."""
    found: list[Named] = [*function.arguments]
    for block in function.blocks:
        found.append(block)
        found += [i for i in block.instructions if not isinstance(i.type, VoidType)]
    return found


class FreeNames:
    """Finds names that nothing has. Names are never given back: a search goes on after the last number found.

    Args:
        taken: the names that something has.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def keep(self, names: Iterable[str]) -> None:
        """Let nothing else have some names."""
        self._taken.update(names)

    def take(self, wanted: str) -> str:
        """Return `wanted`, or `wanted` with the first number after it that makes it free, and take it."""
        name, number = wanted, self._next.get(wanted, 1)
        while name in self._taken:
            name = f"{wanted}.{number}"
            number += 1
        self._taken.add(name)
        self._next[wanted] = number
        return name


# The source's names carried on through LLVM's passes.
#
#     %sum (sum)     ─▶  %sum.lcssa (sum)    %sum.us (sum)
#     %add (none)    ─▶  %add.lcssa (none)
#
# Only LLVM's own names are read so. Which values have names of the source the front end says
# (`frontend/source_names.py`); what transforms make says itself how it is called (`transform/names.py`).

# What LLVM calls the phis through which values leave loops.
_LEAVING_LOOP = "lcssa"


def name_after(name: str, before: Mapping[str, DisplayName]) -> DisplayName:
    """Return how a reader calls what LLVM's passes have made: as what it was made of.

    Args:
        name: in the text that LLVM gives back; nothing had it before.
        before: how the values were called that LLVM was given.
    """
    return next((before[base] for base in _bases(name) if base in before), NAMELESS)


def without_numbers(name: str) -> str:
    """Return LLVM's name of a value without the numbers that told it apart from others."""
    return ".".join(word for word in name.split(".") if word and not word.isdecimal() and word != _LEAVING_LOOP)


def is_address_of_field(instruction: Instruction) -> bool:
    """Return True for the address of something in a structure, which is called as the field is."""
    detail = instruction.detail
    return isinstance(detail, ElementAddress) and isinstance(detail.source_type, StructType)


def _bases(name: str) -> Iterator[str]:
    """Yield a name and what LLVM may have made it of, the longest first."""
    while name:
        yield name
        name = name.rpartition(".")[0]
