"""Comparisons and choices.

A scalar comparison is a condition (`bool`); a vector's is a mask of -1 and 0, as in OpenCL C, with elements as
wide as those compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.conditions import logical_and, logical_or, negation
from coarsen.backend.opencl_c.c.expression import (
    CONDITIONAL,
    EQUALITY,
    PRIMARY,
    RELATION,
    UNARY,
    Expression,
    binary,
    call,
    cast,
    coerce,
    literal_int,
    promoted,
    unary,
)
from coarsen.backend.opencl_c.c.types import BOOL, LONG, CType, Pointer, Vector, element_of, integer
from coarsen.backend.opencl_c.express.operators import integer_pair, repeated
from coarsen.backend.opencl_c.express.translator import Handler, Translator
from coarsen.ir.details import flags, predicate
from coarsen.ir.kernel import Instruction

_OPERATORS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
_NUMBER = re.compile(r"-?\d[\d.e+-]*f?")
_OPPOSITE = {"==": "!=", "!=": "==", ">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def _compare(left: Expression, operator: str, right: Expression, *, exact: bool = True) -> Expression:
    """A comparison; with `exact`, its opposite is that of the operator (not so where NaNs compare)."""
    precedence = EQUALITY if operator in ("==", "!=") else RELATION
    type_ = comparison_type(left.type)
    expression = binary(left, operator, right, precedence, type_)
    if not exact or type_ is not BOOL:
        return expression
    opposite = _OPPOSITE[operator]
    negated = binary(left, opposite, right, EQUALITY if opposite in ("==", "!=") else RELATION, type_)
    return replace(expression, negated=replace(negated, negated=expression))


def comparison_type(type_: CType) -> CType:
    """What OpenCL C gives for a comparison of this type."""
    if isinstance(type_, Vector):
        return Vector(integer(type_.element.size * 8, signed=True), type_.count, is_mask=True)
    return BOOL


def _integers(translator: Translator, instruction: Instruction) -> Expression:
    word = predicate(instruction)
    operator = _OPERATORS[word if word in _OPERATORS else word[1:]]
    signed = None if word in _OPERATORS else word[0] == "s"
    first, second = instruction.operands
    left, right = translator.value(first, signed=signed), translator.value(second, signed=signed)
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        return _pointers(left, operator, right)
    if left.type is BOOL or right.type is BOOL:
        return _booleans(left, operator, right, swapped=bool(signed))
    if isinstance(left.type, Vector):
        return _vectors(left, operator, coerce(right, left.type))
    if left.literal is not None and right.literal is None:
        left, right, operator = right, left, {">": "<", "<": ">", ">=": "<=", "<=": ">="}.get(operator, operator)
    return _scalars(left, operator, right)


def _vectors(left: Expression, operator: str, right: Expression) -> Expression:
    """A mask that was made a vector of numbers and is tested again is the mask."""
    is_zero = right.bare is not None and right.bare.literal == 0
    if left.mask is not None and is_zero and operator in ("<", "!="):
        return left.mask
    return _compare(left, operator, repeated(right, element_of(left.type)))


def _scalars(left: Expression, operator: str, right: Expression) -> Expression:
    """Both operands' signs must agree where C would compare them as another type than LLVM does."""
    right = coerce(right, left.type)
    return _compare(*_with_operator(integer_pair(left, right), operator))


def equality(value: Expression, number: int) -> Expression:
    """The condition that an integer is a number."""
    return _scalars(value, "==", literal_int(number, LONG))


def _with_operator(pair: tuple[Expression, Expression], operator: str) -> tuple[Expression, str, Expression]:
    return pair[0], operator, pair[1]


def _pointers(left: Expression, operator: str, right: Expression) -> Expression:
    if isinstance(left.type, Pointer) and right.text != "0":
        right = coerce(right, left.type)
    return _compare(left, operator, right)


def _booleans(left: Expression, operator: str, right: Expression, *, swapped: bool) -> Expression:
    """Conditions compare as 0 and 1, as signed i1 as 0 and -1."""
    for one, other in ((left, right), (right, left)):
        if other.text in ("true", "false") and operator in ("==", "!="):
            return one if (other.text == "true") == (operator == "==") else negation(one)
    if swapped:
        left, right = right, left
    return _compare(left, operator, right)


def _floats(translator: Translator, instruction: Instruction) -> Expression:
    left, right = (translator.value(operand) for operand in instruction.operands)
    word = predicate(instruction)
    type_ = comparison_type(left.type)
    if word in ("true", "false"):
        return _constant(word == "true", type_)
    if word in ("ord", "uno"):
        return _ordering(left, right, word, type_)
    if left.bare is None and isinstance(left.type, Vector):
        right = repeated(right, left.type.element)
    operator = _OPERATORS[word[1:]]
    if "nnan" in flags(instruction) or "fast" in flags(instruction):
        return _compare(left, operator, right)
    if word in ("oeq", "une"):
        return _compare(left, operator, right)
    if word in ("one", "ueq"):
        different = call("islessgreater", [left, right], type_)
        return different if word == "one" else _opposite(different)
    if word[0] == "o":
        return _compare(left, operator, right, exact=False)
    return _opposite(_compare(left, _OPPOSITE[operator], right, exact=False))


def _ordering(left: Expression, right: Expression, word: str, type_: CType) -> Expression:
    single = left.text == right.text or bool(_NUMBER.fullmatch(right.text))
    unordered = call("isnan", [left], type_) if single else call("isunordered", [left, right], type_)
    return unordered if word == "uno" else _opposite(unordered)


def _opposite(condition: Expression) -> Expression:
    return unary("~", condition, condition.type) if isinstance(condition.type, Vector) else negation(condition)


def _constant(value: bool, type_: CType) -> Expression:
    if isinstance(type_, Vector):
        return Expression(f"({type_})({-int(value)})", UNARY, type_)
    return Expression("true" if value else "false", PRIMARY, BOOL)


def _select(translator: Translator, instruction: Instruction) -> Expression:
    condition = translator.value(instruction.operands[0])
    first, second = (translator.value(operand) for operand in instruction.operands[1:])
    if isinstance(condition.type, Vector):
        return _vector_choice(condition, first, second)
    if first.type is BOOL and second.type is BOOL:
        return _boolean_choice(condition, first, second)
    return choose(condition, first, second)


def choose(condition: Expression, first: Expression, second: Expression) -> Expression:
    """`condition ? first : second`, both of one type."""
    type_ = second.type if first.literal is not None or first.text == "0" else first.type
    first, second = coerce(first, type_), coerce(second, type_)
    result = promoted(type_)
    text = f"{condition.at(CONDITIONAL + 1)} ? {first.at(CONDITIONAL + 1)} : {second.at(CONDITIONAL)}"
    expression = Expression(text, CONDITIONAL, result)
    return expression if result == type_ else cast(expression, type_)


def _boolean_choice(condition: Expression, first: Expression, second: Expression) -> Expression:
    simple: Mapping[tuple[str, str], Callable[[], Expression]] = {
        ("", "false"): lambda: logical_and(condition, first),
        ("true", ""): lambda: logical_or(condition, second),
        ("", "true"): lambda: logical_or(negation(condition), first),
        ("false", ""): lambda: logical_and(negation(condition), second),
    }
    words = ("true", "false")
    key = (first.text if first.text in words else "", second.text if second.text in words else "")
    if key in simple:
        return simple[key]()
    text = f"{condition.at(CONDITIONAL + 1)} ? {first.at(CONDITIONAL + 1)} : {second.at(CONDITIONAL)}"
    return Expression(text, CONDITIONAL, BOOL)


def _vector_choice(mask: Expression, first: Expression, second: Expression) -> Expression:
    second = coerce(second, first.type)
    width = element_of(first.type).size * 8
    count = first.type.count if isinstance(first.type, Vector) else 0
    condition = coerce(mask, Vector(integer(width, signed=True), count, is_mask=True))
    return call("select", [second, first, condition], first.type)


COMPARISONS: Mapping[str, Handler] = {"icmp": _integers, "fcmp": _floats, "select": _select}
