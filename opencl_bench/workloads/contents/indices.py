"""Indices into a table, whose neighbours are near to each other or far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.contents.lengths import WHOLE


def make_indices(
    count: int, table: int, reach_per_mille: int, generator: np.random.Generator
) -> NDArray[np.int32]:
    """Return indices that go through a table once, each moved at random by up to a share of the table.

    Args:
        count: how many, at least 1.
        table: the number of elements of the table, at least 1.
        reach_per_mille: how far an index may be from its place in the order, as a share of the table: 0 for
            indices in ascending order, 1000 for indices that may be anywhere.
        generator: the source of random numbers.

    Raises:
        InvalidInputError: a number is out of its range.
    """
    if count < 1 or table < 1 or not 0 <= reach_per_mille <= WHOLE:
        raise InvalidInputError(f"{count} indices of {table}, moved by {reach_per_mille} per mille: out of range")
    reach = table * reach_per_mille // WHOLE
    places = np.arange(count, dtype=np.int64) * table // count
    moved = places + generator.integers(-(reach // 2), reach - reach // 2 + 1, size=count)
    return (moved % table).astype(np.int32)
