"""The source's names of a kernel's values: the one place that says which names are the user's.

Today a value's name in LLVM tells, marked by the front end where it looks like one that a compiler makes up
(`ir.value_names`). Once a value carries its origin, `source_name` is where to read it, and nothing else changes.
"""

from __future__ import annotations

from coarsen.ir.kernel import GlobalVariable, Instruction
from coarsen.ir.value_names import is_surely_readable, is_temporary_name, readable

_DIGITS = "0123456789"


def source_name(instruction: Instruction) -> str | None:
    """Return the name that the source gives to an instruction's result, or None where the compiler made it."""
    return None if is_temporary_name(instruction.name) else readable(instruction.name)


def memory_name(instruction: Instruction) -> str:
    """Return the name of the private variable that an `alloca` makes."""
    return readable(instruction.name)


def field_name(address: Instruction) -> str | None:
    """Return the name of the field whose address is computed, or None: clang calls the address by it."""
    name = source_name(address)
    if name is None:
        return None
    # No name of the source has a dot: what comes after one was added by a transform.
    name = name.partition(".")[0] or name
    if is_surely_readable(address.name):
        return name
    shortened = name.rstrip(_DIGITS)
    return shortened if shortened and not shortened.endswith("_") else name


def table_name(variable: GlobalVariable, kernel: str) -> str:
    """Return a program-scope variable's name: clang puts the kernel's before that of a local one."""
    return readable(variable.name.removeprefix("__const.").removeprefix(f"{kernel}.").lstrip("."))


def label_name(block: str) -> str:
    """Return the name of a label for a block."""
    return readable(block)


def is_counter(phi: Instruction) -> bool:
    """Return True if a phi is called `i`: the most frequent of counters, a name that LLVM could have made up."""
    return readable(phi.name).rstrip(_DIGITS) == "i"
