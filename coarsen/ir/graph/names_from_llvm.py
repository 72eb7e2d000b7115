"""The source's names carried on through LLVM's passes, which call what they make after what they make it of.

    %sum (sum)     ─▶  %sum.lcssa (sum)    %sum.us (sum)
    %add (none)    ─▶  %add.lcssa (none)

Only LLVM's own names are read so. Which values have names of the source the front end says
(`frontend/source_names.py`); what transforms make says itself how it is called (`transform/names.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coarsen.ir.graph.details import ElementAddress
from coarsen.ir.graph.display_name import NAMELESS, DisplayName
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.names import named_in
from coarsen.ir.types import StructType

# What LLVM calls the phis through which values leave loops.
_LEAVING_LOOP = "lcssa"


def display_names(function: Function) -> dict[str, DisplayName]:
    """Return how a function's values are called for a reader, by their names in LLVM's text."""
    names = {argument.name: DisplayName(argument.name) for argument in function.arguments}
    for named in named_in(function):
        if isinstance(named, Block):
            names[named.name] = DisplayName(named.name)
        elif isinstance(named, Instruction):
            names[named.name] = named.origin.name
    return names


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
