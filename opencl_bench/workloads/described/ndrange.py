"""What launches are made of: NDRanges with the local sizes worth trying, loops around them, quotients of sizes.

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
from typing import TypeVar

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import (
    Condition,
    Expression,
    checked_expression,
    function_of,
    parse_condition,
    parsed,
)
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.tuning.workload.benchmark import LocalSize
from coarsen.variant.coarsening import DIMENSIONS

T = TypeVar("T")

# In place of a local size: the implementation chooses it, as for a launch that gives none.
OPEN = "open"


@dataclass(frozen=True, slots=True)
class NdRange:
    """The NDRange of a launch.

    Args:
        global_size: an expression for each dimension.
        global_offset: the same, or none.
        local_size: numbers; empty where it is left open, that of the defaults where it has expressions.
        local_size_expressions: of the parameters, where these decide about the local size.
        local_sizes: those that a sweep tries.
        conditions: what the kernel asks of local sizes and macros.
    """

    global_size: tuple[Expression, ...]
    global_offset: tuple[Expression, ...]
    local_size: LocalSize
    local_size_expressions: tuple[Expression, ...]
    local_sizes: tuple[LocalSize, ...]
    conditions: tuple[Condition, ...]


def read_ndrange(top: Table) -> NdRange:
    """Read the table `ndrange`. Raises InvalidInputError for a mistake in it."""
    ndrange = top.as_table("ndrange", top.required("ndrange"))
    ndrange.check_names("global_size", "local_size", "global_offset", "local_sizes", "conditions")
    global_size = ndrange.expressions("global_size", 1, DIMENSIONS)
    given, dimensions = ndrange.required("local_size"), len(global_size)
    expressions = _local_size_expressions(ndrange, given, dimensions)
    own = () if given == OPEN or expressions else local_size(ndrange, "local_size", given, dimensions)
    return NdRange(
        global_size,
        ndrange.expressions("global_offset", dimensions, dimensions) if ndrange.has("global_offset") else (),
        own,
        expressions,
        () if expressions else _local_sizes(ndrange, dimensions) or (own,),
        ndrange.parse_texts("conditions", parse_condition),
    )


def _local_size_expressions(ndrange: Table, given: object, dimensions: int) -> tuple[Expression, ...]:
    """The expressions of a local size that has any text in it; none where it has numbers alone."""
    if not isinstance(given, list) or not any(isinstance(entry, str) for entry in given):
        return ()
    expressions = ndrange.expressions("local_size", dimensions, dimensions)
    if ndrange.has("local_sizes"):
        raise ndrange.error("local_sizes", "the local size follows from parameters: their values are tried")
    return expressions


def local_size(table: Table, name: str, value: object, dimensions: int) -> LocalSize:
    """Return a local size, a number for each dimension. Raises InvalidInputError."""
    numbers = tuple(number for number in value if type(number) is int) if isinstance(value, list) else ()
    if not isinstance(value, list) or len(numbers) != len(value) or len(value) != dimensions or min(value) < 1:
        raise table.error(name, f"a local size is {dimensions} positive whole numbers, not {value!r}")
    return numbers


def _local_sizes(ndrange: Table, dimensions: int) -> tuple[LocalSize, ...]:
    entries = ndrange.array("local_sizes", [])
    return tuple(
        local_size(ndrange, f"local_sizes[{index}]", entry, dimensions) for index, entry in enumerate(entries)
    )


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

    def values(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Return the values of its name. Raises InvalidInputError for bounds between which there are too many."""
        first, last = (bound.evaluate(values) for bound in self.bounds)
        if self.kind != "range" and min(first, last) < 1:
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
