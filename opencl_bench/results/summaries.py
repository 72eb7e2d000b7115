"""What a store's rows come to: how many there are for each benchmark on each device, how they ended, the best."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from coarsen.opencl_bench.measure.speedup import Speedup, bootstrap_interval, median
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """What is summed up: a benchmark at a preset's sizes on a device that is given a form of code."""

    device: str
    platform: str
    form: str
    benchmark: str
    preset: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of one case.

    `failures` holds the number of rows by how they ended, without correct ones. `best` is the one with the largest
    speed-up among each configuration's latest comparison, or rather its latest confirmation where there is one
    (see `frames.best_rows`); `speedup` its speed-up with the interval; None where nothing was compared. `newest`
    is when the latest was started: UTC, ISO 8601.
    """

    case: Case
    rows: int
    failures: Mapping[Invalidity, int]
    best: Measurement | None
    speedup: Speedup | None
    newest: str


@dataclass(slots=True)
class _Tally:
    """A summary in the making."""

    endings: Counter[Invalidity] = field(default_factory=Counter)
    latest: dict[Hashable, Measurement] = field(default_factory=dict)
    confirmations: list[Measurement] = field(default_factory=list)
    newest: str = ""

    def add(self, measurement: Measurement) -> None:
        """Count a row."""
        self.endings[measurement.invalidity] += 1
        self.newest = max(self.newest, measurement.started_at, key=_time)
        if measurement.role is Role.CONFIRMATION and speedup_of(measurement, interval=False):
            self.confirmations.append(measurement)
        if measurement.role is Role.COMPARISON:
            self._compare(measurement)

    def summary(self, case: Case) -> Summary:
        """The summary of the rows counted."""
        failures: dict[Invalidity, int] = {
            ending: self.endings[ending]
            for ending in Invalidity
            if ending is not Invalidity.CORRECT and ending in self.endings
        }
        best = self._confirmed()
        gain = speedup_of(best) if best else None
        return Summary(case, self.endings.total(), failures, best, gain, self.newest)

    def _compare(self, measurement: Measurement) -> None:
        """Keep a comparison unless a later one of its configuration is there, whose baseline may be faster."""
        configuration = measurement.candidate, measurement.method.cold_cache
        known = self.latest.get(configuration)
        if known is None or _time(measurement.started_at) >= _time(known.started_at):
            self.latest[configuration] = measurement

    def _confirmed(self) -> Measurement | None:
        """The comparison with the largest speed-up, or its latest confirmation."""
        best = max(filter(_ratio, self.latest.values()), key=_ratio, default=None)
        confirmations = [row for row in self.confirmations if best and _is_same(row, best)]
        return max(confirmations, key=lambda row: _time(row.started_at), default=best)


def summaries(measurements: Iterable[Measurement]) -> list[Summary]:
    """A summary of each case, in the order of devices, benchmarks and presets."""
    tallies: dict[Case, _Tally] = {}
    for measurement in measurements:
        tallies.setdefault(_case(measurement), _Tally()).add(measurement)
    return [tallies[case].summary(case) for case in sorted(tallies)]


def speedup_of(measurement: Measurement, interval: bool = True) -> Speedup | None:
    """The speed-up of a measurement over its baseline, None where there is none.

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


def _case(measurement: Measurement) -> Case:
    place, subject = measurement.environment, measurement.subject
    return Case(place.device, place.platform, place.form, subject.benchmark, subject.preset)


def _is_same(one: Measurement, other: Measurement) -> bool:
    """Whether both are of one configuration, against one baseline."""
    return (one.candidate, one.baseline) == (other.candidate, other.baseline)


def _ratio(measurement: Measurement) -> float:
    """The speed-up, 0 where there is none."""
    gain = speedup_of(measurement, interval=False)
    return gain.ratio if gain else 0.0


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() if text else -math.inf
