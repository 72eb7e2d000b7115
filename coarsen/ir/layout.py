"""How types lie in memory, by SPIR's data layout: sizes, alignments and the offsets of fields, in bytes.

A vector of three is as large as one of four; pointers have 64 bits.
"""

from __future__ import annotations

from coarsen.ir.types import ArrayType, FloatType, IntegerType, PointerType, StructType, Type, VectorType

_FLOAT_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
_POINTER_BYTES = 8
_BITS_PER_BYTE = 8


def size_of(type_: Type) -> int:
    """Return the distance between neighbouring values in an array; 0 for a type that has no size."""
    if isinstance(type_, StructType):
        return _aligned(_end_of_field(type_, len(type_.elements) - 1), alignment_of(type_))
    if isinstance(type_, ArrayType):
        return type_.count * size_of(type_.element)
    if isinstance(type_, VectorType):
        return _power_of_two(content_bytes(type_))
    return content_bytes(type_)


def content_bytes(type_: Type) -> int:
    """Return the number of bytes that a load or store of a value touches: a vector of three has three elements."""
    if isinstance(type_, IntegerType):
        return _power_of_two(-(-type_.width // _BITS_PER_BYTE))
    if isinstance(type_, FloatType):
        return _FLOAT_BYTES[type_.kind]
    if isinstance(type_, PointerType):
        return _POINTER_BYTES
    if isinstance(type_, VectorType):
        return type_.count * content_bytes(type_.element)
    return size_of(type_) if isinstance(type_, StructType | ArrayType) else 0


def alignment_of(type_: Type) -> int:
    """Return the number that addresses of such values are multiples of, at least 1."""
    if isinstance(type_, StructType):
        return 1 if type_.packed else max(map(alignment_of, type_.elements), default=1)
    return alignment_of(type_.element) if isinstance(type_, ArrayType) else max(1, size_of(type_))


def field_offset(structure: StructType, index: int) -> int:
    """Return the offset of a field from the start of its structure."""
    alignment = 1 if structure.packed else alignment_of(structure.elements[index])
    return _aligned(_end_of_field(structure, index - 1), alignment)


def _end_of_field(structure: StructType, index: int) -> int:
    end = 0
    for element in structure.elements[: index + 1]:
        end = _aligned(end, 1 if structure.packed else alignment_of(element)) + size_of(element)
    return end


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment


def _power_of_two(size: int) -> int:
    """Return the smallest power of two that is not below a size."""
    return 1 << (size - 1).bit_length() if size > 0 else 0
