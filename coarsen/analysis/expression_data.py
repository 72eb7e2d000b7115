"""Expressions over sizes as JSON: a number, a name in quotation marks, or {operator: [operands]}.

    {"ceiling": [{"sum": ["width", -3]}, 4]}

Only the operators of `expressions.py` are read; nothing in a file is ever evaluated as code.
"""

from __future__ import annotations

import math

from coarsen.analysis.expression_nodes import Combined, Operator
from coarsen.analysis.expressions import Expression, Name, Number
from coarsen.errors import InvalidInputError

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
