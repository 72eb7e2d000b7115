"""Uniform draws from the valid choices of a space."""

from __future__ import annotations

import random
from collections.abc import Iterator

from coarsen.opencl_bench.search.spaces import Choice, SearchSpace, is_enumerable, valid_choices

# Larger spaces are drawn from, smaller ones shuffled.
_SHUFFLED = 100_000
# Draws in a row without a new valid choice before the space is taken to have no more.
_VAIN_DRAWS = 100_000


def is_shuffled(space: SearchSpace) -> bool:
    """Return True if the random order of a space surely has all its valid choices."""
    return is_enumerable(space, _SHUFFLED)


def random_order(space: SearchSpace, draw: random.Random) -> Iterator[Choice]:
    """Enumerate valid choices in random order, each once: whatever was taken, all others come next equally likely.

    A small space is shuffled. Of a large one choices are drawn; those that are invalid or came before are drawn
    again; it ends once that happens too often in a row.
    """
    if is_shuffled(space):
        choices = list(valid_choices(space))
        draw.shuffle(choices)
        return iter(choices)
    return _drawn(space, draw)


def _drawn(space: SearchSpace, draw: random.Random) -> Iterator[Choice]:
    lengths = [len(axis.values) for axis in space.axes]
    seen: set[Choice] = set()
    vain = 0
    while vain < _VAIN_DRAWS:
        choice = tuple(draw.randrange(length) for length in lengths)
        vain += 1
        if choice not in seen and space.is_valid(choice):
            vain = 0
            seen.add(choice)
            yield choice
