"""Made-up kernels with versions whose times on inputs follow a known law."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.variant.variant import Variant

Law = Callable[[float], float]


def version(number: int) -> Variant:
    """Return a version that differs from others by a macro."""
    return Variant(definitions=(("BLOCK", str(number)),))


def sizes(count: int, first: int = 4) -> list[int]:
    """Return so many powers of two."""
    return [2**exponent for exponent in range(first, first + count)]


def times_of(
    laws: Sequence[Law], values: Sequence[float], noise: float = 0.0, seed: int = 0, default: int = 0
) -> VersionTimes:
    """Return the times of versions that follow these laws of the one feature `n`.

    Args:
        laws: of each version, n to seconds.
        values: n of each input.
        noise: standard deviation of the log times.
        seed: of the noise.
        default: which version is the default.
    """
    points = tuple(InputPoint(f"input-{k:03}", f"group-{k}", {"n": float(n)}) for k, n in enumerate(values))
    exact = np.array([[law(n) for law in laws] for n in values], dtype=np.float64)
    drawn = np.random.default_rng(seed).normal(0.0, noise, exact.shape)
    return VersionTimes(points, tuple(version(k) for k in range(len(laws))), exact * np.exp(drawn), default)
