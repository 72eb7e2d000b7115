"""What launches are made of: NDRanges with the local sizes worth trying, quotients of sizes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from coarsen.dispatch.expressions import Condition, Expression, checked_expression, parse_condition, parsed
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
