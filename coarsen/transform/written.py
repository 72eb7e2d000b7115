"""What the transforms write: blocks of text, and how operands and phis are spelled in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass

from coarsen.ir.kernel import Instruction, Value, ValueKind
from coarsen.ir.printer import rename

Names = MutableMapping[str, str]
"""What a replica calls values and blocks (without `%`) and program-scope variables (with `@`)."""


@dataclass(frozen=True, slots=True)
class WrittenBlock:
    """A block of the coarsened kernel: its name and its instructions' texts."""

    name: str
    lines: tuple[str, ...]


def spelling(value: Value, names: Mapping[str, str]) -> str:
    """An operand's text, without its type, for one replica."""
    if value.is_local:
        return names.get(value.text, "%" + value.text)
    if value.kind in (ValueKind.GLOBAL, ValueKind.FUNCTION):
        return names.get("@" + value.text, "@" + value.text)
    return rename(value.text, names)


def phi_line(name: str, phi: Instruction, incoming: Iterable[tuple[str, str]]) -> str:
    """A phi of a kernel under another name (with `%`), from pairs of a value and a block (both with `%`)."""
    pairs = ", ".join(f"[ {value}, {block} ]" for value, block in incoming)
    return f"{name} = phi {phi.type} {pairs}"
