"""Arithmetic: LLVM's integers wrap and have no sign, C's signed ones may not overflow.

`add nsw` may be written with signed operands; a plain `add` is computed unsigned. Types narrower than int are
computed as int, as C does, and cut back.
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.backend.opencl_c.c.build import call, is_zero, literal_int, repeated_scalar
from coarsen.backend.opencl_c.c.coerce import coerce, common_integer
from coarsen.backend.opencl_c.c.tree import Binary, Expression, Integer, Unary
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    CType,
    Scalar,
    Vector,
    with_sign,
)
from coarsen.backend.opencl_c.express.bits import exclusive
from coarsen.backend.opencl_c.express.operators import (
    LARGEST_INT,
    compute,
    integer_pair,
    vector_operation,
    vector_pair,
)
from coarsen.backend.opencl_c.express.translator import Handler, Translator
from coarsen.ir.kernel import Instruction


def _sum(operator: str) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand) for operand in instruction.operands)
        if isinstance(left.type, Vector):
            return _vector_sum(translator, instruction, operator)
        if left.type is BOOL:
            return _exclusive_or(translator, instruction)
        if operator == "+" and _is_negative(right, left):
            return _wrapping(left, "-", _negated(right, left), instruction)
        return _wrapping(left, operator, right, instruction)

    return write


def _vector_sum(translator: Translator, instruction: Instruction, operator: str) -> Expression:
    left, right = vector_pair(translator, instruction)
    if operator == "-" and is_zero(repeated_scalar(left)):
        return Unary("-", right, right.type)
    return vector_operation(left, operator, right)


def _is_negative(literal: Expression, other: Expression) -> bool:
    if not isinstance(literal, Integer) or isinstance(other, Integer) or not isinstance(other.type, Scalar):
        return False
    signed = coerce(literal, with_sign(other.type, signed=True))
    return isinstance(signed, Integer) and -LARGEST_INT <= signed.value < 0


def _negated(literal: Expression, other: Expression) -> Expression:
    signed = coerce(literal, with_sign(other.type, signed=True))
    return coerce(literal_int(-signed.value if isinstance(signed, Integer) else 0), other.type)


def _wrapping(left: Expression, operator: str, right: Expression, instruction: Instruction) -> Expression:
    result = right.type if isinstance(left, Integer) else left.type
    left, right = integer_pair(left, right)
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        raise TypeError(instruction.text)
    type_ = common_integer(left.type, right.type)
    narrow_product = operator == "*" and isinstance(result, Scalar) and result.size < INT.size
    if type_.kind == "signed" and (narrow_product or _may_wrap(instruction, result)):
        unsigned = with_sign(type_, signed=False)
        if not isinstance(left, Integer):
            left = coerce(left, unsigned)
        else:
            right = coerce(right, unsigned)
    return compute(left, operator, right, result)


def _may_wrap(instruction: Instruction, result: CType) -> bool:
    """Return True if C's signed arithmetic might overflow; sums of narrow integers, computed as int, never do."""
    is_narrow = isinstance(result, Scalar) and result.size < INT.size
    return not is_narrow and "nsw" not in instruction.flags


def _signed_pair(signed: bool, operator: str) -> Handler:
    """Division and remainder, where both operands need the sign."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand, signed=signed) for operand in instruction.operands)
        if isinstance(left.type, Vector):
            return compute(left, operator, right, left.type)
        result = left.type
        left, right = integer_pair(left, right)
        if signed != _computed_signed(left, right):
            left = coerce(left, result)
        return compute(left, operator, right, result)

    return write


def _computed_signed(left: Expression, right: Expression) -> bool:
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        return True
    type_ = common_integer(left.type, right.type)
    # Narrow unsigned integers are computed as int, and exactly so.
    return type_.kind == "signed" and not (left.type.kind == right.type.kind == "unsigned")


def _exclusive_or(translator: Translator, instruction: Instruction) -> Expression:
    return exclusive(*(translator.value(operand) for operand in instruction.operands))


def _float(operator: str) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand) for operand in instruction.operands)
        if isinstance(left.type, Vector):
            return vector_operation(left, operator, right)
        return Binary(left, operator, right, left.type)

    return write


def _remainder(translator: Translator, instruction: Instruction) -> Expression:
    left, right = (translator.value(operand) for operand in instruction.operands)
    return call("fmod", [left, right], left.type)


def _negate(translator: Translator, instruction: Instruction) -> Expression:
    operand = translator.value(instruction.operands[0])
    return Unary("-", operand, operand.type)


ARITHMETIC: Mapping[str, Handler] = {
    "add": _sum("+"),
    "sub": _sum("-"),
    "mul": _sum("*"),
    "sdiv": _signed_pair(True, "/"),
    "udiv": _signed_pair(False, "/"),
    "srem": _signed_pair(True, "%"),
    "urem": _signed_pair(False, "%"),
    "fadd": _float("+"),
    "fsub": _float("-"),
    "fmul": _float("*"),
    "fdiv": _float("/"),
    "frem": _remainder,
    "fneg": _negate,
}
