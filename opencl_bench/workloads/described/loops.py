"""What only launches have: quotients of sizes, and loops, `repeat = ["run in doubling(2, n)"]`.

range(low, high)      low, low + 1, … below high
doubling(low, high)   low, 2 * low, … up to high
halving(high, low)    high, high // 2, … down to low
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.dispatch.expressions import Expression, checked_expression, function_of, parsed
from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean

MOST_LAUNCHES = 100_000


@dataclass(frozen=True, slots=True)
class Quotient:
    """Two expressions, of which the first is divided by the second."""

    text: str
    dividend: Expression
    divisor: Expression

    @property
    def names(self) -> frozenset[str]:
        """The names that it needs."""
        return self.dividend.names | self.divisor.names

    def evaluate(self, values: Mapping[str, int]) -> float:
        """Return its value. Raises InvalidInputError as an expression does."""
        divisor = self.divisor.evaluate(values)
        if not divisor:
            raise InvalidInputError(f"'{self.text}' divides by zero")
        return self.dividend.evaluate(values) / divisor


def parse_quotient(text: str) -> Expression | Quotient:
    """Read an expression, or two with `/` between them. Raises InvalidInputError for anything else."""
    tree = parsed(text)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div):
        return Quotient(text, checked_expression(tree.left, text), checked_expression(tree.right, text))
    return checked_expression(tree, text)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: `name` takes the values that `kind`, a word of `_KINDS`, makes of two bounds."""

    text: str
    name: str
    kind: str
    bounds: tuple[Expression, Expression]

    def values(self, values: Mapping[str, int]) -> Iterable[int]:
        """Return the values of its name. Raises InvalidInputError for bounds between which it would not end."""
        first, last = (bound.evaluate(values) for bound in self.bounds)
        if self.kind != "range" and min(first, last) < 1:
            raise InvalidInputError(f"'{self.text}' must have bounds of at least 1, not {first} and {last}")
        return _KINDS[self.kind](first, last)


def parse_loop(text: str) -> Loop:
    """Read a loop. Raises InvalidInputError; the message lists what there is."""
    match parsed(text):
        case ast.Compare(
            left=ast.Name(id=name), ops=[ast.In()], comparators=[ast.Call(args=[first, last]) as call]
        ):
            kind = function_of(call)
            if kind not in _KINDS:
                raise InvalidInputError(
                    f"there is no '{kind}'{did_you_mean(kind, _KINDS)}; there are {', '.join(_KINDS)}"
                )
            return Loop(text, name, kind, (checked_expression(first, text), checked_expression(last, text)))
    raise InvalidInputError(f"'{text}' must have the form NAME in {'|'.join(_KINDS)}(FIRST, LAST)")


def _doubling(low: int, high: int) -> Iterator[int]:
    while low <= high:
        yield low
        low *= 2


def _halving(high: int, low: int) -> Iterator[int]:
    while high >= low:
        yield high
        high //= 2


_KINDS: Mapping[str, Callable[[int, int], Iterable[int]]] = MappingProxyType(
    {"range": range, "doubling": _doubling, "halving": _halving}
)
