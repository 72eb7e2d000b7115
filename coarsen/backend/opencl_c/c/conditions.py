"""Conditions joined and negated, as a reader would write them."""

from __future__ import annotations

from coarsen.backend.opencl_c.c.tree import Binary, Expression, Logical, Unary
from coarsen.backend.opencl_c.c.types import BOOL

_OPPOSITE = {"==": "!=", "!=": "==", ">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def negation(condition: Expression) -> Expression:
    """Return the opposite of a condition."""
    return _opposite(condition) or Unary("!", condition, BOOL)


def _opposite(condition: Expression) -> Expression | None:
    """Return the opposite that needs no `!` before the whole, or None; by De Morgan's law of what is joined."""
    match condition:
        case Unary("!", operand):
            return operand
        case Binary(left, operator, right, type_, True):
            return Binary(left, _OPPOSITE[operator], right, type_, True)
        case Logical(left, is_conjunction, right, is_eager):
            first, second = _opposite(left), _opposite(right)
            if first is not None and second is not None:
                return Logical(first, not is_conjunction, second, is_eager)
    return None


def logical_and(left: Expression, right: Expression) -> Expression:
    """Return `left && right`."""
    return Logical(left, True, right)


def logical_or(left: Expression, right: Expression) -> Expression:
    """Return `left || right`."""
    return Logical(left, False, right)


def both(left: Expression, right: Expression) -> Expression:
    """Return `left & right`: both sides are computed, as LLVM's `and` does.

    Intel's runtime (2026.2) crashes while it vectorises loops with barriers whose conditions hold `&&`. An `or`
    stays `||` all the same: with both of them eager, PoCL (3.1) ran a guarded stencil at 0.8 of the speed.
    """
    return Logical(left, True, right, is_eager=True)
