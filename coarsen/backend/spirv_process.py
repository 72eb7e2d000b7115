"""LLVM's SPIR-V back end in a process of its own: `python spirv_process.py TRIPLE`, module text in, words out.

The back end keeps a table of blocks and types from one module to the next, by addresses that are used again: of
a process's later modules some come out with a label that has a type's id, and crash the device's compiler. What
the back end can't take makes it abort, which must not take the user's program with it either.

The optimisation level is 0: above it, LLVM 22 narrows an `and` of a truncated value to operands of two widths.
"""

from __future__ import annotations

import os
import sys

import llvmlite.binding as llvm


def _emit(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(sys.stdin.read())
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as output:  # unlike sys.stdout, buffered in any case
        output.write(machine.emit_object(module))


if __name__ == "__main__":
    _emit(sys.argv[1])
