"""The first stage of tuning over inputs on a device: a search on some inputs, each trial a row of the store."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs.measuring import OpenedInputs, VersionsPlan, opened_inputs
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings, stage_one
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.search.variant_space import VariantSearchSpace, listed
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.opencl_bench.sweep.live_evaluator import LiveEvaluator
from coarsen.opencl_bench.sweep.observer import Remeasure, SweepObserver
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.sweep.points import limits_of, variant_space
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.variant.transforms import device_kind_of
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class LiveInputs:
    """Inputs on which versions can be tried.

    Attributes:
        plan: names the benchmark, the device and the inputs.
        benchmark: the same.
        device: the same.
        space: the versions to choose from.
        store: where the rows go.
        observer: sees rows as they come.
        pool: the processes that compile and measure.
    """

    plan: VersionsPlan
    benchmark: Benchmark
    device: DeviceDescription
    space: Space
    store: Store
    observer: SweepObserver
    pool: CompilePool

    def variants(self, preset: str) -> VariantSearchSpace:
        """Return the versions that may be tried at an input."""
        limits, kind = limits_of(self.device), device_kind_of(self.device.device_types)
        made = variant_space(self.benchmark, preset, self.space, limits, kind)
        return listed(VariantSearchSpace(replace(made, constraints=(self._sequences, *made.constraints))))

    def _sequences(self, variant: Variant) -> str | None:
        """Say that several launches run as they are written: nothing else is known to be right at dispatch."""
        if not variant.is_coarsened or not self.benchmark.other_kernels:
            return None
        try:
            launches = self.benchmark.launches(self.plan.presets[0], variant.local_size, variant.definitions)
        except InvalidInputError as error:
            return str(error)
        return "of several launches none is coarsened" if len(launches) > 1 else None


def versions_to_measure(
    live: LiveInputs, points: Sequence[InputPoint], settings: StageOneSettings
) -> tuple[Variant, ...]:
    """Search on some inputs for the versions to measure on all.

    Args:
        live: the inputs.
        points: their features, in the order of the plan's presets.
        settings: how to search.

    Raises:
        InvalidInputError: there are no inputs, or the kernel does not compile.
        DeviceError: the device can't be opened (any more).
    """
    with opened_inputs(live.plan, live.store, live.pool) as opened, ExitStack() as open_context:
        space = live.variants(live.plan.presets[0])

        def evaluator_of(number: int) -> LiveEvaluator:
            # One input after the other: each has a process of its own on the device.
            open_context.close()
            return _evaluator(live, opened, live.plan.presets[number], open_context)

        found = stage_one(points, evaluator_of, space.choice_of(live.plan.default), settings)
        return tuple(space.variant(choice) for choice in found.choices)


def _evaluator(live: LiveInputs, opened: OpenedInputs, preset: str, open_context: ExitStack) -> LiveEvaluator:
    context = open_context.enter_context(opened.context(preset, live.observer, Remeasure.NOTHING))
    return LiveEvaluator(RowMeasurer(context), live.plan.default, live.variants(preset))
