"""How many 32-bit registers a value takes on a GPU.

    float, int and anything narrower    1         double, long, a pointer to global memory    2
    a vector                            its elements', each in registers of its own
    a pointer to local or private memory 1        a condition                                 0

A condition is held in a predicate or a lane mask, which are registers of another kind.
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.ir.details import source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction
from coarsen.ir.layout import content_bytes, size_of
from coarsen.ir.types import (
    AddressSpace,
    ArrayType,
    FloatType,
    IntegerType,
    PointerType,
    StructType,
    TargetType,
    Type,
    VectorType,
)

_WORD_BITS = 32
_WORD_BYTES = 4
_SHORT_POINTERS = frozenset({AddressSpace.LOCAL, AddressSpace.PRIVATE})
_ADDRESS_WORDS = 2


def value_words(type_: Type) -> int:
    """Return the registers of a value in SSA form; 0 for one that is in none."""
    if isinstance(type_, IntegerType):
        return 0 if type_.width == 1 else -(-type_.width // _WORD_BITS)
    if isinstance(type_, FloatType):
        return -(-content_bytes(type_) // _WORD_BYTES)
    if isinstance(type_, PointerType):
        return 1 if type_.address_space in _SHORT_POINTERS else _ADDRESS_WORDS
    if isinstance(type_, VectorType | ArrayType):
        return type_.count * value_words(type_.element)
    if isinstance(type_, StructType):
        return sum(map(value_words, type_.elements))
    return _ADDRESS_WORDS if isinstance(type_, TargetType) else 0


def array_words(alloca: Instruction, structures: Mapping[str, StructType]) -> int:
    """Return the words of a variable in private memory; one whose count is only known at run time counts once."""
    count = alloca.operands[0] if alloca.operands else None
    times = int(count.text) if count is not None and count.kind is ValueKind.CONSTANT else 1
    return -(-times * size_of(source_element_type(alloca)) // _WORD_BYTES)
