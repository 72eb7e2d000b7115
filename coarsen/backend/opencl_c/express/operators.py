"""Operators on integers and vectors: what C does with their types, and which conversions it needs not be told."""

from __future__ import annotations

from coarsen.backend.opencl_c.c.build import converted_integer, literal_int, repeated_scalar
from coarsen.backend.opencl_c.c.coerce import coerce, common_integer
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression, Integer
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
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction

LARGEST_INT = 2**31 - 1
_SHIFTS = ("<<", ">>")


def integer_pair(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Return two integers of the same bits as C's operands, without needless suffixes and conversions."""
    left, right = _plain_literal(left, right), _plain_literal(right, left)
    left = _without_widening(left, right)
    return left, _without_widening(right, left)


def _plain_literal(operand: Expression, other: Expression) -> Expression:
    """A literal beside an integer needs no suffix where it fits into int."""
    if not isinstance(operand, Integer) or isinstance(other, Integer) or not isinstance(other.type, Scalar):
        return operand
    typed = coerce(operand, other.type)
    if not isinstance(typed, Integer):
        return typed
    fits = -LARGEST_INT <= typed.value <= LARGEST_INT and (typed.value >= 0 or is_signed(other.type))
    return literal_int(typed.value) if fits else typed


def _without_widening(operand: Expression, other: Expression) -> Expression:
    """`(long)i + n` is `i + n` where n is long: C widens by itself."""
    bare = converted_integer(operand)
    if bare is None or not isinstance(bare.type, Scalar) or not isinstance(operand.type, Scalar):
        return operand
    if not isinstance(other.type, Scalar) or not other.type.is_integer:
        return operand
    if bare.type.size >= operand.type.size or bare.type is BOOL:
        return operand
    same = common_integer(bare.type, other.type) == common_integer(operand.type, other.type)
    return bare if same else operand


def compute(left: Expression, operator: str, right: Expression, result: CType) -> Expression:
    """Return an operator on two integer scalars of the same bits or two vectors, with the type that C gives it."""
    if isinstance(result, Vector):
        return vector_operation(left, operator, coerce(right, left.type))
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        raise TypeError(f"{left} {operator} {right}")
    if operator in _SHIFTS:
        type_ = left.type if left.type.size >= INT.size else INT
    else:
        type_ = common_integer(left.type, right.type)
    expression = Binary(left, operator, right, type_)
    if isinstance(result, Scalar) and result.size < type_.size:
        return Cast(expression, result)
    return expression


def vector_operation(left: Expression, operator: str, right: Expression) -> Expression:
    """Return an operator on two vectors; a scalar may stand for a vector of itself."""
    type_ = left.type
    if operator not in _SHIFTS and repeated_scalar(left) is None:
        right = repeated(right, element_of(type_))
    elif operator not in _SHIFTS:
        left = repeated(left, element_of(type_))
    return Binary(left, operator, right, type_)


def repeated(vector: Expression, element: Scalar) -> Expression:
    """Return the scalar that a vector repeats, where C gives that scalar the vector's element type."""
    scalar = repeated_scalar(vector)
    if scalar is None or scalar.type != element or (isinstance(scalar, Integer) and element.size < INT.size):
        return vector
    return scalar


def vector_pair(translator: Translator, instruction: Instruction) -> tuple[Expression, Expression]:
    """Return two vector operands of one type: that of the one which is no constant."""
    first, second = instruction.operands[:2]
    if first.kind is ValueKind.CONSTANT:
        right = translator.value(second)
        return translator.as_type(first, right.type), right
    left = translator.value(first)
    return left, translator.as_type(second, left.type)
