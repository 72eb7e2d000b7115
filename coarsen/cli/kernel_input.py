"""Shared by commands that read a kernel: lowering it, naming its file in messages about a place in it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType
from coarsen.loops import SUFFIX as C_SUFFIX

_STARTS_WITH_POSITION = re.compile(r"\d+:\d+: ")
_IR_SUFFIXES = frozenset({".ll", ".bc"})
KERNEL_SUFFIXES = _IR_SUFFIXES | {".cl", C_SUFFIX}


def lower_file(path: Path, kernel: str | None, options: str, unit: TranslationUnit | None = None) -> Kernel:
    """Lower the kernel of a file, which may be compiled already. Raises as `lower` does, naming the file."""
    with naming_file(path):
        return lower(unit or unit_of(path, kernel, options), kernel)


def unit_of(path: Path, kernel: str | None, options: str, macros: DeviceMacros = PORTABLE) -> TranslationUnit:
    """Compile a kernel's file; of a C file the kernels that the loops of a function become.

    Args:
        path: the file.
        kernel: the name of one of its kernels; None for all. It tells which function of a C file is meant.
        options: for the compiler; of a C file, for that of C.
        macros: what a kernel may ask for about the device.

    Raises:
        InvalidInputError: the file can't be read.
        RefusalError: a C function's loops are none that kernels can be made of.
    """
    if path.suffix != C_SUFFIX:
        return compile_source(path, options, macros)
    # Imported late: most kernels are OpenCL C.
    from coarsen.loops import read_program

    return compile_source(read_program(path, kernel, shlex.split(options)).text, (), macros)


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Put the file into refusals that only know line and column."""
    try:
        yield
    except RefusalError as refusal:
        position = refusal.position
        if position is None or position.file or is_ir_file(path):
            raise
        named = SourcePosition(position.line, position.column, _shown(path))
        raise RefusalError(refusal.code, refusal.reason, named) from refusal


def with_file(message: str, path: Path) -> str:
    """Put the file in front of a message that starts with line and column; return any other unchanged."""
    return (
        f"{_shown(path)}:{message}" if _STARTS_WITH_POSITION.match(message) and not is_ir_file(path) else message
    )


def _shown(path: Path) -> str:
    """The file that lines are counted in."""
    return f"kernels of {path}" if path.suffix == C_SUFFIX else str(path)


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
