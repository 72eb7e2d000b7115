"""The launch of a benchmark, and the launches that a model predicted, the most promising measured one by one.

the model's launches, its choice first ─▶ those that device and sizes allow ─▶ measured ─▶ confirmed ─▶ Decision

A search like any other: its space are the launches that were predicted, its budget is a number of trials.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, VerificationError
from coarsen.models.launch.expected_improvement import Belief, Expected
from coarsen.opencl_bench.sweep.engine import explained, name_of, opened_context
from coarsen.tuning.engine.finalists import decide, gain_of
from coarsen.tuning.engine.live_evaluator import LiveEvaluator, relative_time
from coarsen.tuning.engine.observer import CollectingObserver, SearchProgress, SweepObserver
from coarsen.tuning.engine.plan import LaunchConstraint, SweepPlan, limits_of
from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.engine.rows import LAUNCHES, Selected, measure_best, most_rows
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.search.evaluator import Budget, Evaluator
from coarsen.tuning.search.searcher import COMPLETE, Searcher
from coarsen.tuning.search.spaces import NamedVariants
from coarsen.tuning.store.database import Store
from coarsen.tuning.tuned import Decision
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
from coarsen.variant.variant import Variant


def own_launch(benchmark: Benchmark, preset: str, local_size: LocalSize | None) -> Variant:
    """Return a benchmark's launch as it is; its macros have their first values.

    Args:
        benchmark: what is launched.
        preset: names its sizes.
        local_size: in work-items; that of the preset if None.

    Raises:
        InvalidInputError: the local size has another number of extents than the benchmark's.
    """
    usual = benchmark.preset(preset).local_size
    if local_size and usual and len(local_size) != len(usual):
        such = "x".join(map(str, usual))
        count = "1 number" if len(usual) == 1 else f"{len(usual)} numbers"
        raise InvalidInputError(f"{benchmark.name}: a local size has {count}, {such} for example")
    return Variant(usual if local_size is None else local_size, definitions=benchmark.own_definitions)


def planned_rows(count: int) -> int:
    """Return how many rows the measuring of so many variants has at most, the launch as it is included."""
    return 1 + count + most_rows(count, LAUNCHES)


def measure_promising(
    benchmark: Benchmark,
    device: DeviceDescription,
    plan: SweepPlan,
    own: Variant,
    count: int,
    store: Store,
    expected: Mapping[Variant, Expected],
    first: Variant | None = None,
    observer: SweepObserver | None = None,
) -> MeasuredVariants:
    """Measure a launch as it is, and the most promising of the variants that were predicted.

    Args:
        benchmark: what is launched.
        device: where.
        plan: names both, and the sizes.
        own: the launch as it is (`own_launch`).
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
    known = {replace(variant, definitions=own.definitions): what for variant, what in expected.items()}
    violation = LaunchConstraint(benchmark, plan.preset, limits_of(device))
    # The launch as it is was measured before.
    variants = [variant for variant in known if variant != own and violation(variant) is None]
    belief = Belief({variant: known[variant] for variant in variants})
    searcher = PromisingSearcher(belief, None if first is None else replace(first, definitions=own.definitions))
    collector = CollectingObserver(observer or SweepObserver())

    def trying(trial: int, seconds: float) -> None:
        collector.trying(SearchProgress(trial, count, seconds))

    def propose(measurer: RowMeasurer, _selected: Selected) -> Sequence[Measurement]:
        evaluator = LiveEvaluator(measurer, own, NamedVariants(variants), trying)
        searcher.search(evaluator, Budget(is_over=lambda: len(_ran(evaluator.rows)) >= count), seed=0)
        return evaluator.rows

    with opened_context(plan, benchmark, device, store, collector, Remeasure.NOTHING, None) as context:
        problem = measure_best(context, benchmark.name, [own], planned_rows(count), propose)
    if problem:
        if isinstance(plan.benchmark, Path):
            problem = explained(problem, benchmark, Path(name_of(plan)), collector.rows)
        raise _error_of(collector.rows)(f"{benchmark.name}: the kernel as it is: {problem}")
    return measured_variants(own, belief, collector.rows)


def _ran(rows: Iterable[Measurement]) -> list[Measurement]:
    """The comparisons of variants that could be launched: of some, what their sizes divide shows late."""
    return [row for row in rows if row.role is Role.COMPARISON and row.invalidity is not Invalidity.CONSTRAINTS]


def _error_of(rows: Sequence[Measurement]) -> type[CoarsenError]:
    """The kind of error it is that the launch as it is does not run correctly."""
    endings = {row.invalidity for row in rows}
    if Invalidity.CORRECTNESS in endings:
        return VerificationError
    return DeviceError if endings & {Invalidity.RUNTIME, Invalidity.TIMEOUT} else InvalidInputError


@dataclass(frozen=True, slots=True)
class PromisingSearcher(Searcher):
    """Tries the variants of largest expected improvement; each measurement changes what is expected of the others.

    Attributes:
        belief: what is expected of the variants, which are the space.
        first: the one that is tried first; any where None, or where it is none of them.
    """

    belief: Belief
    first: Variant | None = None
    name: ClassVar[str] = "promising"

    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """See `Searcher.run`; nothing is random."""
        variants = self.belief.variants
        following = self.first if self.first in variants else self.belief.most_promising({}, set())
        while following is not None:
            evaluator.try_all([(variants.index(following),)])
            tried = {variants[trial.choice[0]] for trial in evaluator.trace}
            measured = {variants[place]: math.log(time) for (place,), time in evaluator.times.items()}
            following = self.belief.most_promising(measured, tried)
        return COMPLETE


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
    """The launch as it is, the variants that were measured, in their order, and what is chosen.

    Attributes:
        own: the launch as it is.
        variants: those measured beside it.
        decision: the choice among those that were timed again, as of every tuning.
    """

    own: Variant
    variants: tuple[MeasuredVariant, ...]
    decision: Decision

    @property
    def wrong(self) -> tuple[MeasuredVariant, ...]:
        """The variants whose results were wrong."""
        return tuple(each for each in self.variants if each.invalidity is Invalidity.CORRECTNESS)


def measured_variants(own: Variant, belief: Belief, rows: Iterable[Measurement]) -> MeasuredVariants:
    """Return what rows say of the variants that were compared with a launch, and which is chosen.

    Args:
        own: the launch as it is.
        belief: what was expected of the variants before anything was measured.
        rows: of all roles, in the order in which they came.
    """
    found: list[MeasuredVariant] = []
    measured: dict[Variant, float] = {}
    known = list(rows)
    for row in _ran(known):
        found.append(_measured(row.candidate, belief.expected_of(row.candidate, measured), known))
        if (taken := relative_time(row)) is not None:
            measured[row.candidate] = math.log(taken)
    confirmed = {
        each.variant: [row for row in known if row.candidate == each.variant and row.role is Role.CONFIRMATION]
        for each in found
        if each.processes and each.speedup is not None
    }
    return MeasuredVariants(own, tuple(found), decide(confirmed, own, lambda gain: gain.is_clear))


def _measured(variant: Variant, expected: Expected, rows: Iterable[Measurement]) -> MeasuredVariant:
    """Return what rows say of a variant: as confirmed, where it was."""
    own = [row for row in rows if row.candidate == variant]
    again = [row for row in own if row.role is Role.CONFIRMATION]
    counting = again or [row for row in own if row.role is Role.COMPARISON]
    failed = next((row for row in counting if row.invalidity is not Invalidity.CORRECT), None)
    if failed is not None:
        return MeasuredVariant(variant, expected, None, failed.invalidity, failed.reason, len(again))
    return MeasuredVariant(variant, expected, gain_of(counting), processes=len(again))
