"""Keys, whole numbers below a number of bins, of which some may come often and in some order."""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.contents.lengths import WHOLE, zipf_weights


class Keys(enum.IntEnum):
    """The shape of some keys; `per_mille` is what it says of it."""

    UNIFORM = 0
    """Each bin equally often, in random order."""
    ZIPF = 1
    """The k-th most frequent bin as often as k to the power of -per_mille/1000 tells."""
    ONE_HEAVY = 2
    """per_mille of the keys are of one bin, the others uniform."""
    SORTED = 3
    """Uniform ones in ascending order."""
    PARTLY_SORTED = 4
    """Sorted ones of which per_mille changed their places."""
    RUNS = 5
    """Uniform ones, each repeated per_mille times on end."""


def make_keys(
    kind: Keys, count: int, bins: int, per_mille: int, generator: np.random.Generator
) -> NDArray[np.int32]:
    """Return `count` keys from 0 to `bins` - 1.

    Args:
        kind: their shape.
        count: how many, at least 1.
        bins: the number of different keys that there may be, at least 1.
        per_mille: what the kind says; without a meaning for uniform and sorted keys.
        generator: the source of random numbers.

    Raises:
        InvalidInputError: a number is out of its range.
    """
    if count < 1 or bins < 1 or per_mille < 0:
        raise InvalidInputError(f"{count} keys of {bins} bins, {per_mille} per mille: give numbers from 1 on")
    drawn = generator.integers(bins, size=count, dtype=np.int32)
    if kind is Keys.ZIPF:
        return _zipf(count, bins, per_mille, generator)
    if kind is Keys.ONE_HEAVY:
        return np.where(generator.integers(WHOLE, size=count) < per_mille, drawn[0], drawn).astype(np.int32)
    if kind is Keys.SORTED:
        return np.sort(drawn)
    if kind is Keys.PARTLY_SORTED:
        return partly_sorted(drawn, per_mille, generator)
    if kind is Keys.RUNS:
        return np.repeat(drawn, max(per_mille, 1))[:count]
    return drawn


def partly_sorted(values: NDArray[np.int32], per_mille: int, generator: np.random.Generator) -> NDArray[np.int32]:
    """Return the values in ascending order, but for per_mille of the places, which exchange theirs at random.

    Raises:
        InvalidInputError: more than all of them are to change.
    """
    if per_mille > WHOLE:
        raise InvalidInputError(f"{per_mille} per mille of the values can't change their places")
    result = np.sort(values)
    places = generator.permutation(len(values))[: len(values) * per_mille // WHOLE]
    result[places] = result[generator.permutation(places)]
    return result


def _zipf(count: int, bins: int, per_mille: int, generator: np.random.Generator) -> NDArray[np.int32]:
    ends = np.cumsum(zipf_weights(bins, per_mille))
    ranks = np.searchsorted(ends, generator.random(count) * ends[-1], side="right")
    # Without this the frequent bins would stand side by side.
    names = generator.permutation(bins).astype(np.int32)
    keys: NDArray[np.int32] = names[np.minimum(ranks, bins - 1)]
    return keys
