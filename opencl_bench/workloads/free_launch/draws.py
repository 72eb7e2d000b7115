"""Seeded draws: the same seed and index give the same ones, on every machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

# Beside seed and index, so that these streams are not those of other generators.
STREAM = 15


class Draws:
    """A stream of draws.

    Args:
        numbers: what the stream is drawn from, the seed first.
    """

    def __init__(self, *numbers: int) -> None:
        self._generator = np.random.default_rng([*numbers, STREAM])

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of several values, each with the same probability."""
        return choices[int(self._generator.integers(len(choices)))]

    def some(self, choices: Sequence[T], count: int) -> tuple[T, ...]:
        """Return several different ones of some values, in a drawn order."""
        order = self._generator.permutation(len(choices))
        return tuple(choices[int(place)] for place in order[:count])

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return bool(self._generator.random() < probability)

    def log_uniform(self, least: int, most: int) -> int:
        """Return a whole number between two, its logarithm uniform."""
        exponent = self._generator.uniform(math.log(least), math.log(most + 1))
        return min(most, int(math.exp(exponent)))

    def whole(self, least: int, most: int) -> int:
        """Return a whole number between two, both included."""
        return int(self._generator.integers(least, most + 1))
