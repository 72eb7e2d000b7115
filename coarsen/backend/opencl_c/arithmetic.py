"""Arithmetic: LLVM's integers wrap and have no sign, C's signed ones may not overflow.

`add nsw` may be written with signed operands; a plain `add` is computed unsigned. Types narrower than int are
computed as int, as C does, and cut back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c_types import (
    BOOL,
    INT,
    CType,
    Scalar,
    Vector,
    element_of,
    is_signed,
    with_sign,
)
from coarsen.backend.opencl_c.expression import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    EQUALITY,
    LOGICAL_AND,
    LOGICAL_OR,
    PRODUCT,
    SHIFT,
    SUM,
    Expression,
    binary,
    call,
    cast,
    coerce,
    common_integer,
    literal_int,
    unary,
)
from coarsen.backend.opencl_c.translator import Handler, Translator
from coarsen.ir.details import flags
from coarsen.ir.kernel import Instruction, Value, ValueKind
from coarsen.ir.types import IntegerType, VectorType

_LARGEST_INT = 2**31 - 1
_LARGEST_BYTE = 255


def integer_pair(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Two integers of the same bits as C's operands: literals take the other's type, wide conversions are dropped."""
    left, right = _plain_literal(left, right), _plain_literal(right, left)
    left = _without_widening(left, right)
    return left, _without_widening(right, left)


def _plain_literal(operand: Expression, other: Expression) -> Expression:
    """A literal beside an integer needs no suffix where it fits into int."""
    if operand.literal is None or other.literal is not None or not isinstance(other.type, Scalar):
        return operand
    typed = coerce(operand, other.type)
    if typed.literal is not None and 0 <= typed.literal <= _LARGEST_INT:
        return literal_int(typed.literal)
    fits = typed.literal is not None and -_LARGEST_INT <= typed.literal < 0
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


def _sum(operator: str, precedence: int) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand) for operand in instruction.operands)
        if isinstance(left.type, Vector):
            return _vector_sum(translator, instruction, operator, precedence)
        if left.type is BOOL:
            return _exclusive_or(translator, instruction)
        if operator == "+" and _is_negative(right, left):
            return _wrapping(left, "-", _negated(right, left), precedence, instruction)
        return _wrapping(left, operator, right, precedence, instruction)

    return write


def _vector_sum(translator: Translator, instruction: Instruction, operator: str, precedence: int) -> Expression:
    left, right = vector_pair(translator, instruction)
    if operator == "-" and left.bare is not None and left.bare.literal == 0:
        return unary("-", right, right.type)
    return vector_operation(left, operator, right, precedence)


def vector_pair(translator: Translator, instruction: Instruction) -> tuple[Expression, Expression]:
    """Two vector operands of one type: that of the one which is no constant."""
    first, second = instruction.operands[:2]
    if first.kind is ValueKind.CONSTANT:
        right = translator.value(second)
        return translator.as_type(first, right.type), right
    left = translator.value(first)
    return left, translator.as_type(second, left.type)


def _is_negative(literal: Expression, other: Expression) -> bool:
    if literal.literal is None or other.literal is not None or not isinstance(other.type, Scalar):
        return False
    signed = coerce(literal, with_sign(other.type, signed=True)).literal
    return signed is not None and -_LARGEST_INT <= signed < 0


def _negated(literal: Expression, other: Expression) -> Expression:
    signed = coerce(literal, with_sign(other.type, signed=True)).literal or 0
    return coerce(literal_int(-signed), other.type)


def _wrapping(
    left: Expression, operator: str, right: Expression, precedence: int, instruction: Instruction
) -> Expression:
    result = left.type if left.literal is None else right.type
    left, right = integer_pair(left, right)
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        raise TypeError(instruction.text)
    type_ = common_integer(left.type, right.type)
    narrow_product = operator == "*" and isinstance(result, Scalar) and result.size < INT.size
    if type_.kind == "signed" and (narrow_product or _may_wrap(instruction, result)):
        unsigned = with_sign(type_, signed=False)
        if left.literal is None:
            left = coerce(left, unsigned)
        else:
            right = coerce(right, unsigned)
    return compute(left, operator, right, precedence, result)


def _may_wrap(instruction: Instruction, result: CType) -> bool:
    """Whether C's signed arithmetic might overflow; sums of narrow integers never do, being computed as int."""
    is_narrow = isinstance(result, Scalar) and result.size < INT.size
    return not is_narrow and "nsw" not in flags(instruction)


def _signed_pair(signed: bool, operator: str, precedence: int = PRODUCT) -> Handler:
    """Division and remainder, where both operands need the sign."""

    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand, signed=signed) for operand in instruction.operands)
        if isinstance(left.type, Vector):
            return compute(left, operator, right, precedence, left.type)
        result = left.type
        left, right = integer_pair(left, right)
        if signed != _computed_signed(left, right):
            left = coerce(left, result)
        return compute(left, operator, right, precedence, result)

    return write


def _computed_signed(left: Expression, right: Expression) -> bool:
    if not isinstance(left.type, Scalar) or not isinstance(right.type, Scalar):
        return True
    type_ = common_integer(left.type, right.type)
    # Narrow unsigned integers are computed as int, and exactly so.
    return type_.kind == "signed" and not (left.type.kind == right.type.kind == "unsigned")


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
    """The bits of `second` where the mask has ones; of the values that the bits are from, if a whole mask chooses."""
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


def negation(condition: Expression) -> Expression:
    """The opposite of a condition."""
    if condition.negated is not None:
        return condition.negated
    opposite = unary("!", condition, BOOL)
    return Expression(opposite.text, opposite.precedence, BOOL, negated=condition)


def _exclusive(left: Expression, right: Expression) -> Expression:
    if right.text in ("true", "false"):
        return negation(left) if right.text == "true" else left
    if left.text in ("true", "false"):
        return negation(right) if left.text == "true" else right
    return binary(left, "!=", right, EQUALITY, BOOL)


def _exclusive_or(translator: Translator, instruction: Instruction) -> Expression:
    return _exclusive(*(translator.value(operand) for operand in instruction.operands))


def logical_and(left: Expression, right: Expression) -> Expression:
    """`left && right`."""
    return _with_opposite(binary(left, "&&", right, LOGICAL_AND, BOOL), left, "||", right, LOGICAL_OR)


def logical_or(left: Expression, right: Expression) -> Expression:
    """`left || right`."""
    return _with_opposite(binary(left, "||", right, LOGICAL_OR, BOOL), left, "&&", right, LOGICAL_AND)


def _with_opposite(
    condition: Expression, left: Expression, operator: str, right: Expression, precedence: int
) -> Expression:
    """A condition that knows its opposite by De Morgan's law, where both parts know theirs."""
    if left.negated is None or right.negated is None:
        return condition
    opposite = binary(left.negated, operator, right.negated, precedence, BOOL)
    return replace(condition, negated=replace(opposite, negated=condition))


def _float(operator: str, precedence: int) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        left, right = (translator.value(operand) for operand in instruction.operands)
        if isinstance(left.type, Vector):
            return vector_operation(left, operator, right, precedence)
        return binary(left, operator, right, precedence, left.type)

    return write


def _remainder(translator: Translator, instruction: Instruction) -> Expression:
    left, right = (translator.value(operand) for operand in instruction.operands)
    return call("fmod", [left, right], left.type)


def _negate(translator: Translator, instruction: Instruction) -> Expression:
    operand = translator.value(instruction.operands[0])
    return unary("-", operand, operand.type)


ARITHMETIC: Mapping[str, Handler] = {
    "add": _sum("+", SUM),
    "sub": _sum("-", SUM),
    "mul": _sum("*", PRODUCT),
    "sdiv": _signed_pair(True, "/"),
    "udiv": _signed_pair(False, "/"),
    "srem": _signed_pair(True, "%"),
    "urem": _signed_pair(False, "%"),
    "shl": _shift("<<", None),
    "lshr": _shift(">>", False),
    "ashr": _shift(">>", True),
    "and": _bits("&", BIT_AND, logical_and),
    "or": _bits("|", BIT_OR, logical_or),
    "xor": _bits("^", BIT_XOR, _exclusive),
    "fadd": _float("+", SUM),
    "fsub": _float("-", SUM),
    "fmul": _float("*", PRODUCT),
    "fdiv": _float("/", PRODUCT),
    "frem": _remainder,
    "fneg": _negate,
}
