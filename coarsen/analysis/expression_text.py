"""Expressions over sizes as people read them, `⌈(width - 3) / 4⌉` or `4·width·height`, and as JSON."""

from __future__ import annotations

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


def expression_as_data(expression: Expression) -> object:
    """Return an expression as what `json.dumps` takes."""
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Name):
        return expression.text
    return {expression.operator.value: [expression_as_data(operand) for operand in expression.operands]}
