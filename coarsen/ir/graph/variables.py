"""What the definition of a program-scope variable says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.ir.graph.operands import Variable
from coarsen.ir.graph.scanner import Scanner, constant_text
from coarsen.ir.types import PointerType, StructType, Type

_KINDS = frozenset({"global", "constant"})


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A program-scope variable: a constant table or a kernel's static local memory."""

    name: str
    value_type: Type
    address_space: int
    is_constant: bool
    initializer: str
    alignment: int


def name_in_source(variable: str, function: str | None = None) -> str:
    """Return a variable's name in the source: `tile` of `@kernel.tile`, as clang calls the kernel's local memory.

    Args:
        variable: its name in LLVM's text.
        function: whose local variables lose its name; None: the function is the first of several words.
    """
    name = variable.removeprefix("__const.")
    owner, dot, own = name.partition(".")
    if dot and own and owner == (owner if function is None else function):
        name = own
    return ".".join(word for word in name.lstrip(".").split(".") if not word.isdecimal()) or name


def global_variable(variable: Variable, structures: Mapping[str, StructType]) -> GlobalVariable:
    """Return what is known of a variable.

    Args:
        variable: whose definition is read: `internal addrspace(2) constant [2 x i32] [i32 1, i32 2], align 4`.
        structures: the module's named types.

    Raises:
        RefusalError: `unsupported-instruction`.
    """
    line = Scanner(variable.definition, structures)
    line.attributes(_KINDS)
    kind = line.word()
    value_type = line.type()
    is_external = not line.rest or line.rest.startswith(",")
    return GlobalVariable(
        name=variable.name,
        value_type=value_type,
        address_space=variable.type.address_space if isinstance(variable.type, PointerType) else 0,
        is_constant=kind == "constant",
        initializer="" if is_external else constant_text(line),
        alignment=_alignment(line),
    )


def _alignment(line: Scanner) -> int:
    """Read the alignment among a variable's properties, in bytes: 1 where none is written."""
    while line.take(","):
        if line.take("align "):
            return line.number()
        line.property()
    return 1
