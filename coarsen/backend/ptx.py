"""The PTX writer, through LLVM's NVPTX back end.

    ir.Kernel ─▶ builtins defined in LLVM IR ─▶ NVPTX's conventions ─▶ inlined, cleaned up ─▶ PTX

A launch of the result has no global offset. A comment at its top says what an argument stands for where that is
not what OpenCL C says. What PTX has no counterpart of is refused, with the code `ptx-unsupported`: images, printf,
and elementary functions in full precision, which on NVIDIA's devices are a library of their own (libdevice).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from coarsen.backend.atomic_builtins import atomic_body
from coarsen.backend.body import FLOAT, Body
from coarsen.backend.builtin_library import Declaration, Library, scalar, with_definitions
from coarsen.backend.llvm_module import own_module
from coarsen.backend.ptx_approximations import NAMES as APPROXIMATED
from coarsen.backend.ptx_approximations import approximation_body
from coarsen.backend.ptx_conversions import conversion_body
from coarsen.backend.ptx_copies import copy_body
from coarsen.backend.ptx_floats import float_body
from coarsen.backend.ptx_integers import integer_body
from coarsen.backend.ptx_limits import check_limits, relaxed_functions
from coarsen.backend.ptx_parts import parts_body
from coarsen.backend.ptx_retarget import DYNAMIC_MEMORY, local_arguments, retargeted
from coarsen.backend.ptx_vectors import vector_body
from coarsen.backend.ptx_work_items import work_item_body
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.modules import run_passes, target_machine
from coarsen.ir.opencl.names import builtin_name

DEFAULT_ARCHITECTURE = "sm_75"
_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?$")
_TRIPLE = "nvptx64-nvidia-cuda"
_PASSES = (
    *("always_inliner", "global_dead_code_eliminate", "strip_dead_prototype"),
    *("sroa", "instruction_combine", "simplify_cfg", "aggressive_dce"),
)
_NATIVE = {
    **{name: f"native_{name}" for name in ("sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10")},
    "pow": "native_powr",
    "powr": "native_powr",
}
_BODIES = (work_item_body, integer_body, float_body, parts_body, conversion_body, vector_body, copy_body)


def write_ptx(kernel: Kernel, architecture: str = DEFAULT_ARCHITECTURE, *, approximate: bool = False) -> str:
    """Return a kernel as PTX text.

    Args:
        kernel: the kernel, in normal form.
        architecture: NVIDIA's name of a compute capability, `sm_90` for one.
        approximate: whether elementary functions may be approximated whatever the build options say.

    Raises:
        RefusalError: the kernel uses what PTX has no counterpart of.
        InvalidInputError: there is no such architecture.
    """
    if not _ARCHITECTURE.match(architecture):
        raise InvalidInputError(f"'{architecture}' is not an architecture of NVIDIA's, such as sm_75")
    check_limits(kernel)
    relaxed = frozenset(i.callee for i in kernel.instructions()) if approximate else relaxed_functions(kernel)
    text = with_definitions(module_text(kernel.graph), _library(relaxed), kernel.structures)
    _check_defined(kernel, text)
    machine = target_machine(_TRIPLE, architecture)
    with own_module(retargeted(text, kernel)) as module:
        module.triple = _TRIPLE
        module.data_layout = str(machine.target_data)
        run_passes(module, _PASSES, machine)
        assembly = str(machine.emit_assembly(module))
    return _header(kernel) + assembly.lstrip()


def _library(relaxed: frozenset[str]) -> Library:
    """Return what defines builtins; `relaxed` names the functions (mangled) that may be approximated."""

    def define(declaration: Declaration) -> Iterable[str] | None:
        approximated = approximation_body(Body(declaration), relaxed=declaration.name in relaxed)
        if approximated is not None:
            return approximated
        for write in _BODIES:
            body = write(Body(declaration))
            if body is not None:
                return body
        return atomic_body(declaration)

    return define


def _check_defined(kernel: Kernel, text: str) -> None:
    defined = set(re.findall(r"^define [^\n@]*@([\w.$]+)", text, re.MULTILINE))
    for instruction in kernel.instructions():
        callee = instruction.callee
        if callee and callee not in defined and not callee.startswith("llvm."):
            raise RefusalError("ptx-unsupported", _reason(instruction), instruction.position)


def _reason(call: Instruction) -> str:
    function = builtin_name(call.callee)
    if function not in APPROXIMATED:
        return f"{function} has no counterpart in PTX"
    if scalar(call.type) != FLOAT:
        return f"{function} on {scalar(call.type)} has no counterpart in PTX without NVIDIA's libdevice"
    native = f"use {_NATIVE[function]} or " if function in _NATIVE else ""
    remedy = f"{native}build with -cl-fast-relaxed-math"
    return f"{function} has no counterpart in PTX without NVIDIA's libdevice; {remedy}"


def _header(kernel: Kernel) -> str:
    lines = [f"// {kernel.name}: a launch has no global offset."]
    local = local_arguments(kernel)
    if local:
        names = ", ".join(argument.name for argument in local)
        lines.append(f"// In place of {names}: bytes from the start of {DYNAMIC_MEMORY}, 0 for the first.")
    return "\n".join(lines) + "\n"
