"""The launch of a benchmark, and its variants that the model expects most of, measured one after the other.

local sizes × one coarsening: (factor × stride of work-items, factor of work-groups) along each dimension
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, VerificationError
from coarsen.models.default import DefaultModel
from coarsen.models.launch.expected_improvement import Belief
from coarsen.models.launch.model import LaunchModel
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.search.spaces import valid_choices
from coarsen.opencl_bench.search.variant_space import VariantSearchSpace
from coarsen.opencl_bench.sweep.confirmation import LAUNCHES, most_rows
from coarsen.opencl_bench.sweep.engine import name_of, opened_context
from coarsen.opencl_bench.sweep.observer import CollectingObserver, Remeasure, SweepObserver
from coarsen.opencl_bench.sweep.out_of_bounds import explained
from coarsen.opencl_bench.sweep.plan import SweepPlan
from coarsen.opencl_bench.sweep.points import limits_of
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.sweep.search_sweep import search_space
from coarsen.opencl_bench.sweep.selection import select_baseline
from coarsen.opencl_bench.tuning.described_tuning import local_sizes_to_try
from coarsen.opencl_bench.tuning.launch_model_prior import LaunchModelPrior
from coarsen.opencl_bench.tuning.launch_prior import launch_prior
from coarsen.opencl_bench.tuning.launch_space import launch_space
from coarsen.opencl_bench.tuning.measured_variants import MeasuredVariants, measure_variants
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.variant.transforms import DEFAULT, device_kind_of
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class DescribedLaunch:
    """A benchmark's launch on a device.

    Attributes:
        benchmark: gives its inputs.
        name: what a plan calls it.
        preset: names its sizes.
        device: where it runs.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        local_size: of the launch, in work-items; that of the preset if None.
    """

    benchmark: Benchmark
    name: str | Path
    preset: str
    device: DeviceDescription
    groups_matter: bool
    local_size: LocalSize | None = None

    @property
    def own(self) -> Variant:
        """The launch as it is; its macros have their first values."""
        size = self.benchmark.preset(self.preset).local_size if self.local_size is None else self.local_size
        return Variant(size, definitions=self.benchmark.own_definitions)


def plan_of_launch(launch: DescribedLaunch) -> SweepPlan:
    """Return a plan whose space is a launch at its local size and others, with one coarsening at most.

    Raises:
        InvalidInputError: the local size has another number of extents than the benchmark's; it is left open, and
            there is none to coarsen at.
    """
    benchmark, own = launch.benchmark, launch.own.local_size
    usual = benchmark.preset(launch.preset).local_size
    if usual and len(own) != len(usual):
        such = "x".join(map(str, usual))
        count = "1 number" if len(usual) == 1 else f"{len(usual)} numbers"
        raise InvalidInputError(f"{benchmark.name}: a local size has {count}, {such} for example")
    settings = Tune(wide_accesses=False)
    others = local_sizes_to_try(benchmark, launch.preset, own, launch.device, launch.groups_matter, settings)
    space = replace(
        launch_space(own, others, DEFAULT, settings),
        definitions=tuple((macro, values[:1]) for macro, values in sorted(benchmark.tunables.items())),
        at_once=1,
    )
    return SweepPlan(launch.name, launch.device.index, launch.preset, space=space)


def planned_rows(count: int) -> int:
    """Return how many rows the measuring of so many variants has at most, the launch as it is included."""
    return 1 + count + most_rows(count, LAUNCHES)


def measure_promising(
    launch: DescribedLaunch,
    plan: SweepPlan,
    count: int,
    store: Store,
    model: DefaultModel | LaunchModel | None = None,
    observer: SweepObserver | None = None,
) -> MeasuredVariants:
    """Measure a launch as it is, and its variants of the largest expected improvement.

    Args:
        launch: what is measured.
        plan: `plan_of_launch` of it.
        count: how many variants, at most.
        store: where the rows go; those that are there are not measured again.
        model: what expects something of variants; if None, see `launch_prior`.
        observer: sees rows as they come.

    Raises:
        DeviceError: the launch as it is does not run on the device.
        VerificationError: its results are wrong.
        InvalidInputError: the kernel or its inputs can't be used; the store failed.
    """
    benchmark, device = launch.benchmark, launch.device
    space = search_space(benchmark, plan, limits_of(device), device_kind_of(device.device_types))
    prior = launch_prior(benchmark, launch.preset, device, launch.own.local_size, model)
    variants = _variants(space)
    if isinstance(prior, LaunchModelPrior):
        prior.prepare(variants)
    belief = Belief(variants, prior)
    collector = CollectingObserver(observer or SweepObserver())
    with opened_context(plan, benchmark, device, store, collector, Remeasure.NOTHING, None) as context:
        collector.planned(benchmark.name, context.device, planned_rows(count))
        measurer = RowMeasurer(context)
        selected = select_baseline(measurer, [launch.own])
        measured = measure_variants(measurer, space, launch.own, belief, count) if selected.baseline else None
    problem = selected.problem
    if isinstance(plan.benchmark, Path):
        problem = explained(problem, benchmark, Path(name_of(plan)), plan.preset, collector.rows)
    if measured is None:
        raise _error_of(selected.rows)(f"{benchmark.name}: the kernel as it is: {problem}")
    return measured


def _variants(space: VariantSearchSpace) -> list[Variant]:
    return [space.variant(choice) for choice in valid_choices(space)]


def _error_of(rows: Sequence[Measurement]) -> type[CoarsenError]:
    """The kind of error it is that the launch as it is does not run correctly."""
    endings = {row.invalidity for row in rows}
    if Invalidity.CORRECTNESS in endings:
        return VerificationError
    return DeviceError if endings & {Invalidity.RUNTIME, Invalidity.TIMEOUT} else InvalidInputError
