"""A kernel as assembly for one of AMD's GCN chips, through LLVM's AMDGPU back end: to read its registers from.

    ir.Kernel ─▶ builtins defined in LLVM IR ─▶ GCN's conventions ─▶ -O2, assembly in a process of its own

Nothing runs it, so that what is close will do. Refused, with the code `registers-unsupported`:
images, printf, elementary functions on doubles, builtins that the PTX writer has not either, and pointers that
stay generic on chips that have none.
"""

from __future__ import annotations

import re
from pathlib import Path

from coarsen.backend.builtin_library import with_definitions
from coarsen.backend.gpu_builtins import Gpu, gpu_library, intrinsic
from coarsen.backend.llvm_module import own_module, with_argument
from coarsen.backend.processes import output_of_script
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.printer import module_text, signature_text
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.modules import run_passes, target_machine
from coarsen.ir.opencl.queries import builtin_name
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


# OpenCL's builtins for AMD's GCN, to count a kernel's registers: what is close does for what is exact.
#
# Ids come in registers; sizes are read from the place that Mesa's launches put them, scalar loads as elsewhere,
# and there is no global offset. Elementary functions on floats are the hardware's own instructions, also where
# OpenCL demands more precision: AMD's library takes a few registers more, and scratch memory for large arguments
# of sine.
#
# By hand since nothing runs: registers alone are counted, for which libclc's 8 MB need not be read
# (`docs/explanation/own-builtins.md`).

_GCN = Gpu(
    sine=intrinsic("sin.f32"),  # a multiplication, and the instruction, which takes turns
    cosine=intrinsic("cos.f32"),
    power_of_two=intrinsic("amdgcn.exp2.f32"),
    logarithm=intrinsic("amdgcn.log.f32"),
    quotient=lambda x, y: x * intrinsic("amdgcn.rcp.f32")(y),
    root=intrinsic("amdgcn.sqrt.f32"),
    reciprocal_root=intrinsic("amdgcn.rsq.f32"),
    local_id="amdgcn.workitem.id",
    group_id="amdgcn.workgroup.id",
    local_size="r600.read.local.size",
    group_count="r600.read.ngroups",
    barrier=(
        'fence syncscope("workgroup") release',
        "call void @llvm.amdgcn.s.barrier()",
        'fence syncscope("workgroup") acquire',
    ),
    fence='fence syncscope("workgroup") acq_rel',
)
amdgpu_library = gpu_library(_GCN, is_relaxed=lambda _declaration: True)


# From SPIR's conventions in LLVM IR to those of AMD's GCN, in a module's text.
#
#     spir_kernel, spir_func                     amdgpu_kernel, the C convention
#     address space 0 (private)                  5
#     address space 2 (constant)                 4
#     address space 4 (generic)                  0
#     1 (global), 3 (local)                      the same
#     alloca T                                   alloca T, addrspace(5)
#     ptr byval(%S) %s   (an argument)           ptr addrspace(4) byref(%S) %s.passed, copied to a variable %s
#     syncscope("device")                        syncscope("agent")
#     frame pointers, kept for debuggers         none
#
# A work-group has at most as many work-items as the kernel demands, else 256, AMD's limit on GCN.

_LARGEST_WORK_GROUP = 256
_SPACES = {"0": "5", "2": "4", "4": "0"}
# Not in strings, names and labels.
_POINTER = re.compile(
    r'(?P<string>"[^"\n]*")|(?<![%@.\w-])ptr(?! addrspace|[-\w$.:])|\baddrspace\((?P<space>\d)\)'
)
_OVERLOADED = re.compile(r"(?<=@llvm\.)[\w.]+(?=\()")
_POINTER_SUFFIX = re.compile(r"(?<=\.p)[024](?=\.|$)")
_ALLOCA = re.compile(r"^(  %\S+ = alloca [^\n]*)$", re.MULTILINE)
_CONVENTION = re.compile(r"\bspir_(kernel|func) ")
_FRAME_POINTER = re.compile(r' "frame-pointer"="\w+"')
_FLAGS = re.compile(r"^!llvm\.module\.flags = [^\n]*\n", re.MULTILINE)
_BY_VALUE = re.compile(r"byval\((?P<type>[^()]+)\)")
_AFTER_PARAMETERS = re.compile(r"\)((?: local_unnamed_addr| unnamed_addr)?)(?=[^()]*$)")
_SCOPES = {'syncscope("device")': 'syncscope("agent")', 'syncscope("all_svm_devices") ': ""}


def retargeted(text: str, kernel: Kernel) -> str:
    """Return the module's text in GCN's conventions; the triple and the data layout are left to the caller."""
    text = _with_own_signature(text, kernel)
    text = _CONVENTION.sub(lambda match: "amdgpu_kernel " if match[1] == "kernel" else "", text)
    text = _FLAGS.sub("", _FRAME_POINTER.sub("", text))
    text = _ALLOCA.sub(r"\1, addrspace(0)", text)
    text = _POINTER.sub(_renumbered, text)
    text = _OVERLOADED.sub(_renamed, text)
    for scope, counterpart in _SCOPES.items():
        text = text.replace(scope, counterpart)
    return text.replace(_EVENT, "i64")


def _renumbered(match: re.Match[str]) -> str:
    if match["string"]:
        return match["string"]
    space = match["space"]
    return f"addrspace({_SPACES.get(space, space)})" if space else "ptr addrspace(5)"


def _renamed(match: re.Match[str]) -> str:
    """An intrinsic's name, which ends with the address spaces that it works on."""
    return _POINTER_SUFFIX.sub(lambda space: _SPACES[space.group()], match.group())


def _with_own_signature(text: str, kernel: Kernel) -> str:
    """The kernel with the size of its work-groups, and its own copies of structures passed by value."""
    own = f"{signature_text(kernel.graph.function(kernel.name))} {{"
    signature, copies = own, ""
    for argument in kernel.arguments:
        passed = _BY_VALUE.search(argument.attributes)
        if passed is not None:
            signature = with_argument(signature, argument, _by_reference(argument))
            copies += _copied(argument.name, passed["type"])
    entry = f"{kernel.blocks[0].name}:\n"
    return text.replace(f"{own}\n{entry}", f"{_with_limit(signature, kernel)}\n{entry}{copies}", 1)


def _with_limit(signature: str, kernel: Kernel) -> str:
    required = kernel.required_work_group_size
    most = required[0] * required[1] * required[2] if required else _LARGEST_WORK_GROUP
    limit = f'"amdgpu-flat-work-group-size"="{most if required else 1},{most}"'
    return _AFTER_PARAMETERS.sub(rf")\1 {limit}", signature, count=1)


def _by_reference(argument: Argument) -> str:
    """A structure that arrives in constant memory."""
    arriving = argument.attributes.replace("ptr ", "ptr addrspace(2) ", 1).replace("byval(", "byref(")
    return f"{arriving}.passed"


def _copied(name: str, type_: str) -> str:
    copy = f"  %{name} = alloca {type_}, align 16\n"
    copy += f"  %{name}.passed.whole = load {type_}, ptr addrspace(2) %{name}.passed, align 4\n"
    return copy + f"  store {type_} %{name}.passed.whole, ptr %{name}, align 4\n"
