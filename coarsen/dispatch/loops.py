"""Loops around launches: numbers that their sizes, conditions and arguments may name.

repeat = ["run in doubling(2, n)", "distance in halving(run // 2, 1)"]

range(low, high)      low, low + 1, … below high
doubling(low, high)   low, 2 * low, … up to high
halving(high, low)    high, high // 2, … down to low
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression, checked_expression, function_of, parsed
from coarsen.errors import InvalidInputError

# Of all loops around the launches of one version.
MOST_LAUNCHES = 100_000
# The kind of loop whose number of values is known without enumerating them.
RANGE = "range"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: `name` takes the values that `kind`, a word of `_KINDS`, makes of two bounds."""

    text: str
    name: str
    kind: str
    bounds: tuple[Expression, Expression]

    def values(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return the values of its name. Raises InvalidInputError for bounds between which there are too many."""
        first, last = (bound.evaluate(values) for bound in self.bounds)
        if self.kind != RANGE and min(first, last) < 1:
            raise InvalidInputError(f"'{self.text}' must have bounds of at least 1, not {first} and {last}")
        found = tuple(islice(_KINDS[self.kind](first, last), MOST_LAUNCHES + 1))
        if len(found) > MOST_LAUNCHES:
            raise InvalidInputError(f"'{self.text}' has more than {MOST_LAUNCHES} values")
        return found


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
            bounds = [checked_expression(bound, ast.unparse(bound)) for bound in (first, last)]
            return Loop(text, name, kind, (bounds[0], bounds[1]))
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
    {RANGE: range, "doubling": _doubling, "halving": _halving}
)
