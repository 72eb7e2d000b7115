"""What LLVM's SPIR-V back end takes.

Whatever is outside makes it end the process with an assertion or a fatal error (found by experiment with LLVM
22.1), or write a type of another width without saying so. So everything that a kernel uses is looked up here
first, and what is not known to work is refused, with the code `spirv-unsupported`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction, atomic_operation, is_inline_assembly
from coarsen.ir.graph.operands import Operand, ValueKind
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
_OPCODES_WITHOUT_FORM = frozenset(
    {"indirectbr", "invoke", "callbr", "resume", "landingpad", "va_arg", "catchswitch", "cleanupret"}
)
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
    if opcode in _OPCODES_WITHOUT_FORM:
        _refuse(f"the instruction {opcode}", instruction)
    if opcode == "call":
        _check_call(instruction)
    if opcode == "atomicrmw":
        _check_atomic(instruction)
    if opcode == "select" and isinstance(instruction.type, StructType | ArrayType):
        _refuse("a choice between whole structures", instruction)
    if opcode == "alloca" and any(operand.kind is not ValueKind.CONSTANT for operand in instruction.operands):
        _refuse("private memory whose size is not constant", instruction)
    if opcode in ("phi", "select") and any(map(_is_constant_event, instruction.operands)):
        _refuse("a variable that may be no event", instruction)
    if opcode == "bitcast" and _has_boolean_elements(instruction.type, instruction.operands[0].type):
        _refuse("a vector of truth values taken as an integer", instruction)


def _is_constant_event(value: Operand) -> bool:
    return value.kind is ValueKind.CONSTANT and isinstance(value.type, TargetType)


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
