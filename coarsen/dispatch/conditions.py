"""Conditions on local sizes and macros for a launch to make sense: `TILE == local_size_0`.

A kernel with a tile of a fixed size takes only work-groups of that size. With any other it computes nothing
meaningful, so that such a point of the optimisation space is ruled out instead of being measured.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.errors import InvalidInputError

_Comparison = Callable[[int, int], bool]
_COMPARISONS: Mapping[str, _Comparison] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<=": operator.le,
        ">=": operator.ge,
        "<": operator.lt,
        ">": operator.gt,
    }
)
_SIGN = re.compile("==|!=|<=|>=|<|>")


@dataclass(frozen=True, slots=True)
class Condition:
    """Two expressions and what must be true of their values; `sign` is one of == != <= >= < >."""

    text: str
    sign: str
    left: Expression
    right: Expression

    @property
    def names(self) -> frozenset[str]:
        """The names that it needs."""
        return self.left.names | self.right.names

    def holds(self, values: Mapping[str, int]) -> bool:
        """Return True if it is fulfilled. Raises InvalidInputError where a side can't be computed."""
        return _COMPARISONS[self.sign](self.left.evaluate(values), self.right.evaluate(values))

    def check(self, values: Mapping[str, int]) -> None:
        """Raise InvalidInputError, with the values, if it is not fulfilled."""
        if not self.holds(values):
            shown = ", ".join(f"{name} = {values[name]}" for name in sorted(self.names))
            raise InvalidInputError(f"'{self.text}' does not hold" + (f" for {shown}" if shown else ""))


def parse_condition(text: str) -> Condition:
    """Read a condition: two expressions with a sign between them.

    Raises:
        InvalidInputError: there is no sign, or more than one; a side that is no expression.
    """
    signs = _SIGN.findall(text)
    if len(signs) != 1:
        raise InvalidInputError(f"'{text}' must compare two expressions by one of {' '.join(_COMPARISONS)}")
    left, _, right = text.partition(signs[0])
    return Condition(text, signs[0], parse_expression(left), parse_expression(right))
