"""The best configuration of each kernel on each device, as every table, figure, page and report shows it.

measurements ─▶ cases ─▶ the choice of each (see `choice`) ─▶ BestRow: what to run, over what, how fast
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from coarsen.tuning.engine.choice import ITSELF, Compared, choose, most_doubtful
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Role
from coarsen.variant.variant import Variant, shape

_AGAIN = "measure it again when the machine has nothing else to do: coarsen bench --again uncertain"


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """What has one best configuration: a benchmark at a preset's sizes on a device.

    A device is another one when it is given another form of code, has another driver or begins with cold caches.
    """

    device: str
    platform: str
    form: str
    benchmark: str
    preset: str
    driver_version: str = ""
    cold_cache: bool = False


@dataclass(frozen=True, slots=True)
class BestRow:
    """The best configuration of a case over one baseline.

    Attributes:
        case: what it is the best of.
        candidate: what to run; the baseline itself where nothing is faster.
        baseline: the uncoarsened launch that the speed-up is over.
        speedup: with its 95 % interval; 1 where the baseline is the best.
        row: the measurement that the number is from, or that of the baseline itself; None where it has none.
        processes: how many new processes it was timed in, 0 if the number is that of the comparison.
        itself: what the launch that all was timed against has against itself in several new processes; None where
            that was not measured.
        challenger: the fastest coarsened measurement, with `challenger_speedup`; the same as `row` unless it is
            not faster than the baseline.
        timed_over: the launch that all was timed against: another one than the baseline where an uncoarsened one
            was faster than that.
        other_baselines: what rows that were left out were timed against.
    """

    case: Case
    candidate: Variant
    baseline: Variant
    speedup: Speedup
    row: Measurement | None
    processes: int
    itself: Speedup | None
    challenger: Measurement | None
    challenger_speedup: Speedup | None
    timed_over: Variant
    other_baselines: tuple[Variant, ...]

    @property
    def is_coarsened(self) -> bool:
        """Return True if coarsening, or another layout of data, helps.

        If not, the kernel is to be left as it is.
        """
        return not self.candidate.is_original

    @property
    def is_confirmed(self) -> bool:
        """Return True if the best was timed once more, in new processes, and this is that number."""
        return self.processes > 0

    @property
    def is_certain(self) -> bool:
        """Return True if the best may be advised: its interval is narrow enough, or it has none."""
        return not self.is_coarsened or math.isnan(self.speedup.low) or self.speedup.is_certain

    @property
    def key(self) -> str:
        """The key of the row, empty where there is none."""
        return self.row.key if self.row else ""

    @property
    def verified_against(self) -> str:
        """Return what its results were compared with, for a reader."""
        return verified_against(self.row.oracle.value, coarsened=self.is_coarsened) if self.row else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader has to know of the number, a sentence each."""
        doubt = "" if self.is_certain else f"{self.speedup.doubt}: {_AGAIN}"
        return (*filter(None, (doubt, self._on_the_challenger())), *self.baseline_notes)

    @property
    def baseline_notes(self) -> tuple[str, ...]:
        """Return what a reader has to know of the baseline, a sentence each."""
        return tuple(filter(None, (self._on_the_baseline(), self._on_itself(), self._on_others())))

    def _on_the_challenger(self) -> str:
        if self.is_coarsened or self.challenger is None or self.challenger_speedup is None:
            return ""
        again = ", confirmed," if self.challenger.role is Role.CONFIRMATION else ""
        numbers = _numbers(self.challenger_speedup)
        if most_doubtful([self.challenger_speedup]) is not None:
            return f"nothing is certain: {self.challenger.candidate}{again} has {numbers}; {_AGAIN}"
        return f"nothing beats the baseline: {self.challenger.candidate}{again} has {numbers}"

    def _on_the_baseline(self) -> str:
        if self.timed_over == self.baseline:
            return ""
        faster, slower = launch_words(self.baseline), launch_words(self.timed_over)
        return (
            f"uncoarsened, local size {faster} is faster than {slower}, which all was timed against, "
            "so speed-ups are ratios of two ratios"
        )

    def _on_itself(self) -> str:
        if self.itself is None or not self.itself.significant:
            return ""
        return (
            f"timed against itself, where the truth is 1, local size {launch_words(self.timed_over)} has "
            f"{_numbers(self.itself)}: one interval in twenty leaves out 1 by chance, "
            "or the clock favours one side"
        )

    def _on_others(self) -> str:
        if not self.other_baselines:
            return ""
        named = " and ".join(map(launch_words, self.other_baselines))
        return f"rows over another baseline ({named}) are left out: their speed-ups do not compare"


def best_row(measurements: Sequence[Measurement]) -> BestRow | None:
    """Return the best of one case; None where nothing has a speed-up."""
    by_key = {measurement.key: measurement for measurement in measurements}
    choice = choose(map(_compared, measurements), lambda row: speedup_of(by_key[row.key]))
    row = by_key[choice.best.key] if choice.best else None
    if choice.speedup is None or choice.baseline is None:
        return None
    baseline: Any = choice.baseline
    timed_over: Any = choice.timed_over
    others: Any = choice.others
    return BestRow(
        case=case_of(measurements[0]),
        candidate=row.candidate if row else baseline,
        baseline=baseline,
        speedup=choice.speedup,
        row=row,
        processes=choice.processes,
        itself=choice.itself,
        challenger=by_key[choice.challenger.key] if choice.challenger else None,
        challenger_speedup=choice.challenger.gain if choice.challenger else None,
        timed_over=timed_over,
        other_baselines=others,
    )


def case_of(measurement: Measurement) -> Case:
    """Return what a measurement is of."""
    place, subject = measurement.environment, measurement.subject
    return Case(
        place.device,
        place.platform,
        place.form,
        subject.benchmark,
        subject.preset,
        place.driver_version,
        measurement.method.cold_cache,
    )


def geometric_mean(rows: Iterable[BestRow]) -> float | None:
    """Return the geometric mean of the best speed-ups; None of fewer than two, which have none."""
    logarithms = [math.log(row.speedup.ratio) for row in rows]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if len(logarithms) > 1 else None


def launch_words(candidate: Variant) -> str:
    """Return what tells uncoarsened launches apart: `16×16, -D TILE=16`."""
    return ", ".join(
        [shape(candidate.local_size), *(f"-D {name}={value}" for name, value in candidate.definitions)]
    )


def best_words(gain: Speedup) -> str:
    """Return the speed-up of a best configuration in words; of the baseline itself, to leave it alone."""
    if gain == ITSELF:
        return "1.00 (leave it as it is)"
    return f"{gain.ratio:.2f}" if math.isnan(gain.low) else _numbers(gain)


def verified_against(oracle: str, *, coarsened: bool) -> str:
    """Return what the results of a configuration, coarsened or not, were compared with, for a reader."""
    words = {
        CheckedAgainst.REFERENCE.value: "reference",
        CheckedAgainst.UNCOARSENED.value: "uncoarsened kernel",
        CheckedAgainst.DEFAULT.value: "default version",
        # Where there is no reference, the uncoarsened kernel itself is what others are compared with.
        CheckedAgainst.NOTHING.value: "not verified" if coarsened else "is the original",
    }
    return words.get(oracle, "")


def seconds_of(text: str) -> float:
    """Return a time in ISO 8601 as seconds; an empty one is before all others."""
    return datetime.fromisoformat(text).timestamp() if text else -math.inf


def _compared(measurement: Measurement) -> Compared:
    candidate = measurement.candidate
    return Compared(
        measurement.key,
        candidate,
        candidate.uncoarsened(),
        measurement.baseline,
        candidate.factor,
        measurement.role,
        seconds_of(measurement.started_at),
        speedup_of(measurement, interval=False),
        measurement.invocation,
        is_rearranged=not (candidate.is_coarsened or candidate.is_original),
    )


def _numbers(gain: Speedup) -> str:
    return f"{gain.ratio:.2f} ({gain.low:.2f} to {gain.high:.2f})"


# Summary of a store's rows: how many there are for each benchmark on each device, how they ended, the best.


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of one case.

    `failures` holds the number of rows by how they ended, without correct ones. `best` is the best configuration,
    None where nothing has a speed-up. `newest` is when the latest was started: UTC, ISO 8601.
    """

    case: Case
    rows: int
    failures: Mapping[Invalidity, int]
    best: BestRow | None
    newest: str


def summaries(measurements: Iterable[Measurement]) -> list[Summary]:
    """Return a summary of each case, in the order of devices, benchmarks and presets."""
    cases: dict[Case, list[Measurement]] = {}
    for measurement in measurements:
        cases.setdefault(case_of(measurement), []).append(measurement)
    return [_summary(case, cases[case]) for case in sorted(cases)]


def _summary(case: Case, rows: Sequence[Measurement]) -> Summary:
    endings = Counter(row.invalidity for row in rows)
    failures: dict[Invalidity, int] = {
        ending: endings[ending] for ending in Invalidity if ending is not Invalidity.CORRECT and ending in endings
    }
    newest = max((row.started_at for row in rows), key=seconds_of)
    return Summary(case, len(rows), failures, best_row(rows), newest)


# Which rows count: the newest version of each kernel, and the preset that was measured last.


def newest_versions(measurements: Iterable[Measurement]) -> tuple[list[Measurement], int]:
    """Return the rows of the version that was measured last, and how many others there were.

    A kernel has another version when its normalised IR, its build options or its inputs are others, with the same
    macro values, at the same preset, on the same device.

    Args:
        measurements: of any kernels and devices.

    Returns:
        the rows of the newest versions in their order, and the number of rows left out.
    """
    rows = list(measurements)
    latest: dict[Hashable, Measurement] = {}
    for row in rows:
        place = _place(row)
        if place not in latest or seconds_of(row.started_at) >= seconds_of(latest[place].started_at):
            latest[place] = row
    kept = [row for row in rows if _version(row) == _version(latest[_place(row)])]
    return kept, len(rows) - len(kept)


def _place(row: Measurement) -> Hashable:
    where, subject = row.environment, row.subject
    case = where.device, where.platform, where.form, subject.benchmark, subject.preset
    return case, row.candidate.definitions


def _version(row: Measurement) -> Hashable:
    subject = row.subject
    return subject.kernel, subject.ir_hash, subject.build_options, subject.size


# Choice of the preset shown of a kernel that was measured at several: times at different sizes do not compare.

# The most names in a note.
_NAMED = 4

Group = TypeVar("Group", bound=Hashable)


# A row's preset, when it was started (in seconds since any moment), and whether it compares.
At = tuple[str, float, bool]


@dataclass(frozen=True, slots=True)
class Shown:
    """The preset that is shown, and those that are not, in the order of their names."""

    preset: str
    others: tuple[str, ...]


def shown_presets(rows: Iterable[tuple[Group, At]]) -> Mapping[Group, Shown]:
    """Return the preset that is shown of each place: that of its newest comparison, or else of its newest row.

    Args:
        rows: each with its place: a kernel on a device, which has one best configuration.
    """
    groups: dict[Group, list[At]] = {}
    for place, row in rows:
        groups.setdefault(place, []).append(row)
    return {place: _shown(own) for place, own in groups.items()}


def preset_notes(measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """Return what is left out where kernels were measured at several presets, a sentence a kind of choice."""
    shown = shown_presets((replace(case_of(row), preset=""), at(row)) for row in measurements)
    kernels: dict[Shown, dict[str, None]] = {}
    for place, choice in shown.items():
        if choice.others:
            kernels.setdefault(choice, {})[place.benchmark] = None
    return tuple(_note(choice, list(names)) for choice, names in kernels.items())


def at(measurement: Measurement) -> At:
    """Return the part of a measurement that the choice depends on."""
    return measurement.subject.preset, seconds_of(measurement.started_at), measurement.role is Role.COMPARISON


def _shown(rows: list[At]) -> Shown:
    newest, _, _ = max(rows, key=lambda row: (row[2], row[1]))
    return Shown(newest, tuple(sorted({preset for preset, _, _ in rows} - {newest})))


def _note(shown: Shown, kernels: list[str]) -> str:
    more = f" and {len(kernels) - _NAMED} more" if len(kernels) > _NAMED else ""
    return (
        f"{', '.join(kernels[:_NAMED])}{more}: shown at preset {shown.preset}, which was measured last; "
        f"also measured at {', '.join(shown.others)}, which --preset (preset= in Python) chooses"
    )
