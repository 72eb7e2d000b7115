"""Lengths of rows and segments that add up to one total, whatever their shape."""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError

WHOLE = 1000


class Lengths(enum.IntEnum):
    """The shape of some lengths; `per_mille` is what it says of it."""

    EVEN = 0
    """All alike, up to 1."""
    UNIFORM = 1
    """Drawn between 0 and twice the mean."""
    ZIPF = 2
    """The k-th longest is as long as k to the power of -per_mille/1000 tells, in random places."""
    ONE_HEAVY = 3
    """One of them, in a random place, has per_mille of the total; the others share the rest evenly."""


def make_lengths(
    kind: Lengths, count: int, total: int, per_mille: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return lengths that add up to a total.

    Args:
        kind: their shape.
        count: how many, at least 1.
        total: their sum, at least 0.
        per_mille: of the exponent or of the heavy one's share; without a meaning for the other kinds.
        generator: the source of random numbers.

    Raises:
        InvalidInputError: a number is out of its range.
    """
    if count < 1 or total < 0 or per_mille < 0:
        raise InvalidInputError(
            f"{count} lengths of {total} in all, {per_mille} per mille: give numbers from 0 on"
        )
    if kind is Lengths.ONE_HEAVY:
        return _one_heavy(count, total, per_mille, generator)
    return apportioned(_weights(kind, count, per_mille, generator), total)


def apportioned(weights: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Return whole numbers in proportion to some weights, up to 1, that add up to a total."""
    ends = np.cumsum(weights)
    if ends[-1] <= 0:
        ends = np.arange(1.0, len(weights) + 1)
    rounded = np.floor(ends / ends[-1] * total).astype(np.int64)
    rounded[-1] = total
    lengths: NDArray[np.int64] = np.diff(rounded, prepend=0)
    return lengths


def capped(lengths: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return lengths of at most `most` with the same total: the shorter ones take what is cut off, evenly.

    Raises:
        InvalidInputError: the total doesn't fit.
    """
    if lengths.sum() > most * len(lengths):
        raise InvalidInputError(f"{len(lengths)} rows of at most {most} can't hold {lengths.sum()}")
    short = np.minimum(lengths, most)
    while excess := int(lengths.sum() - short.sum()):
        room = most - short
        share = -(-excess // int(np.count_nonzero(room)))
        taken = np.minimum(room, share)
        # The last ones get less where the share was rounded up.
        short += np.diff(np.minimum(np.cumsum(taken), excess), prepend=0)
    return short


def starts_of(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return where each row or segment starts, and at the end the total."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)


def _weights(kind: Lengths, count: int, per_mille: int, generator: np.random.Generator) -> NDArray[np.float64]:
    if kind is Lengths.UNIFORM:
        return generator.random(count)
    if kind is Lengths.ZIPF:
        return generator.permutation(zipf_weights(count, per_mille))
    return np.ones(count)


def zipf_weights(count: int, per_mille: int) -> NDArray[np.float64]:
    """Return k to the power of -per_mille/1000 for k from 1 to `count`."""
    return np.arange(1.0, count + 1) ** (-per_mille / WHOLE)


def _one_heavy(count: int, total: int, per_mille: int, generator: np.random.Generator) -> NDArray[np.int64]:
    if per_mille > WHOLE:
        raise InvalidInputError(f"one length can't have {per_mille} per mille of the total")
    heavy = total * per_mille // WHOLE if count > 1 else total
    place = int(generator.integers(count))
    others = apportioned(np.ones(count - 1), total - heavy) if count > 1 else np.zeros(0, np.int64)
    return np.insert(others, place, heavy)
