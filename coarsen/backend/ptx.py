"""The PTX writer, through LLVM's NVPTX back end.

    ir.Kernel ─▶ builtins defined in LLVM IR ─▶ NVPTX's conventions ─▶ inlined, cleaned up ─▶ PTX

A launch of the result has no global offset. A comment at its top says what an argument stands for where that is
not what OpenCL C says. What PTX has no counterpart of is refused, with the code `ptx-unsupported`: images, printf,
and elementary functions in full precision, which on NVIDIA's devices are a library of their own (libdevice).
"""

from __future__ import annotations

import re

from coarsen.backend.builtin_library import FLOAT, scalar, with_definitions
from coarsen.backend.gpu_builtins import APPROXIMATED, gpu_library
from coarsen.backend.llvm_module import own_module, with_argument
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.instruction import Instruction, is_inline_assembly
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.modules import run_passes, target_machine
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import AddressSpace, PointerType, TargetType

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
    text = with_definitions(module_text(kernel.graph), gpu_library(relaxed), kernel.structures)
    _check_defined(kernel, text)
    machine = target_machine(_TRIPLE, architecture)
    with own_module(retargeted(text, kernel)) as module:
        module.triple = _TRIPLE
        module.data_layout = str(machine.target_data)
        run_passes(module, _PASSES, machine)
        assembly = str(machine.emit_assembly(module))
    return _header(kernel) + assembly.lstrip()


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


# Found by experiment with LLVM 22.1: these need a library that NVPTX hasn't got.
_INTRINSICS_WITHOUT_FORM = re.compile(
    r"llvm\.(?:a?(?:sin|cos|tan)h?|atan2|sincos|sincospi|exp|exp2|exp10|log|log2|log10|pow|powi|modf|l?lrint|l?lround)\."
)
_EVENT = 'target("spirv.Event")'
_APPROXIMATE_FLAGS = frozenset({"afn", "fast"})


def check_limits(kernel: Kernel) -> None:
    """Raise RefusalError, with the source position, for the first thing that has no counterpart in PTX."""
    for argument in kernel.arguments:
        if isinstance(argument.type, TargetType):
            _refuse(f"the argument '{argument.name}' of type {argument.type_name or argument.type}", None)
    for instruction in kernel.instructions():
        _check_instruction(instruction)


def relaxed_functions(kernel: Kernel) -> frozenset[str]:
    """Return the functions, by their mangled names, of which every call allows an approximation."""
    calls = [instruction for instruction in kernel.instructions() if instruction.callee]
    precise = {call.callee for call in calls if _APPROXIMATE_FLAGS.isdisjoint(call.flags)}
    return frozenset(call.callee for call in calls) - precise


def _check_instruction(instruction: Instruction) -> None:
    if isinstance(instruction.type, TargetType) and str(instruction.type) != _EVENT:
        _refuse(f"the type {instruction.type}", instruction)
    if instruction.opcode != "call":
        return
    if not instruction.callee:
        what = "inline assembly" if is_inline_assembly(instruction) else "a call through a pointer"
        _refuse(what, instruction)
    if _INTRINSICS_WITHOUT_FORM.match(instruction.callee):
        _refuse(f"the intrinsic {instruction.callee}", instruction)


def _refuse(what: str, instruction: Instruction | None) -> None:
    position = instruction.position if instruction else None
    raise RefusalError("ptx-unsupported", f"{what} has no counterpart in PTX", position)


# From SPIR's conventions in LLVM IR to NVPTX's, in a module's text.
#
#     spir_kernel, spir_func                     ptx_kernel, the C convention
#     address space 1 (global)                   1
#     address space 2 (constant)                 1, its loads marked as never changing
#     address space 3 (local)                    3 (shared)
#     address space 4 (generic), 0 (private)     0
#     local float* tile   (an argument)          i64 tile.offset: bytes from the start of dynamic shared memory
#
# Constant memory becomes global memory since a launch passes a plain buffer for a `constant` argument: PTX has no
# way to say that a buffer lies in a constant bank. Local arguments become offsets since a launch reserves the
# dynamic shared memory of all of them as one piece.

DYNAMIC_MEMORY = "dynamic_shared_memory"
_DYNAMIC_MEMORY_ALIGNMENT = 128  # the largest that an OpenCL type asks for
_CONVENTION = re.compile(r"\bspir_(kernel|func) ")
_CONSTANT_LOAD = re.compile(r"^(  %\S+ = load (?!volatile|atomic)[^\n]*ptr addrspace\(2\)[^\n]*)$", re.MULTILINE)
_SPACES = re.compile(r"ptr addrspace\(([24])\)|\baddrspace\(2\)")
_VOID_CAST = re.compile(r"addrspacecast (ptr(?: addrspace\(1\))?) (\S+) to \1(?=[\s,)]|$)", re.MULTILINE)
_VOID_CONSTANT_CAST = re.compile(r"addrspacecast \((ptr(?: addrspace\(1\))?) (@[\w.$]+) to \1\)")


def local_arguments(kernel: Kernel) -> tuple[Argument, ...]:
    """Return the arguments that point to local memory whose size the launch decides."""
    return tuple(a for a in kernel.arguments if a.type == PointerType(AddressSpace.LOCAL))


def retargeted(text: str, kernel: Kernel) -> str:
    """Return the module's text in NVPTX's conventions; the triple and the data layout are left to the caller."""
    text = _with_local_offsets(text, kernel)
    text = _CONSTANT_LOAD.sub(r"\1, !invariant.load !{}", text)
    text = _CONVENTION.sub(lambda match: "ptx_kernel " if match[1] == "kernel" else "", text)
    text = _SPACES.sub(_space, text)
    text = _VOID_CONSTANT_CAST.sub(r"\2", text)
    return _VOID_CAST.sub(r"bitcast \1 \2 to \1", text).replace(_EVENT, "i64")


def _space(match: re.Match[str]) -> str:
    if match[1] == "4":
        return "ptr"
    return match.group().replace("addrspace(2)", "addrspace(1)")


def _with_local_offsets(text: str, kernel: Kernel) -> str:
    arguments = local_arguments(kernel)
    if not arguments:
        return text
    signature = next(
        line for line in text.splitlines() if line.startswith("define ") and f"@{kernel.name}(" in line
    )
    changed = signature
    addresses = ""
    for argument in arguments:
        changed = with_argument(changed, argument, f"i64 %{argument.name}.offset")
        memory = f"ptr addrspace(3) @{DYNAMIC_MEMORY}, i64 %{argument.name}.offset"
        addresses += f"  %{argument.name} = getelementptr i8, {memory}\n"
    entry = f"{kernel.blocks[0].name}:\n"
    text = text.replace(f"{signature}\n{entry}", f"{changed}\n{entry}{addresses}", 1)
    return _insert_variable(text)


def _insert_variable(text: str) -> str:
    """Declare the dynamic shared memory, before the first function."""
    variable = f"@{DYNAMIC_MEMORY} = external addrspace(3) global [0 x i8], align {_DYNAMIC_MEMORY_ALIGNMENT}\n\n"
    position = re.search(r"^(?:define|declare) ", text, re.MULTILINE)
    assert position is not None
    return text[: position.start()] + variable + text[position.start() :]
