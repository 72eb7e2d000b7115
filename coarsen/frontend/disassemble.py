"""From LLVM bitcode to assembly, in a process of its own.

LLVM checks what bitcode says by assertions too: a damaged file may end the process that reads it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import llvmlite.binding as llvm

from coarsen.errors import InvalidInputError
from coarsen.ir.modules import bitcode_module, reason
from coarsen.ir.processes import output_of_script


def disassemble(content: bytes, path: Path) -> str:
    """Return the assembly of a bitcode module.

    Args:
        content: of the file.
        path: of the file, for messages.

    Raises:
        InvalidInputError: this LLVM can't read it: it is damaged, or of a newer LLVM.
    """
    try:
        return output_of_script(Path(__file__), [], content).decode()
    except ValueError as error:
        version = llvm.llvm_version_info[0]
        raise InvalidInputError(f"{path}: bitcode that LLVM {version} can't read ({error})") from None


def _main() -> None:
    """Read bitcode from standard input and write assembly to standard output."""
    try:
        with bitcode_module(sys.stdin.buffer.read()) as module:
            text = str(module)
    except RuntimeError as error:
        sys.exit(reason(error))
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as output:  # buffered, unlike sys.stdout may be
        output.write(text.encode())


if __name__ == "__main__":
    _main()
