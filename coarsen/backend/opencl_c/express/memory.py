"""Loads, stores and LLVM's atomic operations, which become OpenCL's functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.build import address_of, call, coerce, dereference, is_packed, literal_int
from coarsen.backend.opencl_c.c.tree import Assign, Cast, Dereference, Evaluate, Expression, Statement
from coarsen.backend.opencl_c.c.types import (
    FLOAT,
    INT,
    UCHAR,
    CType,
    Pointer,
    Record,
    Scalar,
    Vector,
    alignment_of,
    from_llvm,
    size_of,
    with_sign,
)
from coarsen.backend.opencl_c.express.addresses import access
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction, alignment, atomic_operation, attached, orderings
from coarsen.ir.graph.operands import Operand
from coarsen.ir.metadata import node_items
from coarsen.ir.types import Type

_LOADABLE = (2, 3, 4, 8, 16)


def is_aliasing(translator: Translator, instruction: Instruction) -> bool:
    """Return True if the source did not access this memory by a type of its own, as through unions."""
    tag = attached(instruction, "tbaa")
    if not tag:
        return True
    nodes = translator.kernel.metadata
    accessed, *rest = node_items(nodes, tag)
    return rest == [accessed, "i64 0"] and node_items(nodes, accessed)[0] == '!"omnipotent char"'


def lvalue_of(translator: Translator, instruction: Instruction, address: Operand, type_: Type) -> Expression:
    """Return the lvalue that an instruction loads or stores."""
    c_type = from_llvm(type_)
    if isinstance(c_type, Vector) and c_type.is_mask:
        raise unsupported("a vector of conditions in memory")
    pointer = translator.value(address)
    place = access(translator, pointer, c_type, is_aliasing=is_aliasing(translator, instruction))
    if instruction.is_volatile and isinstance(pointer.type, Pointer) and not pointer.type.is_volatile:
        target = address_of(place, pointer.type)
        return dereference(Cast(target, replace(pointer.type, pointee=place.type, is_volatile=True)))
    return place


def is_under_aligned(instruction: Instruction, place: Expression) -> bool:
    """Return True if C would expect a better alignment than there is."""
    return not is_packed(place) and alignment(instruction) < alignment_of(place.type)


def load(translator: Translator, instruction: Instruction) -> Expression:
    """Return what a `load` reads."""
    if instruction.is_atomic:
        raise unsupported("an atomic load")
    place = lvalue_of(translator, instruction, instruction.operands[0], instruction.type)
    if is_under_aligned(instruction, place):
        return _unaligned_load(place, translator.value(instruction.operands[0]), alignment(instruction))
    return place


def _unaligned_load(place: Expression, pointer: Expression, have: int) -> Expression:
    type_ = place.type
    element, count, as_name = _packed_shape(type_, have)
    source = coerce(_address(place, pointer), _element_pointer(pointer, element, is_const=True))
    loaded = call(f"vload{count}", [literal_int(0), source], Vector(element, count))
    return loaded if as_name is None else call(as_name, [loaded], type_)


def unaligned_store(value: Expression, place: Expression, pointer: Expression, have: int) -> Expression:
    """Return the call that stores a value where the alignment is not what C expects."""
    element, count, as_name = _packed_shape(place.type, have)
    target = coerce(_address(place, pointer), _element_pointer(pointer, element, is_const=False))
    stored = value if as_name is None else call(f"as_{element}{count}", [value], Vector(element, count))
    return call(f"vstore{count}", [stored, literal_int(0), target], place.type)


def _address(place: Expression, pointer: Expression) -> Expression:
    if not isinstance(pointer.type, Pointer):
        raise unsupported("an access through something else than a pointer")
    return (
        pointer
        if isinstance(place, Dereference) and isinstance(place.pointer, Cast)
        else address_of(place, pointer.type)
    )


def _element_pointer(pointer: Expression, element: Scalar, *, is_const: bool) -> Pointer:
    if not isinstance(pointer.type, Pointer):
        raise unsupported("an access through something else than a pointer")
    return replace(pointer.type, pointee=element, is_const=is_const or pointer.type.is_const)


def _packed_shape(type_: CType, have: int) -> tuple[Scalar, int, str | None]:
    """Return how to move a value in pieces: the piece, how many, and the function that joins them if any."""
    if isinstance(type_, Vector) and have >= type_.element.size:
        return type_.element, type_.count, None
    if isinstance(type_, (Scalar, Vector)) and not isinstance(type_, Record) and size_of(type_) in _LOADABLE:
        return UCHAR, size_of(type_), f"as_{type_}"
    raise unsupported(f"an access to {type_} at an alignment of {have}")


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
    translator: Translator, function: str, address: Operand, operands: list[Operand], type_: object
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
