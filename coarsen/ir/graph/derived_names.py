"""The source's names carried on: what is made of a value is called after it, with a dot.

    %sum (sum)     ─▶  %sum.1 (sum)    %sum.alone (sum.alone)    by a transform
    %add (none)    ─▶  %add.1 (none)   %add.alone (none)
    %sum (sum)     ─▶  %sum.lcssa (sum)                          by LLVM's passes

Which values have names of the source the front end says (`frontend/source_names.py`). From then on the name stands
in `Origin.name`, where the OpenCL C writer reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from coarsen.ir.graph.details import ElementAddress
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.names import named_in
from coarsen.ir.types import StructType

# How a transform calls what is used in one place, where C needs no variable; and what had no name at all.
_NAMELESS = frozenset({"call", "i"})
# Where a value has no name, neither has what stands for it in a slow path or after it.
_STANDING_FOR = frozenset({"alone", "out", "next"})
# What LLVM calls the phis through which values leave loops.
_LEAVING_LOOP = "lcssa"
# A variable keeps its name when it goes on to its next value.
_UNSAID = frozenset({"next"})


def source_names(function: Function) -> dict[str, str]:
    """Return the source's names of a function's values, by their own names; empty for those that have none."""
    names = {argument.name: argument.name for argument in function.arguments}
    for named in named_in(function):
        if isinstance(named, Block):
            names[named.name] = named.name
        elif isinstance(named, Instruction):
            names[named.name] = named.origin.name
    return names


def carry_names_on(function: Function, before: Mapping[str, str]) -> None:
    """Write into origins how the values that a transform has made are called for a reader.

    Args:
        function: owned by the caller, with unique names.
        before: the source's names before the transform (`source_names`).
    """
    for instruction in function.instructions():
        if instruction.name:
            name = _carried_on(instruction.name, before, keeps_number=not is_address_of_field(instruction))
            instruction.origin = replace(instruction.origin, name=name)


def name_after(name: str, before: Mapping[str, str]) -> str:
    """Return the source's name of what LLVM's passes have made of a value; empty where it has none."""
    return next((before[base] for base, _ in _bases(name) if base in before), "")


def is_address_of_field(instruction: Instruction) -> bool:
    """Return True for the address of something in a structure, which is called as the field is."""
    detail = instruction.detail
    return isinstance(detail, ElementAddress) and isinstance(detail.source_type, StructType)


def _carried_on(name: str, before: Mapping[str, str], *, keeps_number: bool) -> str:
    base, added = next((cut for cut in _bases(name) if cut[0] in before), ("", name))
    words = _words(added)
    if base and not before[base] and _STANDING_FOR.issuperset(words):
        return ""
    added_words = [word for word in words if word not in _UNSAID]
    called = ".".join([*_said(base, before, keeps_number and bool(added_words)), *added_words])
    return "" if not base and called in _NAMELESS else called


def _said(base: str, before: Mapping[str, str], keeps_number: bool) -> list[str]:
    """How the value is called that another one is called after."""
    source, words = before.get(base, ""), _words(base)
    # Where words are added, the number stays by which LLVM told a variable's values apart: `place21.kept`.
    is_numbered = ".".join(words).removeprefix(source).isdecimal()
    return words if not source or (keeps_number and is_numbered) else [source]


def _words(name: str) -> list[str]:
    return [word for word in name.split(".") if word and not word.isdecimal() and word != _LEAVING_LOOP]


def _bases(name: str) -> Iterator[tuple[str, str]]:
    """Yield a name and what it may be called after, the longest first, each with what was added."""
    base, added = name, ""
    while base:
        yield base, added
        base, _, word = base.rpartition(".")
        added = f"{word}.{added}" if added else word
