"""Conditions joined and negated, as a reader would write them."""

from __future__ import annotations

from dataclasses import replace

from coarsen.backend.opencl_c.c_types import (
    BOOL,
)
from coarsen.backend.opencl_c.expression import (
    LOGICAL_AND,
    LOGICAL_OR,
    PRIMARY,
    Expression,
    binary,
    unary,
)


def negation(condition: Expression) -> Expression:
    """The opposite of a condition."""
    if condition.negated is not None:
        return condition.negated
    opposite = unary("!", condition, BOOL)
    return Expression(opposite.text, opposite.precedence, BOOL, negated=condition)


def logical_and(left: Expression, right: Expression) -> Expression:
    """`left && right`."""
    return _with_opposite(binary(left, "&&", right, LOGICAL_AND, BOOL), left, "||", right, LOGICAL_OR)


def logical_or(left: Expression, right: Expression) -> Expression:
    """`left || right`."""
    either = binary(_grouped(left), "||", _grouped(right), LOGICAL_OR, BOOL)
    return _with_opposite(either, left, "&&", right, LOGICAL_AND)


def _grouped(operand: Expression) -> Expression:
    """An `&&` inside of an `||` in parentheses, which C does not need and readers do."""
    if operand.precedence != LOGICAL_AND:
        return operand
    return replace(operand, text=f"({operand.text})", precedence=PRIMARY)


def _with_opposite(
    condition: Expression, left: Expression, operator: str, right: Expression, precedence: int
) -> Expression:
    """A condition that knows its opposite by De Morgan's law, where both parts know theirs."""
    if left.negated is None or right.negated is None:
        return condition
    first, second = left.negated, right.negated
    if operator == "||":
        first, second = _grouped(first), _grouped(second)
    opposite = binary(first, operator, second, precedence, BOOL)
    return replace(condition, negated=replace(opposite, negated=condition))
