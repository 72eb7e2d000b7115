"""Speed-ups of durations: ratios of medians with bootstrap intervals, ties named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError

RESAMPLES = 2000
# An interval that is a larger part of its ratio tells more of what else the machine did than of what was timed.
WIDEST = 0.1
# Smaller gains are what the same code shows against itself on a CPU, significant or not (data/README.md).
CLEAR_GAIN = 1.05
# What a busy machine alone does not make of the same code in all processes.
LARGE_GAIN = 1.5
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Speedup:
    """The ratio of the baseline's duration to a candidate's, with a bootstrap interval of that ratio."""

    ratio: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Return True if the interval leaves out 1."""
        return not self.low <= 1.0 <= self.high

    @property
    def is_narrow(self) -> bool:
        """Return True if the interval is no wider than a tenth of the ratio; False where it is not known."""
        return self._is_within(WIDEST)

    def _is_within(self, share: float) -> bool:
        return self.high - self.low <= share * self.ratio * (1 + _ROUNDING)

    @property
    def is_certain(self) -> bool:
        """Return True if the interval is narrow, or that of a large gain and no wider than the ratio.

        How large such a gain is may be open, that there is one is not. What is chosen, remembered or advised is
        certain.
        """
        return self.is_narrow or (self.low >= LARGE_GAIN and self._is_within(1.0))

    @property
    def is_clear(self) -> bool:
        """Return True if it is certain, or its interval lies above a clear gain and is no wider than the ratio.

        That is enough for an answer that states its interval, and that nobody remembers.
        """
        return self.is_narrow or (self.low > CLEAR_GAIN and self._is_within(1.0))

    @property
    def doubt(self) -> str:
        """Return why nothing follows from an interval that is too wide, in words."""
        numbers = f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"
        return f"the machine is busy: the interval of {numbers} is too wide, so it says nothing"

    def __str__(self) -> str:
        if not self.significant:
            return f"no significant difference ({self.low:.2f} to {self.high:.2f})"
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"


def median(samples: Sequence[float]) -> float:
    """Return the median of at least one sample."""
    return float(np.median(samples))


def bootstrap_interval(
    baseline: Sequence[float], candidate: Sequence[float], level: float = 0.95
) -> tuple[float, float]:
    """Percentile bootstrap interval of median(baseline) / median(candidate).

    Runs are resampled in pairs (one repetition of both), because interleaved runs share what disturbed them.

    Args:
        baseline: durations of the baseline, one per repetition.
        candidate: durations of the candidate, as many.
        level: probability that the interval covers, in (0, 1).
    """
    if len(baseline) != len(candidate) or not baseline:
        raise InvalidInputError(f"samples must come in pairs, not {len(baseline)} and {len(candidate)}")
    if not 0 < level < 1:
        raise InvalidInputError(f"the level of an interval lies between 0 and 1, not {level}")
    tail = (1 - level) / 2
    low, high = np.quantile(resampled_ratios(baseline, candidate), (tail, 1 - tail))
    return float(low), float(high)


def resampled_ratios(baseline: Sequence[float], candidate: Sequence[float]) -> NDArray[np.float64]:
    """Bootstrap values of median(baseline) / median(candidate), (`RESAMPLES`,); see `bootstrap_interval`."""
    chosen = _resamples(len(baseline))
    ratios: NDArray[np.float64] = _medians(baseline, chosen) / _medians(candidate, chosen)
    return ratios


@lru_cache(maxsize=32)
def _resamples(count: int) -> NDArray[np.int64]:
    """The places that each resample takes, (`RESAMPLES`, count): drawn once for all rows of so many samples."""
    chosen = np.random.default_rng(0).integers(0, count, (RESAMPLES, count))
    chosen.setflags(write=False)
    return chosen


def _medians(samples: Sequence[float], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median of each resample: what NumPy's is of finite numbers, to the last bit."""
    drawn = np.sort(np.asarray(samples, np.float64)[chosen], axis=1)
    middle = drawn.shape[1] // 2
    if drawn.shape[1] % 2:
        return np.asarray(drawn[:, middle])
    return np.asarray((drawn[:, middle - 1] + drawn[:, middle]) / 2)
