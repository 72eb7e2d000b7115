"""The PTX writer, through LLVM's NVPTX back end.

    ir.Kernel ─▶ builtins defined in LLVM IR ─▶ NVPTX's conventions ─▶ inlined, cleaned up ─▶ PTX

A launch of the result has no global offset. A comment at its top says what an argument stands for where that is
not what OpenCL C says. What PTX has no counterpart of is refused, with the code `ptx-unsupported`: images, printf,
and elementary functions in full precision, which on NVIDIA's devices are a library of their own (libdevice).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import partial

from coarsen.backend.builtin_library import FLOAT, I32, Body, Declaration, Item, Library, with_definitions
from coarsen.backend.builtin_memory import atomic_body, copy_body, vector_body
from coarsen.backend.builtin_numbers import conversion_body, number_body
from coarsen.backend.llvm_module import own_module, with_argument
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.instruction import Instruction, is_inline_assembly
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.modules import run_passes, target_machine
from coarsen.ir.opencl.builtins import Reach, Role, builtin_named
from coarsen.ir.opencl.queries import Query, builtin_name, linear_id, query_named
from coarsen.ir.types import AddressSpace, PointerType, TargetType, scalar

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


def write_ptx(kernel: Kernel, architecture: str = DEFAULT_ARCHITECTURE) -> str:
    """Return a kernel as PTX text.

    Args:
        kernel: the kernel, in normal form.
        architecture: NVIDIA's name of a compute capability, `sm_90` for one.

    Raises:
        RefusalError: the kernel uses what PTX has no counterpart of.
        InvalidInputError: there is no such architecture.
    """
    if not _ARCHITECTURE.match(architecture):
        raise InvalidInputError(f"'{architecture}' is not an architecture of NVIDIA's, such as sm_75")
    check_limits(kernel)
    library = gpu_library(relaxed_functions(kernel))
    text = with_definitions(module_text(kernel.graph), library, kernel.structures)
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
    text = _with_local_offsets(text, kernel) + _demanded_size(kernel)
    text = _CONSTANT_LOAD.sub(r"\1, !invariant.load !{}", text)
    text = _CONVENTION.sub(lambda match: "ptx_kernel " if match[1] == "kernel" else "", text)
    text = _SPACES.sub(_space, text)
    text = _VOID_CONSTANT_CAST.sub(r"\2", text)
    return _VOID_CAST.sub(r"bitcast \1 \2 to \1", text).replace(_EVENT, "i64")


def _demanded_size(kernel: Kernel) -> str:
    """The metadata that lets PTX demand a kernel's local size (`.reqntid`); empty where it demands none."""
    size = kernel.required_work_group_size
    if size is None:
        return ""
    node = str(1 + max((int(key) for key in kernel.metadata if key.isdigit()), default=-1))
    extents = ", ".join(f'!"reqntid{axis}", i32 {extent}' for axis, extent in zip("xyz", size, strict=True))
    return f"\n!nvvm.annotations = !{{!{node}}}\n!{node} = !{{ptr @{kernel.name}, {extents}}}\n"


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


# OpenCL's builtins for GPU targets: ids and synchronisation, elementary functions, and what is exact anyway.
#
# In single precision a GPU computes 2^x, log2 x, sine, cosine, quotient and roots by one instruction each, to some
# 22 bits; the other functions follow from those. A launch has no global offset: a global id is
# `group id · group size + local id`, and the offset is 0.
#
# By hand since libclc leaves ids and barriers undefined for PTX, or needs NVIDIA's libdevice with them, and calls
# LLVM's intrinsics for elementary functions, `llvm.exp.f32` for one, at which the NVPTX back end ends the process
# (`docs/explanation/own-builtins.md`).

_AXES = "xyz"
_APPROXIMATIONS = ("native_", "half_")
_BODIES = (number_body, conversion_body, vector_body, copy_body)
Function = Callable[..., Item]


def _intrinsic(name: str) -> Function:
    return lambda x, *others: x.body.call(FLOAT, f"llvm.nvvm.{name}", x, *others)


# What an NVIDIA GPU computes itself, on floats, and the registers that it has for a work-item.
_SINE, _COSINE = _intrinsic("sin.approx.f"), _intrinsic("cos.approx.f")
_POWER_OF_TWO, _LOGARITHM = _intrinsic("ex2.approx.f"), _intrinsic("lg2.approx.f")
_QUOTIENT = _intrinsic("div.approx.f")
_ROOT, _RECIPROCAL_ROOT = _intrinsic("sqrt.approx.f"), _intrinsic("rsqrt.approx.f")
_LOCAL_ID, _GROUP_ID, _LOCAL_SIZE, _GROUP_COUNT = "tid", "ctaid", "ntid", "nctaid"


def gpu_library(relaxed: frozenset[str]) -> Library:
    """Return what defines builtins for PTX; those of some mangled names may be approximated."""

    def define(declaration: Declaration) -> Iterable[str] | None:
        found = _approximation_body(Body(declaration), relaxed=declaration.name in relaxed)
        found = _work_item_body(Body(declaration)) if found is None else found
        if found is None:
            found = next(filter(None, (write(Body(declaration)) for write in _BODIES)), None)
        return atomic_body(declaration) if found is None else found

    return define


# Elementary functions on floats.


def _approximation_body(body: Body, *, relaxed: bool) -> list[str] | None:
    """Return the body of an elementary function on floats; None for others, and for precise ones."""
    name = body.declaration.builtin
    for prefix in _APPROXIMATIONS:
        if name.startswith(prefix):
            name, relaxed = name.removeprefix(prefix), True
    if not relaxed or name not in APPROXIMATED or scalar(body.parameters[0].type) != FLOAT:
        return None
    if name == "sincos":
        return _sine_and_cosine(body)
    return body.returned(body.by_element(_ELEMENTARY[name], body.declaration.result, *body.operands))


def _sine_and_cosine(body: Body) -> list[str]:
    angle, pointer = body.parameters
    body.store(body.by_element(_COSINE, angle.type, angle), pointer, 4)
    return body.returned(body.by_element(_SINE, angle.type, angle))


def _hyperbolic_tangent(x: Item) -> Item:
    """1 − 2 / (e^2x + 1)."""
    grown = _POWER_OF_TWO(x * 2.0 * math.log2(math.e))
    return x.like(1) - _QUOTIENT(x.like(2), grown + 1)


_ELEMENTARY: dict[str, Function] = {
    "sin": _SINE,
    "cos": _COSINE,
    "tan": lambda x: _QUOTIENT(_SINE(x), _COSINE(x)),
    "sinpi": lambda x: _SINE(x * math.pi),
    "cospi": lambda x: _COSINE(x * math.pi),
    "exp": lambda x: _POWER_OF_TWO(x * math.log2(math.e)),
    "exp2": _POWER_OF_TWO,
    "exp10": lambda x: _POWER_OF_TWO(x * math.log2(10)),
    "log": lambda x: _LOGARITHM(x) * (1 / math.log2(math.e)),
    "log2": _LOGARITHM,
    "log10": lambda x: _LOGARITHM(x) * (1 / math.log2(10)),
    **dict.fromkeys(("pow", "powr"), lambda x, y: _POWER_OF_TWO(y * _LOGARITHM(x))),
    "sqrt": _ROOT,
    "rsqrt": _RECIPROCAL_ROOT,
    "recip": lambda x: _QUOTIENT(x.like(1), x),
    "divide": _QUOTIENT,
    "hypot": lambda x, y: _ROOT(x * x + y * y),
    "tanh": _hyperbolic_tangent,
}
APPROXIMATED = frozenset({*_ELEMENTARY, "sincos"})


# Work-items.


def _work_item_body(body: Body) -> list[str] | None:
    """Return the body of a work-item function, a barrier, a fence or a copy by the work-group; None for others."""
    name = body.declaration.builtin
    known, query = builtin_named(name), query_named(name)
    if query in _ANSWERS:
        return body.returned(_ANSWERS[query](body))
    if known.is_convergent and known.writes is Reach.EVERYTHING:
        body.do("call void @llvm.nvvm.barrier0()")
    elif known.role is Role.FENCE:
        body.do("call void @llvm.nvvm.membar.gl()")
    elif name != "prefetch":
        return None
    return body.returned()


def _along(body: Body, register: str, dimension: int) -> Item:
    """A register's value along a dimension, of the type that the queried function returns."""
    read = body.call(I32, f"llvm.nvvm.read.ptx.sreg.{register}.{_AXES[dimension]}")
    return read.cast("zext", body.declaration.result)  # none where a size_t has 32 bits


def _asked(body: Body, register: str, outside: int) -> Item:
    """A register's value along the dimension that was asked about; `outside` for one above 2."""
    value = Item(body, body.declaration.result, str(outside))
    for number in range(len(_AXES)):
        is_meant = body.parameters[0].compared("eq", Item(body, I32, str(number)))
        value = value.unless(is_meant, _along(body, register, number))
    return value


def _linear(place: Callable[[int], Item], size: Callable[[int], Item]) -> Item:
    return linear_id(place, size, Item.__mul__, Item.__add__)


def _global_linear_id(body: Body) -> Item:
    along = partial(_along, body)
    return _linear(
        lambda d: along(_GROUP_ID, d) * along(_LOCAL_SIZE, d) + along(_LOCAL_ID, d),
        lambda d: along(_GROUP_COUNT, d) * along(_LOCAL_SIZE, d),
    )


_SIZE: Callable[[Body], Item] = partial(_asked, register=_LOCAL_SIZE, outside=1)
_GROUP: Callable[[Body], Item] = partial(_asked, register=_GROUP_ID, outside=0)
_GROUPS: Callable[[Body], Item] = partial(_asked, register=_GROUP_COUNT, outside=1)
_ITEM: Callable[[Body], Item] = partial(_asked, register=_LOCAL_ID, outside=0)
_ANSWERS: dict[Query, Callable[[Body], Item]] = {
    Query.GLOBAL_ID: lambda body: _GROUP(body) * _SIZE(body) + _ITEM(body),
    Query.GLOBAL_SIZE: lambda body: _GROUPS(body) * _SIZE(body),
    Query.GLOBAL_OFFSET: lambda body: Item(body, body.declaration.result, "0"),
    Query.LOCAL_ID: _ITEM,
    **dict.fromkeys((Query.LOCAL_SIZE, Query.ENQUEUED_LOCAL_SIZE), _SIZE),
    Query.GROUP_ID: _GROUP,
    Query.GROUP_COUNT: _GROUPS,
    Query.LOCAL_LINEAR_ID: lambda body: _linear(
        partial(_along, body, _LOCAL_ID), partial(_along, body, _LOCAL_SIZE)
    ),
    Query.GLOBAL_LINEAR_ID: _global_linear_id,
}
