"""A kernel as assembly for one of AMD's GCN chips, through LLVM's AMDGPU back end: to read its registers from.

    ir.Kernel ─▶ builtins defined in LLVM IR ─▶ GCN's conventions ─▶ -O2, assembly in a process of its own

Nothing runs it: `amdgpu_builtins.py` says what is only close. Refused, with the code `registers-unsupported`:
images, printf, elementary functions on doubles, builtins that the PTX writer has not either, and pointers that
stay generic on chips that have none.
"""

from __future__ import annotations

import re
from pathlib import Path

from coarsen.backend.amdgpu_builtins import amdgpu_library
from coarsen.backend.amdgpu_retarget import retargeted
from coarsen.backend.builtin_library import with_definitions
from coarsen.backend.llvm_module import own_module
from coarsen.backend.processes import output_of_script
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.modules import run_passes, target_machine
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import TargetType

# Southern, Sea and Volcanic Islands: wavefronts of 64, as many registers and places for wavefronts.
CHIPS = ("tahiti", "pitcairn", "verde", "oland", "hainan", "bonaire", "hawaii", "tonga", "fiji")
_SCRIPT = Path(__file__).with_name("amdgpu_process.py")
_TRIPLE = "amdgcn--"
_TIME_LIMIT_SECONDS = 60.0
_INLINING = ("always_inliner", "global_dead_code_eliminate", "strip_dead_prototype")
_EVENT = 'target("spirv.Event")'


def amdgpu_assembly(kernel: Kernel, chip: str) -> str:
    """Return a kernel in assembly, with the back end's comments on the registers.

    Args:
        kernel: the kernel, in normal form.
        chip: one of `CHIPS`.

    Raises:
        RefusalError: the kernel uses what has no form here, or what the back end gives up on.
        InvalidInputError: there is no such chip.
    """
    if chip not in CHIPS:
        raise InvalidInputError(f"there is no GCN chip '{chip}'; there is: {', '.join(CHIPS)}")
    _refuse_opaque_types(kernel)
    text = with_definitions(module_text(kernel.graph), amdgpu_library, kernel.structures)
    _refuse_undefined(kernel, text)
    with own_module(retargeted(text, kernel)) as module:
        machine = target_machine(_TRIPLE, chip)
        module.triple = _TRIPLE
        module.data_layout = str(machine.target_data)
        run_passes(module, _INLINING, machine)
        assembly = str(module)
    try:
        return output_of_script(_SCRIPT, [chip], assembly, _TIME_LIMIT_SECONDS).decode()
    except ValueError as error:
        raise RefusalError("registers-unsupported", f"LLVM's AMDGPU back end gave up: {error}") from None


def _refuse_opaque_types(kernel: Kernel) -> None:
    for argument in kernel.arguments:
        if isinstance(argument.type, TargetType):
            _refuse(f"the argument '{argument.name}' of type {argument.type_name or argument.type}")
    for instruction in kernel.instructions():
        if isinstance(instruction.type, TargetType) and str(instruction.type) != _EVENT:
            _refuse(f"the type {instruction.type}", instruction)


def _refuse_undefined(kernel: Kernel, text: str) -> None:
    defined = set(re.findall(r"^define [^\n@]*@([\w.$]+)", text, re.MULTILINE))
    for instruction in kernel.instructions():
        callee = instruction.callee
        if callee and callee not in defined and not callee.startswith("llvm."):
            _refuse(f"{builtin_name(callee)}", instruction)


def _refuse(what: str, instruction: Instruction | None = None) -> None:
    position = instruction.position if instruction else None
    raise RefusalError("registers-unsupported", f"{what} has no form on AMD's GCN here", position)
