"""The launch of a benchmark, and the launches that a model predicted, the most promising measured one by one.

the model's launches, its choice first ─▶ those that device and sizes allow ─▶ measured, verified, confirmed
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, VerificationError
from coarsen.models.launch.expected_improvement import Belief, Expected, KnownPrior
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.engine import name_of, opened_context
from coarsen.opencl_bench.sweep.observer import CollectingObserver, Remeasure, SweepObserver
from coarsen.opencl_bench.sweep.out_of_bounds import explained
from coarsen.opencl_bench.sweep.plan import LaunchConstraint, SweepPlan, limits_of
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.sweep.rows import LAUNCHES, most_rows, select_baseline
from coarsen.opencl_bench.tuning.measured_variants import MeasuredVariants, measure_variants
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
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
    belief = Belief(variants, KnownPrior(known))
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
