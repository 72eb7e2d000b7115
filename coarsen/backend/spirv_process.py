"""LLVM's SPIR-V back end in a process of its own: `python spirv_process.py TRIPLE`, module text in, words out.

The back end keeps a table of blocks and types from one module to the next, by addresses that are used again: of
a process's later modules some come out with a label that has a type's id, and crash the device's compiler. What
the back end can't take makes it abort, which must not take the user's program with it either.

The optimisation level is 0: above it, LLVM 22 narrows an `and` of a truncated value to operands of two widths.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm

_TIME_LIMIT_SECONDS = 300


def emit_in_process(assembly: str, triple: str) -> bytes:
    """The SPIR-V words of a module.

    Args:
        assembly: LLVM IR text.
        triple: the target, `spirv64v1.2-unknown-unknown` for one.

    Raises:
        ValueError: with the back end's last words, if it gave up.
    """
    # -P: the script's folder must not come before the standard library.
    command = [sys.executable, "-P", str(Path(__file__)), triple]
    result = subprocess.run(
        command, input=assembly.encode(), capture_output=True, check=False, timeout=_TIME_LIMIT_SECONDS
    )
    if result.returncode != 0:
        raise ValueError(_reason(result.stderr.decode(errors="replace")))
    return result.stdout


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()]
    return next(iter(telling or lines[-1:]), "it stopped without a word")


def _emit(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(sys.stdin.read())
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    sys.stdout.buffer.write(machine.emit_object(module))


if __name__ == "__main__":
    _emit(sys.argv[1])
