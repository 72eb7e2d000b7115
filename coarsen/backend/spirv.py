"""The SPIR-V writer, through LLVM's own SPIR-V back end.

    ir.Kernel ─▶ refusals ─▶ starts of arrays are computed ─▶ builtins that the back end lacks are defined
              ─▶ spirv64 module ─▶ words ─▶ checked

What the back end can't take makes it stop, so that is refused before, and what it would get wrong is written in
another form: addresses of variables, calls of `printf`, truncations that are widened again. A builtin that nobody
knows it writes as a function to be linked in: found in the words, refused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from coarsen.backend.builtin_library import Body, Declaration, with_definitions
from coarsen.backend.builtin_memory import atomic_body
from coarsen.backend.builtin_numbers import conversion_body
from coarsen.backend.llvm_module import kernel_module
from coarsen.errors import InternalError, RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction, atomic_operation, is_inline_assembly
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Callee, ValueKind, Variable
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.modules import run_passes
from coarsen.ir.opencl.queries import builtin_name, mangled_type
from coarsen.ir.processes import output_of_script
from coarsen.ir.types import (
    ArrayType,
    FloatType,
    IntegerType,
    OtherType,
    PointerType,
    StructType,
    TargetType,
    Type,
    VectorType,
    scalar,
)

_SCRIPT = Path(__file__).with_name("spirv_process.py")

_CLEAN_UP = ("always_inliner", "global_dead_code_eliminate", "strip_dead_prototype")

# From the SPIR-V specification, section 2.3 (physical layout) and chapter 3 (binary form).
_MAGIC = 0x07230203
_HEADER_WORDS = 5
_OP_FUNCTION = 54
_OP_DECORATE = 71
_LINKAGE_ATTRIBUTES = 41
_IMPORT = 1
_TYPE_DECLARATIONS = range(19, 40)
# OpIAdd, OpISub, OpIMul, OpUDiv, OpSDiv, OpUMod, OpSRem, OpSMod; OpBitwiseOr, OpBitwiseXor, OpBitwiseAnd.
_INTEGER_ARITHMETIC = frozenset({128, 130, 132, 134, 135, 137, 138, 139, 197, 198, 199})


def write_spirv(kernel: Kernel) -> bytes:
    """Write a kernel as a SPIR-V 1.2 module: physical 64-bit addressing, OpenCL memory model, little-endian words.

    Args:
        kernel: the kernel, in normal form.

    Raises:
        RefusalError: the kernel uses what LLVM's SPIR-V back end has no form for.
    """
    check_limits(kernel)
    bits = kernel.graph.size_type.width
    triple = f"spirv{bits}v1.2-unknown-unknown"
    prepared = with_computed_starts(without_variadic_calls(kernel), kernel)
    text = with_definitions(module_text(prepared), spirv_library, kernel.structures)
    with kernel_module(kernel, text) as module:
        run_passes(module, _CLEAN_UP)
        assembly = keep_widenings_apart(str(module))
    try:
        code = emit_in_process(assembly, triple)
    except ValueError as error:
        raise RefusalError("spirv-unsupported", f"LLVM's SPIR-V back end gave up: {error}") from None
    _check(kernel, code)
    return code


def emit_in_process(assembly: str, triple: str) -> bytes:
    """Return the SPIR-V words of a module.

    Args:
        assembly: LLVM IR text.
        triple: the target, `spirv64v1.2-unknown-unknown` for one.

    Raises:
        ValueError: with the back end's last words, if it gave up.
    """
    return output_of_script(_SCRIPT, [triple], assembly.encode())


def _check(kernel: Kernel, code: bytes) -> None:
    words = struct.unpack(f"<{len(code) // 4}I", code)
    if words[0] != _MAGIC:
        raise InternalError("LLVM's SPIR-V back end wrote something that is not SPIR-V")
    if not _operands_agree(words):
        raise RefusalError("spirv-unsupported", "LLVM's SPIR-V back end mixed up the types of operands")
    for name in _imported(words):
        position = next((i.position for i in kernel.instructions() if i.callee == name), None)
        reason = f"LLVM's SPIR-V back end has no form for the function {builtin_name(name)}"
        raise RefusalError("spirv-unsupported", reason, position)


def _imported(words: tuple[int, ...]) -> Iterator[str]:
    """The names of functions that the module leaves to a linker."""
    instructions = list(_instructions(words))
    functions = {operands[1] for opcode, operands in instructions if opcode == _OP_FUNCTION}
    for opcode, operands in instructions:
        is_linkage = opcode == _OP_DECORATE and operands[1] == _LINKAGE_ATTRIBUTES
        if is_linkage and operands[0] in functions and operands[-1] == _IMPORT:
            name = operands[2:-1]
            yield struct.pack(f"<{len(name)}I", *name).partition(b"\0")[0].decode()


def _operands_agree(words: tuple[int, ...]) -> bool:
    """Return True if the operands of integer arithmetic have the result's type, as the specification demands.

    An instruction with a result that has a type begins with that type and the result.
    """
    instructions = list(_instructions(words))
    types = {operands[0] for opcode, operands in instructions if opcode in _TYPE_DECLARATIONS}
    type_of = {
        operands[1]: operands[0] for _, operands in instructions if len(operands) > 1 and operands[0] in types
    }
    return all(
        type_of.get(value, operands[0]) == operands[0]
        for opcode, operands in instructions
        if opcode in _INTEGER_ARITHMETIC
        for value in operands[2:]
    )


def _instructions(words: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each instruction's opcode and operands; a first word holds the opcode and the number of words."""
    position = _HEADER_WORDS
    while position < len(words):
        opcode, count = words[position] & 0xFFFF, words[position] >> 16
        yield opcode, words[position + 1 : position + count]
        position += count


# Keeps LLVM's SPIR-V back end from joining a truncation and the widening after it.
#
# It makes one `and` of the two, with the mask in the wide type and the value in the type before the truncation,
# which no device takes: `OpBitwiseAnd %uint %ulong_value %uint_255`. A `freeze` between them, which is no
# operation in SPIR-V, keeps them apart.
#
#     before                               after
#     %b = trunc i64 %a to i8              %b = trunc i64 %a to i8
#     %c = zext i8 %b to i32               %b.frozen = freeze i8 %b
#                                          %c = zext i8 %b.frozen to i32

_TRUNCATION = re.compile(r"^  (%[-a-zA-Z$._0-9]+) = trunc ", re.MULTILINE)
_WIDENING = re.compile(
    r"^  (?P<start>%(?P<name>[-a-zA-Z$._0-9]+) = zext (?:nneg )?)(?P<type>[^%]+?) "
    r"(?P<value>%[-a-zA-Z$._0-9]+)(?P<end> to .*)$"
)


def keep_widenings_apart(assembly: str) -> str:
    """Return a module's text with a `freeze` before each widening of a truncated value."""
    truncated = set(_TRUNCATION.findall(assembly))
    return "\n".join(line for old in assembly.split("\n") for line in _rewritten(old, truncated))


def _rewritten(line: str, truncated: set[str]) -> Iterator[str]:
    match = _WIDENING.match(line)
    if match is None or match["value"] not in truncated:
        yield line
        return
    frozen = f"%{match['name']}.frozen"
    yield f"  {frozen} = freeze {match['type']} {match['value']}"
    yield f"  {match['start']}{match['type']} {frozen}{match['end']}"


# Addresses of variables in a form in which LLVM's SPIR-V back end gives them their type.
#
#     before   call <4 x i32> @_Z6vload4mPU3AS3Kj(i64 %i, ptr addrspace(3) @k.tile)
#     after    %start = getelementptr i8, ptr addrspace(3) @k.tile, i64 0
#              call <4 x i32> @_Z6vload4mPU3AS3Kj(i64 %i, ptr addrspace(3) %start)
#
# A variable's name, passed to a builtin, it writes as a pointer to the whole array: devices find no such `vload4`.

_BYTE = IntegerType(8)


def with_computed_starts(module: Module, kernel: Kernel) -> Module:
    """Return a module in which a kernel passes no variables to functions, but addresses of their starts.

    Args:
        module: that has the kernel, its own or one that the caller owns; to be read afterwards.
        kernel: whose it is.
    """
    if not any(map(_slots, module.function(kernel.name).instructions())):
        return module
    own = kernel.editable_graph() if module is kernel.graph else module
    function = own.function(kernel.name)
    for call in [each for each in function.instructions() if _slots(each)]:
        build = Builder.replacing(call)
        for slot in _slots(call):
            start = build.element(_BYTE, call.operands[slot], [number(own.size_type, 0)], "start")
            call.set_operand(slot, start)
    make_names_unique(function, own.structures)
    return own


def _slots(instruction: Instruction) -> list[int]:
    """The operands of a call that are variables."""
    if instruction.opcode is not Opcode.CALL or not isinstance(instruction.operands[-1], Callee):
        return []
    return [slot for slot, operand in enumerate(instruction.operands) if isinstance(operand, Variable)]


# Calls of `printf` in a form that LLVM's SPIR-V back end takes.
#
#     before   call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @format, i32 %i, double %x)
#     after    call i32 @_Z6printfPU3AS2Kcid(ptr addrspace(2) @format, i32 %i, double %x)
#
# Of a variadic function the back end asks for parameters that the declaration hasn't got, and stops the process.
# So there is one function for each list of argument types.


def without_variadic_calls(kernel: Kernel) -> Module:
    """Return the module of a kernel, to be read, with its calls of `printf` in the form above."""
    if not any(map(_prints, kernel.graph.function(kernel.name).instructions())):
        return kernel.graph
    module = kernel.editable_graph()
    calls = [i for i in module.function(kernel.name).instructions() if _prints(i)]
    new = {callee.name: callee for callee in map(_callee, calls)}
    module.declare(new[name] for name in sorted(new))
    for call in calls:
        _replace(call, module.callees[_callee(call).name])
    return module


def _prints(instruction: Instruction) -> bool:
    return builtin_name(instruction.callee) == "printf"


def _callee(call: Instruction) -> Callee:
    """The function for the types of a call's arguments."""
    types = [argument.type for argument in call.arguments]
    name = "_Z6printfPU3AS2Kc" + "".join(map(mangled_type, types[1:]))
    return Callee(name, f"declare spir_func {call.type} @{name}({', '.join(map(str, types))})")


def _replace(call: Instruction, callee: Callee) -> None:
    new = Builder.replacing(call).call(callee, call.type, call.arguments, call.name)
    new.has_unique_name = True
    call.replace_all_uses(new)
    call.erase()


# What LLVM's SPIR-V back end takes, and definitions of builtins that it does not know.
#
# Whatever is outside makes it end the process with an assertion or a fatal error (found by experiment with LLVM
# 22.1), or write a type of another width without saying so. So everything that a kernel uses is looked up here
# first, and what is not known to work is refused, with the code `spirv-unsupported`.

_INTEGER_WIDTHS = frozenset({1, 8, 16, 32, 64})
_FLOATS = frozenset({"half", "float", "double"})
_VECTOR_COUNTS = frozenset({2, 3, 4, 8, 16})
_ATOMIC_OPERATIONS = frozenset({"xchg", "add", "sub", "and", "or", "xor", "max", "min", "umax", "umin"})
_INTRINSICS = re.compile(
    r"llvm\.(?:[su](?:min|max|cmp)|[su](?:add|sub)\.sat|abs|ct(?:lz|tz|pop)|bswap|fsh[lr]"
    r"|f(?:abs|ma|muladd)|sqrt|floor|ceil|trunc|rint|nearbyint|round|roundeven|exp|exp2|log|log2|log10|sin|cos|tan"
    r"|copysign|minnum|maxnum|minimum|maximum|pow|powi|atan2|modf|is\.fpclass|arithmetic\.fence"
    r"|u(?:add|sub|mul)\.with\.overflow|vector\.reduce\.(?:add|mul|and|or|xor|[su](?:min|max)|fadd)"
    r"|mem(?:cpy|move|set)(?!\.inline)|assume|expect|trap)(?:\.(?:[piv]?\d+|[fi]\d+|v\d+[fi]\d+))*$"
)


def check_limits(kernel: Kernel) -> None:
    """Raise RefusalError, with the source position, for the first thing that the back end can't take."""
    for variable in kernel.globals.values():
        _check_type(variable.value_type, None)
    for argument in kernel.arguments:
        _check_type(argument.type, None)
    for instruction in kernel.instructions():
        for type_ in (instruction.type, *(operand.type for operand in instruction.operands)):
            _check_type(type_, instruction)
        _check_instruction(instruction)


def _check_type(type_: Type, instruction: Instruction | None) -> None:
    for part in _parts(type_):
        if isinstance(part, IntegerType) and part.width not in _INTEGER_WIDTHS:
            _refuse(f"an integer of {part.width} bits", instruction)
        if isinstance(part, FloatType) and part.kind not in _FLOATS:
            _refuse(f"the floating-point type {part}", instruction)
        if isinstance(part, OtherType):
            _refuse(f"the type {part}", instruction)
        if isinstance(part, VectorType) and part.count not in _VECTOR_COUNTS:
            _refuse(f"a vector of {part.count} elements", instruction)
        if isinstance(part, VectorType) and isinstance(part.element, PointerType):
            _refuse("a vector of pointers", instruction)


def _parts(type_: Type) -> Iterator[Type]:
    """A type and the types that it is made of."""
    yield type_
    if isinstance(type_, VectorType | ArrayType):
        yield from _parts(type_.element)
    if isinstance(type_, StructType):
        for element in type_.elements:
            yield from _parts(element)


def _check_instruction(instruction: Instruction) -> None:
    opcode = instruction.opcode
    if opcode == "call":
        _check_call(instruction)
    if opcode == "atomicrmw":
        _check_atomic(instruction)
    if opcode == "select" and isinstance(instruction.type, StructType | ArrayType):
        _refuse("a choice between whole structures", instruction)
    if opcode in ("phi", "select") and any(
        operand.kind is ValueKind.CONSTANT and isinstance(operand.type, TargetType)
        for operand in instruction.operands
    ):
        _refuse("a variable that may be no event", instruction)
    if opcode == "bitcast" and _has_boolean_elements(instruction.type, instruction.operands[0].type):
        _refuse("a vector of truth values taken as an integer", instruction)


def _check_call(instruction: Instruction) -> None:
    callee = instruction.callee
    if not callee:
        what = "inline assembly" if is_inline_assembly(instruction) else "a call through a pointer"
        _refuse(what, instruction)
    if callee.startswith("llvm.") and not _INTRINSICS.match(callee):
        _refuse(f"the intrinsic {callee}", instruction)
    if callee.startswith("llvm.vector.reduce.") and _has_boolean_elements(instruction.arguments[0].type):
        _refuse(f"the intrinsic {callee}", instruction)


def _check_atomic(instruction: Instruction) -> None:
    operation = atomic_operation(instruction)
    is_float = isinstance(instruction.type, FloatType)
    if operation not in _ATOMIC_OPERATIONS or (is_float and operation != "xchg"):
        _refuse(f"the atomic operation {operation} on {instruction.type}", instruction)


def _has_boolean_elements(*types: Type) -> bool:
    return any(isinstance(type_, VectorType) and type_.element == IntegerType(1) for type_ in types)


def _refuse(what: str, instruction: Instruction | None) -> None:
    position = instruction.position if instruction else None
    raise RefusalError("spirv-unsupported", f"LLVM's SPIR-V back end has no form for {what}", position)


# Builtins that LLVM's SPIR-V back end does not know, or gets wrong, in terms of those that it does.
#
# Of a function that it does not know it makes one to be linked in from elsewhere, which few devices can. For
# `async_work_group_copy` it writes a stride of 32 bits where OpenCL wants a `size_t`; devices find no such
# function. The sign of a conversion between integers it takes from one side only: `convert_uint(uchar)` comes out
# as a signed widening, and saturating ones clamp to the wrong range. Conversions to half and double it lacks.

_FENCE = "_Z22atomic_work_item_fencej12memory_order12memory_scope"
# Clang's numbers of memory_order_acquire, _release and _acq_rel, and of memory_scope_work_group.
_FENCE_ORDERS = {"read_mem_fence": 2, "write_mem_fence": 3, "mem_fence": 4}
_WORK_GROUP_SCOPE = 1
_CONVERSION = re.compile(r"convert_(?:u?(?:char|short|int|long)|(?:half|double)\d*(?:_rte)?$)")
_COPY = re.compile(r"_Z21async_work_group_copy(?P<pointers>\w+)(?P<size>[mj])9ocl_event$")


def spirv_library(declaration: Declaration) -> Iterable[str] | None:
    """Return the body of a builtin that the SPIR-V back end needs one for, else None."""
    if declaration.builtin in _FENCE_ORDERS:
        order = _FENCE_ORDERS[declaration.builtin]
        return [f"call spir_func void @{_FENCE}(i32 %0, i32 {order}, i32 {_WORK_GROUP_SCOPE})", "ret void"]
    if _CONVERSION.match(declaration.builtin) and _is_wrong(declaration):
        return conversion_body(Body(declaration))
    copy = _COPY.match(declaration.name)
    if copy:
        return _strided_copy(declaration, copy)
    return atomic_body(declaration)


def _is_wrong(conversion: Declaration) -> bool:
    from_float, to_float = (
        isinstance(scalar(each), FloatType) for each in (conversion.parameters[0], conversion.result)
    )
    return to_float or not from_float


def _strided_copy(declaration: Declaration, copy: re.Match[str]) -> Iterable[str]:
    event = declaration.result
    to_pointer, from_pointer, size, _ = declaration.parameters
    callee = f"_Z29async_work_group_strided_copy{copy['pointers']}{copy['size'] * 2}9ocl_event"
    arguments = f"{to_pointer} %0, {from_pointer} %1, {size} %2, {size} 1, {event} %3"
    return [f"%event = call spir_func {event} @{callee}({arguments})", f"ret {event} %event"]
