"""Pairwise covers: of combinations a few, in which any two values that come together anywhere come together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")
Pair = frozenset[tuple[int, Hashable]]


def pairs_of(values: Sequence[Hashable]) -> frozenset[Pair]:
    """Return any two of a combination's values, with their places in it."""
    return frozenset(frozenset(pair) for pair in itertools.combinations(enumerate(values), 2))


def pairwise_cover(everything: Sequence[T], values_of: Callable[[T], Sequence[Hashable]]) -> list[T]:
    """Return, in order, a subset with every pair of values that all have; greedy, always the same.

    Args:
        everything: the combinations.
        values_of: gives the values that one combines, in the same order for each.
    """
    pairs = [pairs_of(values_of(combination)) for combination in everything]
    missing = set().union(*pairs)
    chosen = set()
    while missing:
        best = max(range(len(pairs)), key=lambda number: len(pairs[number] & missing))
        chosen.add(best)
        missing -= pairs[best]
    return [everything[number] for number in sorted(chosen)]
