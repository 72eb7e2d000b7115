"""Contents of a buffer of structures, field by field: `values = { x = "uniform(-1, 1)", id = "arange" }`.

What lies between the fields is filled with a fixed pattern, so that a kernel which reads it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InternalError, InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.described.distributions import Distribution, parse_distribution
from coarsen.opencl_bench.workloads.described.element_types import ElementType, Structure, StructureField
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.opencl_bench.workloads.driver_tools import unwritten_records

# What all fields can be filled with alike.
OF_ALL = ("zeros", "unwritten")


@dataclass(frozen=True, slots=True)
class RecordValues:
    """The distribution of each field, in the order of the structure's."""

    fields: tuple[tuple[StructureField, Distribution], ...]

    @property
    def text(self) -> str:
        """Return how the description says it."""
        return ", ".join(f"{field.name} = {values.text}" for field, values in self.fields)

    @property
    def names(self) -> frozenset[str]:
        """The names that the distributions need."""
        return frozenset().union(*(values.names for _, values in self.fields))

    @property
    def content(self) -> str:
        """Return what tells it from other values."""
        return self.text

    def numbers(self, values: Mapping[str, int], _kind: ElementType) -> tuple[int | float, ...]:
        """Check that fields can hold the numbers. Raises InvalidInputError; returns none."""
        for field, distribution in self.fields:
            with _in_field(field):
                distribution.numbers(values, field.type)
        return ()

    def check_count(self, _kind: ElementType, elements: int) -> None:
        """Raise InvalidInputError where counting up to so many elements leaves a field's range."""
        for field, distribution in self.fields:
            with _in_field(field):
                distribution.check_count(field.type, elements * (field.count or 1))

    def fill(
        self, generator: np.random.Generator, kind: ElementType, elements: int, values: Mapping[str, int]
    ) -> Array:
        """Return an array of so many structures. Raises InvalidInputError as `numbers` and `check_count` do."""
        if kind.structure is None:
            raise InternalError(f"{kind.name} has no fields")
        made = unwritten_records(kind.structure.dtype, elements)
        for field, distribution in self.fields:
            count = elements * (field.count or 1)
            drawn = distribution.fill(generator, field.type, count, values).reshape(count, -1)
            made[field.name] = drawn[:, : field.type.components].reshape(elements, *field.shape)
        return made


@contextmanager
def _in_field(field: StructureField) -> Iterator[None]:
    """Name the field of what is wrong in it."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{field.name}: {error}") from None


def alike(structure: Structure, name: str) -> RecordValues:
    """Return the contents where all fields are filled alike; `name` is one of `OF_ALL`."""
    return RecordValues(tuple((field, parse_distribution(name)) for field in structure.fields))


def read_record_values(values: Table, structure: Structure) -> RecordValues:
    """Return the contents that a table of fields says.

    Args:
        values: the distribution of every field.
        structure: whose fields they are.

    Raises:
        InvalidInputError: a field that isn't there, or without values; no such distribution.
    """
    known = {field.name: field for field in structure.fields}
    for name in values.values:
        if name not in known:
            hint = did_you_mean(name, known)
            raise values.error(name, f"{structure.name} has no such field{hint}; there are {', '.join(known)}")
    for name in known:
        if not values.has(name):
            raise values.error(name, f"it is missing; {structure.name} has this field")
    return RecordValues(tuple((field, values.parse(name, parse_distribution)) for name, field in known.items()))
