"""Shared by commands that read a kernel: lowering it, naming its file in messages about a place in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend.lower import lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType

_STARTS_WITH_POSITION = re.compile(r"\d+:\d+: ")
_IR_SUFFIXES = frozenset({".ll", ".bc"})
KERNEL_SUFFIXES = _IR_SUFFIXES | {".cl"}


def lower_file(path: Path, kernel: str | None, options: str, unit: TranslationUnit | None = None) -> Kernel:
    """Lower the kernel of a file, which may be compiled already. Raises as `lower` does, naming the file."""
    with naming_file(path):
        return lower(path, kernel, options) if unit is None else lower(unit, kernel)


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Put the file into refusals that only know line and column."""
    try:
        yield
    except RefusalError as refusal:
        position = refusal.position
        if position is None or position.file or is_ir_file(path):
            raise
        named = SourcePosition(position.line, position.column, str(path))
        raise RefusalError(refusal.code, refusal.reason, named) from refusal


def with_file(message: str, path: Path) -> str:
    """Put the file in front of a message that starts with line and column; return any other unchanged."""
    return f"{path}:{message}" if _STARTS_WITH_POSITION.match(message) and not is_ir_file(path) else message


def is_ir_file(path: Path) -> bool:
    """Return True if positions of the kernel are those of another file, from which this LLVM IR was made."""
    return path.suffix in _IR_SUFFIXES


_ARGUMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(-?[0-9]{1,18})\s*")


def whole_arguments(kernel: Kernel, words: Sequence[str]) -> dict[str, int]:
    """Return what was given to `--size`, by name. Raises InvalidInputError for what the kernel hasn't got."""
    names = [argument.name for argument in kernel.arguments if isinstance(argument.type, IntegerType)]
    found: dict[str, int] = {}
    for word in words:
        match = _ARGUMENT.fullmatch(word)
        if match is None:
            raise InvalidInputError(f"--size takes a name and a whole number, such as width=1024, not '{word}'")
        if match[1] not in names:
            near = did_you_mean(match[1], names)
            raise InvalidInputError(f"kernel {kernel.name} has no whole argument '{match[1]}'{near}")
        found[match[1]] = int(match[2])
    return found
