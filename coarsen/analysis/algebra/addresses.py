"""The one walk over address arithmetic.

    getelementptr {i32, [8 x float]}, %p, i64 %i, i32 1, i32 %k     %p + 36·%i + 4 + 4·%k

What %p, %i and %k are is up to the algebra that sums the steps: with or without wraps, over ids or over values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.ring import F
from coarsen.analysis.algebra.walk import Walk
from coarsen.ir.details import source_element_type
from coarsen.ir.kernel import Instruction, Value
from coarsen.ir.layout import content_bytes, field_offset, size_of
from coarsen.ir.types import ArrayType, IntegerType, StructType, Type, VectorType


@dataclass(frozen=True, slots=True)
class AddressStep:
    """A step from one address to another: so many bytes, times an index if there is one."""

    bytes: int
    index: Value | None = None


def address(walk: Walk[F], instruction: Instruction) -> F | None:
    """`getelementptr`, in any semantics; None for vectors of pointers."""
    steps = address_steps(instruction, walk.kernel.structures)
    if steps is None:
        return None
    total = walk.form(instruction.operands[0])
    for step in steps:
        factor = walk.number(1) if step.index is None else walk.index(step.index)
        total = total + factor.scaled(step.bytes)
    return total


def address_steps(
    instruction: Instruction, structures: Mapping[str, StructType]
) -> tuple[AddressStep, ...] | None:
    """Return the steps from the first operand of a `getelementptr` to its result.

    Args:
        instruction: the `getelementptr`.
        structures: the module's, by name.

    Returns:
        The steps in the order of the indices; None for vectors of pointers.
    """
    type_ = source_element_type(instruction)
    indices = instruction.operands[1:]
    if not all(isinstance(index.type, IntegerType) for index in indices):
        return None
    return AddressStep(size_of(type_), indices[0]), *_inner_steps(type_, indices[1:])


def _inner_steps(type_: Type, indices: tuple[Value, ...]) -> Iterator[AddressStep]:
    """Return the steps into a type."""
    for index in indices:
        if isinstance(type_, StructType):
            number = int(index.text)
            yield AddressStep(field_offset(type_, number))
            type_ = type_.elements[number]
        elif isinstance(type_, ArrayType):
            type_ = type_.element
            yield AddressStep(size_of(type_), index)
        elif isinstance(type_, VectorType):
            type_ = type_.element
            yield AddressStep(content_bytes(type_), index)
        else:
            raise TypeError(f"{type_} has no elements")
