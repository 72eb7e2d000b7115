"""Speed-ups of durations: ratios of medians with bootstrap intervals, ties named."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.tuning.records.measurement import Measurement

RESAMPLES = 2000
# An interval that is a larger part of its ratio tells more of what else the machine did than of what was timed.
WIDEST = 0.1
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
    def is_certain(self) -> bool:
        """Return True if the interval is no wider than a tenth of the ratio; False where it is not known.

        What is chosen, remembered or advised is certain.
        """
        return self.high - self.low <= WIDEST * self.ratio * (1 + _ROUNDING)

    @property
    def doubt(self) -> str:
        """Return why nothing follows from an interval that is too wide, in words."""
        numbers = f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"
        return f"the machine is busy: the interval of {numbers} is wider than a tenth, so it says nothing"

    def __str__(self) -> str:
        if not self.significant:
            return f"no significant difference ({self.low:.2f} to {self.high:.2f})"
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Conversion:
    """The seconds that a conversion takes, and the runs of the job until it pays; None where it never does."""

    seconds: float
    runs: int | None

    @property
    def sentence(self) -> str:
        """Say both."""
        took = f"to pack its arrays and unpack what it writes took the host {self.seconds * 1e3:.3g} ms"
        if self.runs is None:
            return f"{took}, which never pays"
        return f"{took}: that pays after {self.runs} run{'s' if self.runs > 1 else ''} on the same data"


def median(samples: Sequence[float]) -> float:
    """Return the median of at least one sample."""
    return float(np.median(samples))


def bootstrap_interval(
    baseline: Sequence[float], candidate: Sequence[float], level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of median(baseline) / median(candidate).

    Runs are resampled in pairs (one repetition of both), because interleaved runs share what disturbed them.

    Args:
        baseline: durations of the baseline, one per repetition.
        candidate: durations of the candidate, as many.
        level: probability that the interval covers, in (0, 1).
        seed: seed of the resampling.
    """
    if len(baseline) != len(candidate) or not baseline:
        raise InvalidInputError(f"samples must come in pairs, not {len(baseline)} and {len(candidate)}")
    if not 0 < level < 1:
        raise InvalidInputError(f"the level of an interval lies between 0 and 1, not {level}")
    tail = (1 - level) / 2
    low, high = np.quantile(resampled_ratios(baseline, candidate, seed), (tail, 1 - tail))
    return float(low), float(high)


def resampled_ratios(baseline: Sequence[float], candidate: Sequence[float], seed: int) -> NDArray[np.float64]:
    """Bootstrap values of median(baseline) / median(candidate), (`RESAMPLES`,); see `bootstrap_interval`."""
    chosen = _resamples(len(baseline), seed)
    ratios: NDArray[np.float64] = _medians(baseline, chosen) / _medians(candidate, chosen)
    return ratios


@lru_cache(maxsize=32)
def _resamples(count: int, seed: int) -> NDArray[np.int64]:
    """The places that each resample takes, (`RESAMPLES`, count): drawn once for all rows of so many samples."""
    chosen = np.random.default_rng(seed).integers(0, count, (RESAMPLES, count))
    chosen.setflags(write=False)
    return chosen


def _medians(samples: Sequence[float], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median of each resample: what NumPy's is of finite numbers, to the last bit."""
    drawn = np.sort(np.asarray(samples, np.float64)[chosen], axis=1)
    middle = drawn.shape[1] // 2
    if drawn.shape[1] % 2:
        return np.asarray(drawn[:, middle])
    return np.asarray((drawn[:, middle - 1] + drawn[:, middle]) / 2)


def speedup(baseline: Sequence[float], candidate: Sequence[float], level: float = 0.95, seed: int = 0) -> Speedup:
    """Return the ratio of medians baseline / candidate with its bootstrap interval; see `bootstrap_interval`."""
    low, high = bootstrap_interval(baseline, candidate, level, seed)
    return Speedup(median(baseline) / median(candidate), low, high)


# Speed-ups of measurements.

# The 97.5 % quantiles of Student's distribution for 1, 2, … degrees of freedom; for more, the last is too wide.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def speedup_of(measurement: Measurement, interval: bool = True) -> Speedup | None:
    """Return the speed-up of a measurement over its baseline, None where there is none.

    A duration of 0 (a clock too coarse for the kernel) has no ratio.

    Args:
        measurement: of any role.
        interval: whether to compute the interval, which takes some milliseconds; NaN without.
    """
    durations, baseline = measurement.nanoseconds, measurement.baseline_nanoseconds
    if not durations or len(durations) != len(baseline) or min(durations + baseline) <= 0:
        return None
    ratio = median(baseline) / median(durations)
    nowhere = (math.nan, math.nan)
    low, high = bootstrap_interval(baseline, durations, measurement.method.level) if interval else nowhere
    return Speedup(ratio, low, high)


def is_uncertain(measurement: Measurement) -> bool:
    """Return True if a measurement has a speed-up whose interval is too wide for anything to follow from it."""
    gain = speedup_of(measurement)
    return gain is not None and not gain.is_certain


def across_processes(gains: Iterable[Speedup]) -> Speedup:
    """Return the speed-up of a configuration that was confirmed in several processes.

    It is the geometric mean of theirs. Its 95 % interval is Student's over the processes' logarithms: their own
    intervals know nothing of how much a ratio changes from one process to the next. Of a single process, it is
    that one's.

    Args:
        gains: one for each process, at least one.

    Source: Georges, Buytaert and Eeckhout, Statistically Rigorous Java Performance Evaluation, OOPSLA 2007, 3.2.
    """
    known = tuple(gains)
    if len(known) == 1:
        return known[0]
    logarithms = [math.log(gain.ratio) for gain in known]
    mean = math.fsum(logarithms) / len(known)
    quantile = STUDENT[min(len(known) - 1, len(STUDENT)) - 1]
    half = quantile * statistics.stdev(logarithms) / math.sqrt(len(known))
    return Speedup(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def quotient(gain: Speedup, over: Speedup) -> Speedup:
    """Return the speed-up over another configuration, both being known over one baseline.

    The two were timed apart, so the half-widths of their intervals, as logarithms, add up as squares. Where an
    interval is not known, that of the quotient is not either.
    """
    ratio = gain.ratio / over.ratio
    below = math.hypot(math.log(gain.ratio / gain.low), math.log(over.high / over.ratio))
    above = math.hypot(math.log(gain.high / gain.ratio), math.log(over.ratio / over.low))
    return Speedup(ratio, ratio * math.exp(-below), ratio * math.exp(above))
