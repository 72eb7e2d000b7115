"""The values of expressions over sizes (`expressions.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from coarsen.analysis.expression_nodes import Expression, Name, Number, Operator, Quantity
from coarsen.errors import InvalidInputError

# No size is larger than 2 to this.
_LARGEST_EXPONENT = 64


def evaluate(expression: Expression, sizes: Mapping[str, Quantity]) -> Quantity:
    """Return the value of an expression.

    Args:
        expression: to evaluate.
        sizes: the values by name; what isn't needed may be there.

    Raises:
        InvalidInputError: a name has no value, or something is divided by 0; the message names it.
    """
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Name):
        if expression.text not in sizes:
            raise InvalidInputError(f"the size '{expression.text}' needs a value")
        return sizes[expression.text]
    if expression.operator is Operator.OTHERWISE:
        value, assumed = expression.operands
        return evaluate(value if value.names <= sizes.keys() else assumed, sizes)
    values = [evaluate(operand, sizes) for operand in expression.operands]
    try:
        return _RULES[expression.operator](values)
    except (ZeroDivisionError, OverflowError):
        names = ", ".join(sorted(expression.names))
        raise InvalidInputError(f"these sizes give no finite number of work: {names}") from None


def applied(operator: Operator, values: Sequence[Quantity]) -> Quantity:
    """Return what an operator gives. Raises ZeroDivisionError or OverflowError for no finite number."""
    return _RULES[operator](values)


def _logarithm(values: Sequence[Quantity]) -> Quantity:
    value, base = math.floor(values[0]), int(values[1])
    found = -1
    while value >= 1:
        value, found = value // base, found + 1
    return found


def _power(values: Sequence[Quantity]) -> Quantity:
    if values[1] > _LARGEST_EXPONENT:
        raise OverflowError
    return values[0] ** values[1]


_RULES: Mapping[Operator, Callable[[Sequence[Quantity]], Quantity]] = {
    Operator.SUM: sum,
    Operator.PRODUCT: math.prod,
    Operator.QUOTIENT: lambda values: values[0] / values[1],
    Operator.CEILING: lambda values: -math.floor(-values[0] // values[1]),
    Operator.FLOOR: lambda values: math.floor(values[0] // values[1]),
    Operator.MINIMUM: min,
    Operator.MAXIMUM: max,
    Operator.LOGARITHM: _logarithm,
    Operator.POWER: _power,
}
