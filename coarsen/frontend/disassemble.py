"""From LLVM bitcode to assembly, in a process of its own.

LLVM checks what bitcode says by assertions too: a damaged file may end the process that reads it.
"""

from __future__ import annotations

import os
import subprocess
import sys

import llvmlite.binding as llvm

from coarsen.errors import InvalidInputError
from coarsen.ir.modules import bitcode_module, reason

_TIME_LIMIT_SECONDS = 120


def disassemble(content: bytes) -> str:
    """Return the assembly of a bitcode module.

    Raises:
        InvalidInputError: this LLVM can't read it: it is damaged, or of a newer LLVM.
    """
    command = [sys.executable, "-m", "coarsen.frontend.disassemble"]
    try:
        result = subprocess.run(
            command, input=content, capture_output=True, check=False, timeout=_TIME_LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise InvalidInputError(_message("it takes too long")) from None
    if result.returncode != 0:
        said = result.stderr.decode(errors="replace").strip().splitlines()
        raise InvalidInputError(_message(said[-1] if said and result.returncode == 1 else "it is damaged"))
    return result.stdout.decode()


def _message(why: str) -> str:
    return f"bitcode that LLVM {llvm.llvm_version_info[0]} can't read ({why})"


def _main() -> int:
    """Read bitcode from standard input and write assembly to standard output."""
    try:
        with bitcode_module(sys.stdin.buffer.read()) as module:
            text = str(module)
        with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as output:  # buffered, unlike sys.stdout may be
            output.write(text.encode())
    except RuntimeError as error:
        sys.stderr.write(reason(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
