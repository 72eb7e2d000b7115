"""The source's names of a kernel's values, as their origins have them, and those of labels."""

from __future__ import annotations

from coarsen.ir.graph.instruction import Instruction

_DIGITS = "0123456789"
# What LLVM's passes add to the name of a block that they make of another one.
_OF_PASSES = frozenset({"i", "us", "ph", "in", "be", "sink", "loopexit", "prol", "epil", "unr"})


def source_name(instruction: Instruction) -> str | None:
    """Return the name that the source, or a transform, gives to a result; None where the compiler made it."""
    return instruction.origin.name.text or None


def field_name(address: Instruction) -> str | None:
    """Return the name of the field whose address is computed, or None: the address is called by it."""
    return address.origin.name.base or None


def label_name(block: str) -> str:
    """Return the name of a label for a block: the compiler's, without its numbers."""
    words = [word for word in block.split(".") if not word.isdecimal() and word not in _OF_PASSES]
    name = ".".join(words) or block
    shortened = name.rstrip(_DIGITS)
    return shortened if len(name) - len(shortened) > 1 else name


def is_counter(phi: Instruction) -> bool:
    """Return True if a phi is called `i`: the most frequent of counters, a name that LLVM could have made up."""
    first, *added = phi.name.split(".")
    return first.rstrip(_DIGITS) == "i" and all(word.isdecimal() or word == "lcssa" for word in added)
