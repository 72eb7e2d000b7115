"""Expressions over sizes as people read them: `⌈(width - 3) / 4⌉`, `4·width·height`, `min(width, 16)`."""

from __future__ import annotations

import math

from coarsen.analysis.expressions import (
    Combined,
    Expression,
    Name,
    Number,
    Operator,
    as_known,
    number,
    product,
    split,
)
from coarsen.errors import InvalidInputError

_CALLS = {Operator.MINIMUM: "min", Operator.MAXIMUM: "max"}


def expression_text(expression: Expression) -> str:
    """Return an expression in one line, as it is where all names have values."""
    return _text(as_known(expression))


def _text(expression: Expression) -> str:
    if isinstance(expression, Number):
        return str(expression.value) if isinstance(expression.value, int) else f"{expression.value:.6g}"
    if isinstance(expression, Name):
        return expression.text
    operands = expression.operands
    match expression.operator:
        case Operator.SUM:
            return _sum(expression)
        case Operator.PRODUCT:
            return "·".join(map(_factor, operands))
        case Operator.QUOTIENT:
            return f"{_factor(operands[0])} / {_divisor(operands[1])}"
        case Operator.CEILING:
            return f"⌈{_ratio(*operands)}⌉"
        case Operator.FLOOR:
            return f"⌊{_ratio(*operands)}⌋"
        case Operator.LOGARITHM:
            return f"⌊log{_text(operands[1])}({_text(operands[0])})⌋"
        case Operator.POWER:
            return f"{_text(operands[0])}^{_in_parentheses(operands[1], set(Operator))}"
        case _:
            return f"{_CALLS[expression.operator]}({', '.join(map(_text, operands))})"


def _sum(expression: Combined) -> str:
    text = ""
    for term in expression.operands:
        factor, rest = split(term)
        spelled = _text(product([number(abs(factor)), rest]))
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {spelled}" if text else f"-{spelled}" if factor < 0 else spelled
    return text


def _ratio(dividend: Expression, divisor: Expression) -> str:
    if divisor == Number(1):
        return _text(dividend)
    return f"{_factor(dividend)} / {_divisor(divisor)}"


def _factor(expression: Expression) -> str:
    return _in_parentheses(expression, {Operator.SUM, Operator.QUOTIENT})


def _divisor(expression: Expression) -> str:
    return _in_parentheses(expression, {Operator.SUM, Operator.QUOTIENT, Operator.PRODUCT})


def _in_parentheses(expression: Expression, looser: set[Operator]) -> str:
    text = _text(expression)
    return f"({text})" if isinstance(expression, Combined) and expression.operator in looser else text


# Expressions over sizes as JSON: a number, a name in quotation marks, or {operator: [operands]}.
#
#     {"ceiling": [{"sum": ["width", -3]}, 4]}
#
# Only the operators of `expressions.py` are read; nothing in a file is ever evaluated as code.

_DEEPEST = 100
_LONGEST_NAME = 200  # characters
_PAIRS = {
    Operator.QUOTIENT,
    Operator.CEILING,
    Operator.FLOOR,
    Operator.LOGARITHM,
    Operator.OTHERWISE,
    Operator.POWER,
}


def expression_as_data(expression: Expression) -> object:
    """Return an expression as what `json.dumps` takes."""
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Name):
        return expression.text
    return {expression.operator.value: [expression_as_data(operand) for operand in expression.operands]}


def expression_from_data(data: object, depth: int = 0) -> Expression:
    """Return the expression that JSON's data is.

    Raises:
        InvalidInputError: it is none; the message says what stands in its place.
    """
    if depth > _DEEPEST:
        raise InvalidInputError(f"an expression is nested more than {_DEEPEST} deep")
    if isinstance(data, str) and 0 < len(data) <= _LONGEST_NAME:
        return Name(data)
    if isinstance(data, int | float) and not isinstance(data, bool) and math.isfinite(data):
        return Number(data)
    if not isinstance(data, dict) or len(data) != 1:
        raise InvalidInputError(
            f"an expression is a number, a name or an operator with its operands, not {_shown(data)}"
        )
    [(operator, operands)] = data.items()
    if operator not in list(Operator):
        raise InvalidInputError(f"an expression has the unknown operator {_shown(operator)}")
    known = Operator(operator)
    if not isinstance(operands, list) or not operands or (known in _PAIRS and len(operands) != 2):
        raise InvalidInputError(f"the operands of '{known}' in an expression are missing or too many")
    read = tuple(expression_from_data(operand, depth + 1) for operand in operands)
    base = {Operator.LOGARITHM: read[-1], Operator.POWER: read[0]}.get(known)
    if base is not None and not _is_base(base):
        raise InvalidInputError(f"the base of a {known} in an expression is a whole number of at least 2")
    return Combined(known, read)


def _is_base(expression: Expression) -> bool:
    return isinstance(expression, Number) and isinstance(expression.value, int) and expression.value >= 2


def _shown(data: object) -> str:
    return repr(data)[:60]
