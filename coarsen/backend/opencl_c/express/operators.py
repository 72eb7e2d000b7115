"""Operators on integers and vectors: what C does with their types, and which conversions it needs not be told."""

from __future__ import annotations

from coarsen.backend.opencl_c.c.expression import (
    SHIFT,
    Expression,
    binary,
    cast,
    coerce,
    common_integer,
    literal_int,
)
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    CType,
    Scalar,
    Vector,
    element_of,
    is_signed,
)
from coarsen.backend.opencl_c.express.translator import Translator
from coarsen.ir.kernel import Instruction, ValueKind

LARGEST_INT = 2**31 - 1


def integer_pair(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Two integers of the same bits as C's operands, without suffixes and conversions that C doesn't need."""
    left, right = _plain_literal(left, right), _plain_literal(right, left)
    left = _without_widening(left, right)
    return left, _without_widening(right, left)


def _plain_literal(operand: Expression, other: Expression) -> Expression:
    """A literal beside an integer needs no suffix where it fits into int."""
    if operand.literal is None or other.literal is not None or not isinstance(other.type, Scalar):
        return operand
    typed = coerce(operand, other.type)
    if typed.literal is not None and 0 <= typed.literal <= LARGEST_INT:
        return literal_int(typed.literal)
    fits = typed.literal is not None and -LARGEST_INT <= typed.literal < 0
    return literal_int(typed.literal or 0) if fits and is_signed(other.type) else typed


def _without_widening(operand: Expression, other: Expression) -> Expression:
    """`(long)i + n` is `i + n` where n is long: C widens by itself."""
    bare = operand.bare
    if bare is None or not isinstance(bare.type, Scalar) or not isinstance(other.type, Scalar):
        return operand
    if not isinstance(operand.type, Scalar):
        return operand
    integers = bare.type.is_integer and operand.type.is_integer and other.type.is_integer
    if not integers or bare.type.size >= operand.type.size or bare.type is BOOL:
        return operand
    same = common_integer(bare.type, other.type) == common_integer(operand.type, other.type)
    return bare if same else operand


def compute(left: Expression, operator: str, right: Expression, precedence: int, result: CType) -> Expression:
    """An operator on two integer scalars of the same bits or two vectors, with the type that C gives it."""
    if isinstance(result, Vector):
        return vector_operation(left, operator, coerce(right, left.type), precedence)
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        raise TypeError(f"{left.text} {operator} {right.text}")
    if precedence == SHIFT:
        type_ = left.type if left.type.size >= INT.size else INT
    else:
        type_ = common_integer(left.type, right.type)
    expression = binary(left, operator, right, precedence, type_)
    if isinstance(result, Scalar) and result.size < type_.size:
        return cast(expression, result)
    return expression


def vector_operation(left: Expression, operator: str, right: Expression, precedence: int) -> Expression:
    """An operator on two vectors; a scalar may stand for a vector of itself."""
    type_ = left.type
    if precedence != SHIFT and left.bare is None:
        right = repeated(right, element_of(type_))
    elif precedence != SHIFT:
        left = repeated(left, element_of(type_))
    return binary(left, operator, right, precedence, type_)


def repeated(vector: Expression, element: Scalar) -> Expression:
    """The scalar that a vector repeats, where C gives that scalar the vector's element type."""
    scalar = vector.bare
    if scalar is None or scalar.type != element or (scalar.literal is not None and element.size < INT.size):
        return vector
    return scalar


def vector_pair(translator: Translator, instruction: Instruction) -> tuple[Expression, Expression]:
    """Two vector operands of one type: that of the one which is no constant."""
    first, second = instruction.operands[:2]
    if first.kind is ValueKind.CONSTANT:
        right = translator.value(second)
        return translator.as_type(first, right.type), right
    left = translator.value(first)
    return left, translator.as_type(second, left.type)
