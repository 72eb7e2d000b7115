"""Expressions read back from their JSON."""

from __future__ import annotations

from coarsen.analysis.expressions import Combined, Expression, Name, Number, Operator


def expression_from_data(data: object) -> Expression:
    """Return the expression that `expression_as_data` made data of."""
    if isinstance(data, str):
        return Name(data)
    if isinstance(data, int | float):
        return Number(data)
    assert isinstance(data, dict)
    [(operator, operands)] = data.items()
    return Combined(Operator(operator), tuple(map(expression_from_data, operands)))
