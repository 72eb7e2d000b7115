"""Values of the expressions of a description at its sizes, and where in the file a mistake in them stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from coarsen.dispatch.expressions import Expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import LocalSize, Size, whole_numbers
from coarsen.opencl_bench.workloads.described.description import Description


def values_of(description: Description, size: Size, local_size: LocalSize) -> Mapping[str, int]:
    """Return the values of the names in expressions; macros have their first value unless another is given."""
    extents = {f"local_size_{dimension}": extent for dimension, extent in enumerate(local_size)}
    return {**whole_numbers(description.defaults), **size, **extents}


def positive(expression: Expression, values: Mapping[str, int]) -> int:
    """Return the value of an expression. Raises InvalidInputError where it is below 1."""
    return at_least(expression, values, 1)


def at_least(expression: Expression, values: Mapping[str, int], least: int) -> int:
    """Return the value of an expression. Raises InvalidInputError, with the values, where it is below another."""
    value = expression.evaluate(values)
    if value < least:
        raise InvalidInputError(
            f"'{expression.text}' must be at least {least}; it is {value} for {_shown(expression, values)}"
        )
    return value


def _shown(expression: Expression, values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {values[name]}" for name in sorted(expression.names)) or "every preset"


@contextmanager
def at(description: Description, key: str) -> Iterator[None]:
    """Put file and key before the message of a mistake."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{description.path}: {key}: {error}") from None
