"""Speed-ups of measurements."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from coarsen.tuning.measure.speedup import Speedup, bootstrap_interval, median
from coarsen.tuning.records.measurement import Measurement

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
    """Return True if a measurement has a speed-up whose interval is wider than a tenth of it."""
    gain = speedup_of(measurement)
    return gain is not None and not gain.is_narrow


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


def over_another(gains: Iterable[Speedup | None], others: Iterable[Speedup | None]) -> Speedup:
    """Return the speed-up over another configuration, process by process.

    What a process does to the baseline, it does to both.

    Args:
        gains: over the baseline, one for each process; at least one process has both.
        others: the other configuration's, in the same processes.
    """
    pairs = zip(gains, others, strict=True)
    return across_processes(quotient(gain, over) for gain, over in pairs if gain and over)


def quotient(gain: Speedup, over: Speedup) -> Speedup:
    """Return the speed-up over another configuration, both being known over one baseline.

    The two were timed apart, so the half-widths of their intervals, as logarithms, add up as squares. Where an
    interval is not known, that of the quotient is not either.
    """
    ratio = gain.ratio / over.ratio
    below = math.hypot(math.log(gain.ratio / gain.low), math.log(over.high / over.ratio))
    above = math.hypot(math.log(gain.high / gain.ratio), math.log(over.ratio / over.low))
    return Speedup(ratio, ratio * math.exp(-below), ratio * math.exp(above))
