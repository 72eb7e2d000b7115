"""Forms that are bit-exact: what integer arithmetic gives modulo 2^n, for whoever numbers values."""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.ring import RingRule
from coarsen.analysis.algebra.rules import TABLE

# Longer sums are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 8
_MAXIMUM_DEGREE = 4
_RULES: Mapping[str, RingRule] = {opcode: rule.exact for opcode, rule in TABLE.items() if rule.exact is not None}


def is_exact(opcode: str) -> bool:
    """Return True for an operation on two integers that `combined` may follow."""
    return opcode in _RULES


def combined(opcode: str, first: Polynomial, second: Polynomial, width: int) -> Polynomial | None:
    """Return the polynomial of an operation's result.

    Args:
        opcode: the operation, for which `is_exact` holds.
        first: the first operand's polynomial, which equals it modulo 2^width.
        second: the second operand's.
        width: the bits of the operands and of the result.

    Returns:
        The result's polynomial, which equals it modulo 2^width; None where the rule says nothing, or too much.
    """
    if len(first.terms) * len(second.terms) > 2 * _MAXIMUM_TERMS and opcode == "mul":
        return None
    found = _RULES[opcode](first, second, width)
    result = found.modulo(width) if found is not None else None
    is_small = result is not None and len(result.terms) <= _MAXIMUM_TERMS and result.degree <= _MAXIMUM_DEGREE
    return result if is_small else None
