"""Shifts and operations on bits; on conditions they are `&`, `||` and `!=`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.conditions import both, logical_or, negation
from coarsen.backend.opencl_c.c.expression import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    EQUALITY,
    SHIFT,
    Expression,
    binary,
    call,
    cast,
    coerce,
    literal_int,
    unary,
)
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    Scalar,
    Vector,
    element_of,
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
            if right.literal is not None:
                right = literal_int(right.literal)
            right = _narrower(right)
        return compute(left, operator, right, SHIFT, left.type)

    return write


def _narrower(amount: Expression) -> Expression:
    """A shift's amount without a widening, which changes nothing."""
    bare = amount.bare
    if bare is None or not isinstance(bare.type, Scalar) or not isinstance(amount.type, Scalar):
        return amount
    return bare if bare.type.is_integer and bare.type.size < amount.type.size else amount


def _bits(operator: str, precedence: int, boolean: Callable[[Expression, Expression], Expression]) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand) for operand in instruction.operands)
        if left.type is BOOL:
            return boolean(left, right)
        if isinstance(left.type, Vector):
            if operator == "|" and (chosen := _bitwise_choice(translator, instruction)) is not None:
                return chosen
            left, right = vector_pair(translator, instruction)
            if operator == "^" and _is_all_ones(right):
                return unary("~", left, left.type)
            return vector_operation(left, operator, right, precedence)
        result = left.type if left.literal is None else right.type
        if (
            operator == "^"
            and right.literal is not None
            and coerce(right, with_sign(result, signed=True)).literal == -1
        ):
            inverted = unary("~", left, left.type)
            return cast(inverted, result) if isinstance(result, Scalar) and result.size < INT.size else inverted
        if isinstance(result, Scalar) and result.size < INT.size:
            right = coerce(right, result)
        return compute(*_spread(integer_pair(left, right), operator), precedence, result)

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
    """Whether a vector's elements are known to be -1 or 0."""
    source = translator.dataflow.definition(value)
    if source is None or source.opcode != "sext" or not isinstance(source.operands[0].type, VectorType):
        return False
    return source.operands[0].type.element == IntegerType(1)


def _choice(first: Expression, second: Expression, mask: Expression, *, is_mask: bool) -> Expression:
    """The bits of `second` where the mask has ones; whole values where it is known to choose whole ones."""
    if not is_mask:
        return call("bitselect", [first, second, mask], first.type)
    if first.original is None or second.original is None or first.original.type != second.original.type:
        return call("select", [first, second, mask], first.type)
    chosen = call("select", [first.original, second.original, mask], first.original.type)
    return replace(call(f"as_{first.type}", [chosen], first.type), original=chosen)


def _inverted(translator: Translator, instruction: Instruction | None) -> Value | None:
    """What an instruction inverts all bits of."""
    if instruction is None or instruction.opcode != "xor":
        return None
    return (
        translator.dataflow.origin(instruction.operands[0])
        if _is_all_ones(translator.value(instruction.operands[1]))
        else None
    )


def _is_all_ones(vector: Expression) -> bool:
    """Whether a vector is the constant of all bits set."""
    scalar = vector.bare
    if scalar is None or scalar.literal is None:
        return False
    return scalar.literal in (-1, (1 << 8 * element_of(vector.type).size) - 1)


def _spread(pair: tuple[Expression, Expression], operator: str) -> tuple[Expression, str, Expression]:
    left, right = pair
    if right.literal is not None and right.literal > _LARGEST_BYTE:
        suffix = right.text.lstrip("-0123456789")
        right = Expression(f"{right.literal:#x}{suffix}", right.precedence, right.type, literal=right.literal)
    return left, operator, right


def exclusive(left: Expression, right: Expression) -> Expression:
    """Whether two conditions differ."""
    if right.text in ("true", "false"):
        return negation(left) if right.text == "true" else left
    if left.text in ("true", "false"):
        return negation(right) if left.text == "true" else right
    return binary(left, "!=", right, EQUALITY, BOOL)


BITS: Mapping[str, Handler] = {
    "shl": _shift("<<", None),
    "lshr": _shift(">>", False),
    "ashr": _shift(">>", True),
    "and": _bits("&", BIT_AND, both),
    "or": _bits("|", BIT_OR, logical_or),
    "xor": _bits("^", BIT_XOR, exclusive),
}
