"""Shifts and operations on bits; on conditions they are `&`, `||` and `!=`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coarsen.backend.opencl_c.c.build import call, comparison, converted_integer, literal_int, repeated_scalar
from coarsen.backend.opencl_c.c.coerce import coerce
from coarsen.backend.opencl_c.c.conditions import both, logical_or, negation
from coarsen.backend.opencl_c.c.tree import Boolean, Cast, Expression, Integer, Reinterpretation, Unary
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    CType,
    Scalar,
    Vector,
    element_of,
    size_of,
    with_sign,
)
from coarsen.backend.opencl_c.express.operators import compute, integer_pair, vector_operation, vector_pair
from coarsen.backend.opencl_c.express.translator import Handler, Translator
from coarsen.ir.kernel import Instruction, Value
from coarsen.ir.types import IntegerType, VectorType

_LARGEST_BYTE = 255


def _shift(operator: str, signed: bool | None) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left = translator.value(instruction.operands[0], signed=signed)
        right = translator.value(instruction.operands[1])
        if isinstance(left.type, Scalar):
            right = literal_int(right.value) if isinstance(right, Integer) else _narrower(right)
        return compute(left, operator, right, left.type)

    return write


def _narrower(amount: Expression) -> Expression:
    """A shift's amount without a widening, which changes nothing."""
    bare = converted_integer(amount)
    return bare if bare is not None and size_of(bare.type) < size_of(amount.type) else amount


def _bits(operator: str, boolean: Callable[[Expression, Expression], Expression]) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand) for operand in instruction.operands)
        if left.type is BOOL:
            return boolean(left, right)
        if isinstance(left.type, Vector):
            if operator == "|" and (chosen := _bitwise_choice(translator, instruction)) is not None:
                return chosen
            left, right = vector_pair(translator, instruction)
            if operator == "^" and _is_all_ones(right):
                return Unary("~", left, left.type)
            return vector_operation(left, operator, right)
        result = right.type if isinstance(left, Integer) else left.type
        if operator == "^" and _is_minus_one(right, result):
            inverted = Unary("~", left, left.type)
            return Cast(inverted, result) if isinstance(result, Scalar) and result.size < INT.size else inverted
        if isinstance(result, Scalar) and result.size < INT.size:
            right = coerce(right, result)
        left, right = integer_pair(left, right)
        return compute(left, operator, _in_hexadecimal(right), result)

    return write


def _bitwise_choice(translator: Translator, instruction: Instruction) -> Expression | None:
    """`(b & ~m) | (a & m)`, which clang makes of a vector's `m ? a : b`, as `bitselect(b, a, m)`."""
    sides = [translator.dataflow.definition(value) for value in instruction.operands]
    for kept, taken in (sides, sides[::-1]):
        if kept is None or taken is None or {kept.opcode, taken.opcode} != {"and"}:
            continue
        if not {kept.name, taken.name} <= translator.folding.inlined:
            continue
        for place in (0, 1):
            inverted = translator.dataflow.definition(kept.operands[place])
            mask = _inverted(translator, inverted)
            masks = [translator.dataflow.origin(value) for value in taken.operands]
            if mask is not None and inverted is not None and mask in masks:
                first = translator.value(kept.operands[1 - place])
                second = translator.as_type(taken.operands[1 - masks.index(mask)], first.type)
                return _choice(
                    first, second, translator.as_type(mask, first.type), is_mask=_is_mask(translator, mask)
                )
    return None


def _is_mask(translator: Translator, value: Value) -> bool:
    """Return True if a vector's elements are known to be -1 or 0."""
    source = translator.dataflow.definition(value)
    if source is None or source.opcode != "sext" or not isinstance(source.operands[0].type, VectorType):
        return False
    return source.operands[0].type.element == IntegerType(1)


def _choice(first: Expression, second: Expression, mask: Expression, *, is_mask: bool) -> Expression:
    """The bits of `second` where the mask has ones; whole values where it is known to choose whole ones."""
    if not is_mask:
        return call("bitselect", [first, second, mask], first.type)
    if not isinstance(first, Reinterpretation) or not isinstance(second, Reinterpretation):
        return call("select", [first, second, mask], first.type)
    before, other = first.operand, second.operand
    if before.type != other.type:
        return call("select", [first, second, mask], first.type)
    return Reinterpretation(call("select", [before, other, mask], before.type), first.type)


def _inverted(translator: Translator, instruction: Instruction | None) -> Value | None:
    """Return what an instruction inverts all bits of."""
    if instruction is None or instruction.opcode != "xor":
        return None
    return (
        translator.dataflow.origin(instruction.operands[0])
        if _is_all_ones(translator.value(instruction.operands[1]))
        else None
    )


def _is_all_ones(vector: Expression) -> bool:
    """Return True if a vector is the constant of all bits set."""
    scalar = repeated_scalar(vector)
    if not isinstance(scalar, Integer):
        return False
    return scalar.value in (-1, (1 << 8 * element_of(vector.type).size) - 1)


def _is_minus_one(literal: Expression, type_: CType) -> bool:
    """Return True if an integer literal has all bits of a type set."""
    if not isinstance(literal, Integer):
        return False
    signed = coerce(literal, with_sign(type_, signed=True))
    return isinstance(signed, Integer) and signed.value == -1


def _in_hexadecimal(operand: Expression) -> Expression:
    """Large literals as patterns of bits, others as they are."""
    if not isinstance(operand, Integer) or operand.value <= _LARGEST_BYTE:
        return operand
    return Integer(operand.value, operand.type, is_hexadecimal=True)


def exclusive(left: Expression, right: Expression) -> Expression:
    """Return True if two conditions differ."""
    if isinstance(right, Boolean):
        return negation(left) if right.value else left
    if isinstance(left, Boolean):
        return negation(right) if left.value else right
    return comparison(left, "!=", right)


BITS: Mapping[str, Handler] = {
    "shl": _shift("<<", None),
    "lshr": _shift(">>", False),
    "ashr": _shift(">>", True),
    "and": _bits("&", both),
    "or": _bits("|", logical_or),
    "xor": _bits("^", exclusive),
}
