"""LLVM's AMDGPU back end in a process of its own: `python amdgpu_process.py CHIP`, module text in, assembly out.

The module is optimised as a driver's compiler would (LLVM's -O2). What the back end can't select makes it abort.
"""

from __future__ import annotations

import os
import sys

import llvmlite.binding as llvm

_OPTIMISATION_LEVEL = 2


def _emit(chip: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(sys.stdin.read())
    module.verify()
    target = llvm.Target.from_triple(module.triple)
    machine = target.create_target_machine(cpu=chip, opt=_OPTIMISATION_LEVEL)
    machine.set_asm_verbosity(True)  # for the comments on registers
    options = llvm.create_pipeline_tuning_options(speed_level=_OPTIMISATION_LEVEL)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    with os.fdopen(sys.stdout.fileno(), "w", closefd=False) as output:  # unlike sys.stdout, buffered in any case
        output.write(machine.emit_assembly(module))


if __name__ == "__main__":
    _emit(sys.argv[1])
