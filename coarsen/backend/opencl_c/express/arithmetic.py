"""Arithmetic: LLVM's integers wrap and have no sign, C's signed ones may not overflow.

`add nsw` may be written with signed operands; a plain `add` is computed unsigned. Types narrower than int are
computed as int, as C does, and cut back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coarsen.backend.opencl_c.c.build import (
    both,
    call,
    coerce,
    common_integer,
    comparison,
    converted_integer,
    is_zero,
    literal_int,
    logical_or,
    negation,
    repeated_scalar,
)
from coarsen.backend.opencl_c.c.tree import Binary, Boolean, Cast, Expression, Integer, Reinterpretation, Unary
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    CType,
    Scalar,
    Vector,
    element_of,
    is_signed,
    size_of,
    with_sign,
)
from coarsen.backend.opencl_c.express.translator import Handler, Translator
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.types import IntegerType, VectorType

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


def _is_mask(translator: Translator, value: Operand) -> bool:
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


def _inverted(translator: Translator, instruction: Instruction | None) -> Operand | None:
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


def _sum(operator: str) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand) for operand in instruction.operands)
        if isinstance(left.type, Vector):
            return _vector_sum(translator, instruction, operator)
        if left.type is BOOL:
            return exclusive(left, right)
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
        raise TypeError(str(instruction.opcode))
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
