"""Distributions of whole numbers of a shape to choose: `keys(kind, bins, per_mille)`, `starts(…)`, `indices(…)`.

The settings are numbers of `workloads/contents`: kinds as its enumerations count them, shares per mille.
"""

from __future__ import annotations

import enum
from typing import TypeVar

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.contents.indices import make_indices
from coarsen.opencl_bench.workloads.contents.keys import Keys, make_keys
from coarsen.opencl_bench.workloads.contents.lengths import Lengths, make_lengths, starts_of
from coarsen.opencl_bench.workloads.described.element_types import ElementType

Kind = TypeVar("Kind", bound=enum.IntEnum)


def kind_of(kinds: type[Kind], number: float) -> Kind:
    """Return the kind of a number. Raises InvalidInputError where there is none; the message lists them."""
    try:
        return kinds(int(number))
    except ValueError:
        known = ", ".join(f"{kind.value} {kind.name.lower().replace('_', ' ')}" for kind in kinds)
        raise InvalidInputError(f"there is no kind {number}; there are {known}") from None


def fill_keys(
    generator: np.random.Generator, _type: ElementType, elements: int, numbers: tuple[int | float, ...]
) -> Array:
    """Return keys: numbers are their kind, the number of bins, and what the kind takes per mille."""
    kind, bins, per_mille = map(int, numbers)
    return make_keys(kind_of(Keys, kind), elements, bins, per_mille, generator)


def fill_starts(
    generator: np.random.Generator, _type: ElementType, elements: int, numbers: tuple[int | float, ...]
) -> Array:
    """Return where rows start, and the total: numbers are the kind of their lengths, the total, and per mille."""
    kind, total, per_mille = map(int, numbers)
    if elements < 2:
        raise InvalidInputError("starts have one element more than there are rows")
    return starts_of(make_lengths(kind_of(Lengths, kind), elements - 1, total, per_mille, generator))


def fill_indices(
    generator: np.random.Generator, _type: ElementType, elements: int, numbers: tuple[int | float, ...]
) -> Array:
    """Return indices: numbers are the number of elements of the table, and how far they lie apart per mille."""
    table, reach = map(int, numbers)
    return make_indices(elements, table, reach, generator)
