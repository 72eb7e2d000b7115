"""What a predictor learns from and is judged by, one kernel on one device along one dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from coarsen.features import FeatureTable

LocalSize = tuple[int, ...]

# Two versions of one algorithm are one family: neither may teach about the other.
_FAMILIES: Mapping[str, str] = {"mtLocal": "mt"}


# A kernel on a device along a dimension.
CurveKey = tuple[str, str, int]


@dataclass(frozen=True)
class Curve:
    """A kernel's speed-ups on a device along a dimension, over the same launch uncoarsened.

    Args:
        kernel: its name.
        device: a name of `DEVICE_DESCRIPTORS`.
        dimension: of the NDRange, along which it is coarsened.
        local_size: of the uncoarsened launch, in work-items; None where unknown.
        speedup: by the measured factors above 1; a factor that is missing could not run, one that was given up has
            0.1. Empty where only the best factor is known.
        best_factor: 1 where no factor helps.
    """

    kernel: str
    device: str
    dimension: int
    local_size: LocalSize | None
    speedup: Mapping[int, float]
    best_factor: int

    @property
    def place(self) -> CurveKey:
        """The key that tells curves apart."""
        return self.kernel, self.device, self.dimension


@dataclass(frozen=True)
class Example(Curve):
    """A curve with the kernel's 17 features at each factor, its `table`.

    Kernels of one `family` must be held out together.
    """

    family: str
    table: FeatureTable

    def log_speedup(self, factor: int) -> float:
        """Return the natural logarithm of the speed-up at a factor: 0 at 1, NaN where it was not measured."""
        if factor == 1:
            return 0.0
        return math.log(self.speedup[factor]) if factor in self.speedup else math.nan

    def blind(self) -> Example:
        """Return the same without the answers, as a predictor may see it."""
        return replace(self, speedup={}, best_factor=1)


def family_of(kernel: str) -> str:
    """Return the name that related kernels of the suite share."""
    return _FAMILIES.get(kernel, kernel)


def best_factor_of(speedup: Mapping[int, float]) -> int:
    """Return the fastest factor, 1 where none is faster; the smaller of two that are equal."""
    return min((1, *speedup), key=lambda factor: (-speedup.get(factor, 1.0), factor))


@dataclass(frozen=True)
class Fit:
    """One fit that is wanted: what to learn from, in no particular order, and the seed of all randomness."""

    training: tuple[Example, ...]
    seed: int


# A method fitted on training examples: gives the factor for a kernel on a device, 1 for none. The example comes
# without its answer (`Example.blind`): `speedup` is empty and `best_factor` says nothing.
Predictor = Callable[[Example], int]
