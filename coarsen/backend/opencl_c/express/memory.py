"""Addresses, loads, stores, and LLVM's atomic operations, which become OpenCL's functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from coarsen.backend.opencl_c.c.build import (
    address_of,
    call,
    coerce,
    converted,
    dereference,
    is_packed,
    is_zero,
    literal_int,
    place_of,
)
from coarsen.backend.opencl_c.c.tree import (
    Assign,
    Binary,
    Cast,
    Dereference,
    Evaluate,
    Expression,
    Index,
    Integer,
    Member,
    Statement,
)
from coarsen.backend.opencl_c.c.types import (
    FLOAT,
    INT,
    LONG,
    UCHAR,
    Array,
    CType,
    Pointer,
    Record,
    Scalar,
    Vector,
    alignment_of,
    from_llvm,
    same_bits,
    size_of,
    with_sign,
)
from coarsen.backend.opencl_c.express.arithmetic import integer_pair
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.backend.opencl_c.printing.expressions import written
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import (
    Instruction,
    alignment,
    atomic_operation,
    attached,
    orderings,
    source_element_type,
)
from coarsen.ir.graph.operands import Operand
from coarsen.ir.metadata import node_items
from coarsen.ir.types import Type, field_starts

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
    **{name: (name, True) for name in ("xchg", "add", "sub", "and", "or", "xor", "max", "min")},
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


# Addresses: `getelementptr` over opaque pointers becomes `a[i]`, `s->field`, `tile[y][x]` again.
#
#     getelementptr float, ptr %a, i64 %i                  → &a[i]
#     getelementptr [17 x float], ptr %row, i64 0, i64 %x  → &tile[y][x]    (%row folded)
#     getelementptr i8, ptr %s, i64 12                     → &s->field      (by the layout of what %s points to)
#
# Where the types don't fit, a pointer cast stands in the text.


def element_address(
    translator: Translator, base: Expression, source: CType, indices: Sequence[Expression]
) -> Expression:
    """Return the address that a `getelementptr` over `source` computes from a pointer."""
    if not isinstance(base.type, Pointer):
        raise unsupported("an address computed from something else than a pointer")
    if same_bits(source, UCHAR) and len(indices) == 1 and not same_bits(base.type.pointee, UCHAR):
        return _byte_address(translator, base, indices[0])
    place = element(as_pointer_to(base, source), indices[0])
    for index in indices[1:]:
        place = inside(translator, place, index)
    return address_of(place, base.type)


def as_pointer_to(base: Expression, type_: CType) -> Expression:
    """Return the pointer as one to elements of a type: arrays decay, same-sized scalars stay, all else is cast."""
    if not isinstance(base.type, Pointer):
        raise unsupported("an address computed from something else than a pointer")
    place = dereference(base)
    while isinstance(place.type, Array) and not _same(place.type, type_):
        place = Index(place, literal_int(0), place.type.element)
    if _same(place.type, type_):
        return base if _same(base.type.pointee, type_) else address_of(place, base.type)
    plain = isinstance(place.type, (Scalar, Vector)) and isinstance(type_, (Scalar, Vector))
    if plain and size_of(place.type) == size_of(type_):
        return address_of(place, base.type)
    return Cast(coerce(base, replace(base.type, pointee=base.type.pointee)), replace(base.type, pointee=type_))


def _same(first: CType, second: CType) -> bool:
    if isinstance(first, Array) and isinstance(second, Array):
        return first.count == second.count and _same(first.element, second.element)
    return same_bits(first, second)


def element(pointer: Expression, index: Expression) -> Expression:
    """`pointer[index]`, or what it points to where the index is 0."""
    if is_zero(index):
        return dereference(pointer)
    index = _plain_index(index)
    place = place_of(pointer)
    if isinstance(place, Index):
        return Index(place.base, _sum(place.index, index), place.type)
    if not isinstance(pointer.type, Pointer):
        raise unsupported("an address computed from something else than a pointer")
    return Index(pointer, index, pointer.type.pointee)


def _plain_index(index: Expression) -> Expression:
    """An index without a widening: C takes an index of any integer type at its value."""
    if isinstance(index, Integer):
        return literal_int(index.value) if abs(index.value) < 1 << 31 else index
    bare = converted(index)
    if bare is not None and isinstance(bare.type, Scalar) and isinstance(index.type, Scalar):
        integers = bare.type.kind in ("signed", "unsigned")
        if integers and bare.type.size < index.type.size:
            return _plain_index(bare)
    return index


def _sum(first: Expression, second: Expression) -> Expression:
    """The sum of two indices, computed as wide as addresses are."""
    if isinstance(first, Integer) and isinstance(second, Integer):
        return literal_int(first.value + second.value)
    if is_zero(first):
        return second
    wide = [
        e if isinstance(e, Integer) or size_of(e.type) == LONG.size else Cast(e, LONG) for e in (first, second)
    ]
    left, right = integer_pair(*wide)
    type_ = right.type if isinstance(left, Integer) else left.type
    if isinstance(right, Integer) and right.value < 0:
        return Binary(left, "-", literal_int(-right.value), type_)
    return Binary(left, "+", right, type_)


def inside(translator: Translator, place: Expression, index: Expression) -> Expression:
    """Return an element of an array, a field of a structure or a component of a vector, as an lvalue."""
    match place.type:
        case Array(element_type):
            return Index(place, _plain_index(index), element_type)
        case Record():
            return field(translator, place, place.type, index.value if isinstance(index, Integer) else 0)
        case Vector(element_type):
            raise unsupported(f"the address of a vector's component ({element_type})")
    raise unsupported(f"an index into {written(place)}")


def field(translator: Translator, place: Expression, record: Record, index: int) -> Expression:
    """Return a structure's field as an lvalue."""
    type_ = from_llvm(record.layout.elements[index])
    return Member(place, translator.field_name(record, index), type_)


def _byte_address(translator: Translator, base: Expression, index: Expression) -> Expression:
    """An address some bytes after a pointer: an element or a field where the layout says which."""
    if not isinstance(base.type, Pointer):
        raise unsupported("an address computed from something else than a pointer")
    pointee = base.type.pointee
    if isinstance(index, Integer):
        place = _at_offset(translator, base, index.value)
        if place is not None:
            return address_of(place, base.type)
    bytes_ = Cast(coerce(base, base.type), replace(base.type, pointee=UCHAR))
    return address_of(element(bytes_, index), replace(base.type, pointee=pointee))


def _at_offset(translator: Translator, base: Expression, offset: int) -> Expression | None:
    """The lvalue that starts `offset` bytes after what a pointer points to, or None."""
    place = dereference(base)
    while isinstance(place.type, Array) and (offset < 0 or offset >= size_of(place.type)):
        place = Index(place, literal_int(0), place.type.element)
    size = size_of(place.type)
    if offset < 0 or offset >= size:
        if isinstance(base.type, Pointer) and isinstance(base.type.pointee, Array):
            return None
        place = element(base, literal_int(offset // size))
        offset %= size
    while offset:
        found = _part_at(translator, place, offset)
        if found is None:
            return None
        place, offset = found
    return place


def _part_at(translator: Translator, place: Expression, offset: int) -> tuple[Expression, int] | None:
    """The element or field that holds a byte, and how far into it that byte is."""
    if isinstance(place.type, Array):
        size = size_of(place.type.element)
        return Index(place, literal_int(offset // size), place.type.element), offset % size
    if isinstance(place.type, Record):
        return _field_at(translator, place, place.type, offset)
    return None


def _field_at(
    translator: Translator, place: Expression, record: Record, offset: int
) -> tuple[Expression, int] | None:
    *starts, _ = field_starts(record.layout)
    number = bisect_right(starts, offset) - 1
    if number < 0 or offset - starts[number] >= size_of(from_llvm(record.layout.elements[number])):
        return None
    return field(translator, place, record, number), offset - starts[number]


def access(translator: Translator, pointer: Expression, type_: CType, *, is_aliasing: bool) -> Expression:
    """Return what a pointer points to, as an lvalue of a type (an integer's sign apart).

    `is_aliasing` says that the source did not access it as this type, so that the compiler must be told.
    """
    place = _matching(translator, dereference(pointer), type_)
    if place is not None:
        return place
    if not isinstance(pointer.type, Pointer):
        raise unsupported("an access through something else than a pointer")
    target = type_
    if is_aliasing and isinstance(type_, Scalar) and type_.size > 1:
        target = replace(type_, may_alias=True)
    return Dereference(Cast(_plain(pointer), replace(pointer.type, pointee=target)), type_)


def _plain(pointer: Expression) -> Expression:
    """A pointer to an array as one to its first element, which reads better in a cast."""
    if (
        isinstance(pointer.type, Pointer)
        and isinstance(pointer.type.pointee, Array)
        and place_of(pointer) is not None
    ):
        return coerce(pointer, replace(pointer.type, pointee=pointer.type.pointee.element))
    return pointer


def _matching(translator: Translator, place: Expression, type_: CType) -> Expression | None:
    """The lvalue itself, or its first element or field, if it has the type."""
    while True:
        if _same(place.type, type_):
            return place
        if isinstance(place.type, Array) and place.type.count:
            place = Index(place, literal_int(0), place.type.element)
        elif isinstance(place.type, Record) and place.type.layout.elements:
            place = field(translator, place, place.type, 0)
        else:
            return None


def element_pointer(translator: Translator, instruction: Instruction) -> Expression:
    """Return the address that a `getelementptr` computes."""
    base = translator.value(instruction.operands[0])
    source = from_llvm(source_element_type(instruction))
    indices = [translator.value(operand) for operand in instruction.operands[1:]]
    if isinstance(source, Vector) and len(indices) > 1:
        base = element_address(translator, base, source, indices[:1])
        return element_address(translator, _components(base), source.element, indices[1:])
    return element_address(translator, base, source, indices)


def _components(vector: Expression) -> Expression:
    """A pointer to a vector as one to its first component."""
    if not isinstance(vector.type, Pointer) or not isinstance(vector.type.pointee, Vector):
        raise unsupported("the address of a vector's component")
    return Cast(vector, replace(vector.type, pointee=vector.type.pointee.element))
