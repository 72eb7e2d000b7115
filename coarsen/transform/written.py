"""What the transforms write: blocks of text, and how operands and phis are spelled in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TypeVar, overload

from coarsen.ir.kernel import Instruction, Value, ValueKind
from coarsen.ir.printer import rename

Names = MutableMapping[str, str]
"""What a replica calls values and blocks (without `%`) and program-scope variables (with `@`)."""


_Default = TypeVar("_Default")


class Layered(Mapping[str, str]):
    """A few names over a table of names that is as long as the kernel, and not copied for each region."""

    def __init__(self, over: Mapping[str, str], under: Mapping[str, str]) -> None:
        self._over = over
        self._under = under

    def __getitem__(self, name: str) -> str:
        return self._over[name] if name in self._over else self._under[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._under, **self._over})

    def __len__(self) -> int:
        return len(self._under.keys() | self._over.keys())

    @overload
    def get(self, name: str, default: None = None, /) -> str | None: ...

    @overload
    def get(self, name: str, default: str | _Default, /) -> str | _Default: ...

    def get(self, name: str, default: object = None, /) -> object:
        """The name's own entry or a default, without the exceptions of the inherited method."""
        found = self._over.get(name)
        return self._under.get(name, default) if found is None else found


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
