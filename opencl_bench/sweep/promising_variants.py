"""The launch of a benchmark, and the launches that a model predicted, the most promising measured one by one.

the model's launches, its choice first ─▶ those that device and sizes allow ─▶ measured, verified, confirmed
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, VerificationError
from coarsen.models.launch.expected_improvement import Belief, Expected
from coarsen.opencl_bench.sweep.engine import name_of, opened_context
from coarsen.opencl_bench.sweep.out_of_bounds import explained
from coarsen.tuning.engine.choice import CLEAR_GAIN, most_doubtful
from coarsen.tuning.engine.finalists import over_uncoarsened
from coarsen.tuning.engine.live_evaluator import relative_time
from coarsen.tuning.engine.observer import CollectingObserver, Remeasure, SearchProgress, SweepObserver
from coarsen.tuning.engine.plan import LaunchConstraint, SweepPlan, limits_of
from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.engine.rows import LAUNCHES, confirm, most_rows, select_baseline, to_confirm
from coarsen.tuning.engine.speedups import across_processes, speedup_of
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.store.database import Store
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class DescribedLaunch:
    """A benchmark's launch on a device.

    Attributes:
        benchmark: gives its inputs.
        name: what a plan calls it.
        preset: names its sizes.
        device: where it runs.
        local_size: of the launch, in work-items; that of the preset if None.
    """

    benchmark: Benchmark
    name: str | Path
    preset: str
    device: DeviceDescription
    local_size: LocalSize | None = None

    @property
    def own(self) -> Variant:
        """The launch as it is; its macros have their first values."""
        size = self.benchmark.preset(self.preset).local_size if self.local_size is None else self.local_size
        return Variant(size, definitions=self.benchmark.own_definitions)

    def of(self, variant: Variant) -> Variant:
        """Return a variant with the first value of each of the benchmark's macros."""
        return replace(variant, definitions=self.benchmark.own_definitions)


def plan_of_launch(launch: DescribedLaunch) -> SweepPlan:
    """Return the plan by which a launch and its variants are measured.

    Raises:
        InvalidInputError: the local size has another number of extents than the benchmark's.
    """
    benchmark, own = launch.benchmark, launch.own.local_size
    usual = benchmark.preset(launch.preset).local_size
    if usual and len(own) != len(usual):
        such = "x".join(map(str, usual))
        count = "1 number" if len(usual) == 1 else f"{len(usual)} numbers"
        raise InvalidInputError(f"{benchmark.name}: a local size has {count}, {such} for example")
    return SweepPlan(launch.name, launch.device.index, launch.preset)


def planned_rows(count: int) -> int:
    """Return how many rows the measuring of so many variants has at most, the launch as it is included."""
    return 1 + count + most_rows(count, LAUNCHES)


def measure_promising(
    launch: DescribedLaunch,
    plan: SweepPlan,
    count: int,
    store: Store,
    expected: Mapping[Variant, Expected],
    first: Variant | None = None,
    observer: SweepObserver | None = None,
) -> MeasuredVariants:
    """Measure a launch as it is, and the most promising of the variants that were predicted.

    Args:
        launch: what is measured.
        plan: `plan_of_launch` of it.
        count: how many variants, at most.
        store: where the rows go; those that are there are not measured again.
        expected: what a model expects of each variant, macros apart, which have their first values.
        first: the variant among them that is measured first, the model's choice; None where that is the launch as
            it is.
        observer: sees rows as they come.

    Raises:
        DeviceError: the launch as it is does not run on the device.
        VerificationError: its results are wrong.
        InvalidInputError: the kernel or its inputs can't be used; the store failed.
    """
    benchmark, device = launch.benchmark, launch.device
    known = {launch.of(variant): what for variant, what in expected.items()}
    violation = LaunchConstraint(benchmark, launch.preset, limits_of(device))
    variants = [variant for variant in known if violation(variant) is None]
    belief = Belief({variant: known[variant] for variant in variants})
    chosen = launch.of(first) if first is not None else None
    chosen = chosen if chosen in variants and chosen != launch.own else None
    collector = CollectingObserver(observer or SweepObserver())
    with opened_context(plan, benchmark, device, store, collector, Remeasure.NOTHING, None) as context:
        collector.planned(benchmark.name, context.device, planned_rows(count))
        measurer = RowMeasurer(context)
        selected = select_baseline(measurer, [launch.own])
        measured = measure_variants(measurer, launch.own, belief, count, chosen) if selected.baseline else None
    problem = selected.problem
    if isinstance(plan.benchmark, Path):
        problem = explained(problem, benchmark, Path(name_of(plan)), plan.preset, collector.rows)
    if measured is None:
        raise _error_of(selected.rows)(f"{benchmark.name}: the kernel as it is: {problem}")
    return measured


def _error_of(rows: Sequence[Measurement]) -> type[CoarsenError]:
    """The kind of error it is that the launch as it is does not run correctly."""
    endings = {row.invalidity for row in rows}
    if Invalidity.CORRECTNESS in endings:
        return VerificationError
    return DeviceError if endings & {Invalidity.RUNTIME, Invalidity.TIMEOUT} else InvalidInputError


# A few variants of one launch, measured on a device: which is really the best.
#
#     the predicted choice ──────────┐
#     largest expected improvement ─┴▶ measured against the launch as it is ─▶ expected anew ─▶ the next
#                                      all of them again, in new processes ─▶ the best
#
# What was confirmed in new processes counts in place of the first measurement, and where anything was, only that
# competes. What has an interval that holds 1 is not faster than the launch as it is. A variant that merges less
# wins where its speed-up lies within the interval of the best one's, and within 5 %: the clock can't tell the two
# apart.

_AS_IT_IS = Speedup(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class MeasuredVariant:
    """A variant's speed-up over the launch as it is, or how it failed and why.

    Attributes:
        variant: what was measured.
        expected: what was expected of it when it was chosen to be measured next.
        speedup: with its interval; None where it failed.
        invalidity: how it failed.
        reason: why.
        processes: how many new processes it was timed in again, also if it failed there; 0 if it was timed once.
    """

    variant: Variant
    expected: Expected
    speedup: Speedup | None
    invalidity: Invalidity = Invalidity.CORRECT
    reason: str = ""
    processes: int = 0


@dataclass(frozen=True, slots=True)
class MeasuredVariants:
    """The launch as it is, and the variants that were measured, in their order.

    Attributes:
        own: the launch as it is.
        variants: those measured beside it.
        rows: theirs, confirmations too.
    """

    own: Variant
    variants: tuple[MeasuredVariant, ...]
    rows: tuple[Measurement, ...] = ()

    @property
    def all(self) -> tuple[MeasuredVariant, ...]:
        """The launch as it is and the variants."""
        return MeasuredVariant(self.own, Expected(0.0, 0.0), _AS_IT_IS), *self.variants

    @property
    def eligible(self) -> tuple[MeasuredVariant, ...]:
        """The launch as it is, and the variants that can be the best: certain, and timed in the most processes."""
        own, *others = self.all
        most = max((each.processes for each in others), default=0)
        return own, *(
            each for each in others if each.processes == most and each.speedup and each.speedup.is_certain
        )

    @property
    def doubtful(self) -> Speedup | None:
        """The speed-up of what may be the fastest, where its interval is too wide for it to be the best."""
        known = [each.speedup for each in self.variants if each.speedup is not None]
        return most_doubtful(known) if self.best.variant == self.own else None

    @property
    def best(self) -> MeasuredVariant:
        """The fastest of those that ran correctly; of those that the clock can't tell from it, the simplest."""
        correct = [
            (each, each.speedup)
            for each in self.eligible
            if each.speedup is not None and (each.variant == self.own or each.speedup.significant)
        ]
        _, fastest = max(correct, key=lambda entry: entry[1].ratio)
        least = min(fastest.ratio, max(fastest.low, fastest.ratio / CLEAR_GAIN))
        alike = [each for each, gain in correct if gain.ratio >= least]
        return min(alike, key=self._effort)

    @property
    def over_uncoarsened(self) -> Speedup | None:
        """The speed-up of the best over the fastest other local size uncoarsened; None if none was confirmed."""
        best = self.best
        confirmed = self._confirmed()
        gains = {each.variant: each.speedup for each in self.eligible if each.speedup is not None}
        known = {variant: gain for variant, gain in gains.items() if variant in confirmed}
        return over_uncoarsened(best.variant, confirmed, known) if best.variant in known else None

    @property
    def wrong(self) -> tuple[MeasuredVariant, ...]:
        """The variants whose results were wrong."""
        return tuple(each for each in self.variants if each.invalidity is Invalidity.CORRECTNESS)

    def _confirmed(self) -> Mapping[Variant, tuple[Measurement, ...]]:
        return {
            each.variant: tuple(row for row in _rows_of(each.variant, self.rows) if row.role is Role.CONFIRMATION)
            for each in self.variants
            if each.processes and each.speedup is not None
        }

    def _effort(self, measured: MeasuredVariant) -> tuple[bool, int, bool]:
        """The place in the order of effort: the launch as it is comes first, then what merges less."""
        variant = measured.variant
        return variant != self.own, variant.factor, variant.local_size != self.own.local_size


def measure_variants(
    measurer: RowMeasurer, own: Variant, belief: Belief, count: int, first: Variant | None = None
) -> MeasuredVariants:
    """Measure the most promising variants, one after the other, and confirm the best of them.

    Rows that the store has already are not measured again.

    Args:
        measurer: gives the rows.
        own: the launch as it is, which runs correctly.
        belief: what is expected of the variants; measurements change it.
        count: how many variants are measured, at most; those that break a constraint are not run.
        first: one of the variants that is measured before the others; None for the one of the largest expected
            improvement.

    Raises:
        DeviceError: the launch as it is does not run on the device any more.
        InvalidInputError: the kernel isn't what it was; the store failed.
    """
    start = time.perf_counter()
    ran: dict[Variant, Expected] = {}
    measured: dict[Variant, float] = {}
    compared: list[Measurement] = []
    tried = {own}
    following = first if first is not None else belief.most_promising(measured, tried)
    while len(ran) < count and following is not None:
        variant, expected = following, belief.expected_of(following, measured)
        tried.add(variant)
        measurer.context.observer.trying(SearchProgress(len(tried) - 1, count, time.perf_counter() - start))
        row = measurer.compared(variant, own)
        compared.append(row)
        if row.invalidity is not Invalidity.CONSTRAINTS:
            # Some launches show what they can't be divided by only when their inputs are made.
            ran[variant] = expected
        if (taken := relative_time(row)) is not None:
            measured[variant] = math.log(taken)
        following = belief.most_promising(measured, tried)
    rows = (*compared, *confirm(measurer, to_confirm(compared, own), own))
    return MeasuredVariants(own, tuple(measured_variant(each, ran[each], rows) for each in ran), rows)


def measured_variant(variant: Variant, expected: Expected, rows: Sequence[Measurement]) -> MeasuredVariant:
    """Return what rows say of a variant: as confirmed, where it was.

    Args:
        variant: compared in one of the rows.
        expected: what was expected of it.
        rows: those of others, too.
    """
    own = _rows_of(variant, rows)
    compared = [row for row in own if row.role is Role.COMPARISON]
    counting = [row for row in own if row.role is Role.CONFIRMATION] or compared
    processes = sum(row.role is Role.CONFIRMATION for row in counting)
    failed = next((row for row in counting if row.invalidity is not Invalidity.CORRECT), None)
    if failed is not None:
        return MeasuredVariant(variant, expected, None, failed.invalidity, failed.reason, processes)
    gains = [gain for gain in map(speedup_of, counting) if gain]
    return MeasuredVariant(variant, expected, across_processes(gains) if gains else None, processes=processes)


def _rows_of(variant: Variant, rows: Sequence[Measurement]) -> list[Measurement]:
    return [row for row in rows if row.candidate == variant]
