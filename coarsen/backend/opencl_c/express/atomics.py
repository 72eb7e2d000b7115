"""LLVM's own atomic instructions as OpenCL C 1.2's atomic functions, which are relaxed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.build import call
from coarsen.backend.opencl_c.c.coerce import coerce
from coarsen.backend.opencl_c.c.statements import Assign, Evaluate, Statement
from coarsen.backend.opencl_c.c.tree import Expression
from coarsen.backend.opencl_c.c.types import FLOAT, INT, Pointer, Scalar, from_llvm, with_sign
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.errors import RefusalError
from coarsen.ir.details import atomic_operation, orderings
from coarsen.ir.kernel import Instruction, Value

# Operation of LLVM: OpenCL's function without its prefix, and whether the operands are signed.
_OPERATIONS: Mapping[str, tuple[str, bool]] = {
    "xchg": ("xchg", True),
    "add": ("add", True),
    "sub": ("sub", True),
    "and": ("and", True),
    "or": ("or", True),
    "xor": ("xor", True),
    "max": ("max", True),
    "min": ("min", True),
    "umax": ("max", False),
    "umin": ("min", False),
}
_EXTENDED = frozenset({"max", "min", "and", "or", "xor"})
_UNORDERED = frozenset({"unordered", "monotonic"})


def atomic_statement(translator: Translator, instruction: Instruction) -> list[Statement]:
    """Return an `atomicrmw` or a `cmpxchg`; its result is the value from before."""
    if not orderings(instruction) <= _UNORDERED:
        raise RefusalError(
            "atomic-ordering",
            "an atomic operation that orders other memory accesses has no form in OpenCL C 1.2",
            instruction.position,
        )
    written = (
        _exchange(translator, instruction) if instruction.opcode == "cmpxchg" else _modify(translator, instruction)
    )
    if instruction.name not in translator.folding.variables:
        return [Evaluate(written)]
    variable = translator.variable(instruction.name)
    return [Assign(variable.text, coerce(written, variable.type))]


def _modify(translator: Translator, instruction: Instruction) -> Expression:
    operation = atomic_operation(instruction)
    if operation not in _OPERATIONS:
        raise unsupported(f"the atomic operation '{operation}'")
    function, signed = _OPERATIONS[operation]
    address, operand = instruction.operands
    type_ = with_sign(from_llvm(operand.type), signed=signed)
    if type_ is FLOAT and function != "xchg":
        raise unsupported(f"the atomic operation '{operation}' on floats")
    return _call(translator, function, address, [operand], type_)


def _exchange(translator: Translator, instruction: Instruction) -> Expression:
    address, expected, desired = instruction.operands
    return _call(translator, "cmpxchg", address, [expected, desired], from_llvm(expected.type))


def _call(
    translator: Translator, function: str, address: Value, operands: list[Value], type_: object
) -> Expression:
    if not isinstance(type_, Scalar) or type_.size not in (4, 8):
        raise unsupported(f"an atomic operation on {type_}")
    prefix = "atomic"
    if type_.size > INT.size:
        prefix = "atom"
        kind = "extended" if function in _EXTENDED else "base"
        translator.requirements.extensions.add(f"cl_khr_int64_{kind}_atomics")
    pointer = translator.value(address)
    if not isinstance(pointer.type, Pointer):
        raise unsupported("an atomic operation on something else than a pointer")
    target = coerce(pointer, replace(pointer.type, pointee=type_, is_volatile=True))
    return call(f"{prefix}_{function}", [target, *(translator.as_type(value, type_) for value in operands)], type_)
