"""What LLVM's SPIR-V back end takes, and definitions of builtins that it does not know.

Whatever is outside makes it end the process with an assertion or a fatal error (found by experiment with LLVM
22.1), or write a type of another width without saying so. So everything that a kernel uses is looked up here
first, and what is not known to work is refused, with the code `spirv-unsupported`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coarsen.backend.builtin_library import Body, Declaration, scalar
from coarsen.backend.builtin_memory import atomic_body
from coarsen.backend.builtin_numbers import conversion_body
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction, atomic_operation, is_inline_assembly
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Kernel
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
)

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
    return [
        f"%event = call spir_func {event} @{callee}({arguments})",
        f"ret {event} %event",
    ]
