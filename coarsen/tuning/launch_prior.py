"""Order a launch's variants by what the launch model expects of them; measurements correct it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial

import numpy as np

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, padded
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.launch.case import launch_inputs
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.model import LaunchModel
from coarsen.models.launch.planning import PlannedLaunch, WorkPlanner
from coarsen.prediction import device_of, launch_model, learned_devices
from coarsen.targets import target_of_installed
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize, ScalarArgument
from coarsen.user_models import launch_model_folder
from coarsen.variant.variant import Variant

# Gives the sizes of a launch at a local size, and its whole arguments by name.
SizesAt = Callable[[LocalSize], tuple[LaunchSizes, Mapping[str, int]]]


class LaunchModelPrior:
    """The logarithm of a variant's time over that of the launch as it is, as the launch model expects it.

    Of a variant that can't be planned, the same is expected as of the launch as it is.

    Args:
        model: the launch model.
        planner: tells the work of variants.
        sizes: gives the sizes of the launch; raises InvalidInputError for a local size that can't be used.
        device: where it runs.
        own: the launch as it is.
    """

    def __init__(
        self, model: LaunchModel, planner: WorkPlanner, sizes: SizesAt, device: LaunchDevice, own: Variant
    ) -> None:
        self._model = model
        self._planner = planner
        self._sizes = lru_cache(maxsize=None)(sizes)
        self._device = device
        self._own = own
        self._expected: dict[Variant, float] = {own: 0.0}

    def __call__(self, variant: Variant) -> float:
        """Return the expected logarithm of the time."""
        if variant not in self._expected:
            self.prepare([variant])
        return self._expected[variant]

    def prepare(self, variants: Iterable[Variant]) -> None:
        """Find what is expected of variants, all at once: it takes less time so."""
        wanted = [variant for variant in dict.fromkeys(variants) if variant not in self._expected]
        planned: dict[Variant, PlannedLaunch] = {}
        for variant in dict.fromkeys((self._own, *(each.uncoarsened() for each in wanted), *wanted)):
            found = self._planned(variant)
            if found is not None and (not variant.is_coarsened or variant.uncoarsened() in planned):
                planned[variant] = found
        if self._own in planned:
            inputs = launch_inputs(planned, self._device)
            samples = self._model.expect([inputs], self._device, inputs.variants.index(self._own)).over_own
            for variant, mean in zip(inputs.variants, -samples.mean(axis=1), strict=True):
                self._expected.setdefault(variant, float(mean))
        for variant in wanted:
            self._expected.setdefault(variant, 0.0)

    def _planned(self, variant: Variant) -> PlannedLaunch | None:
        try:
            return self._planner.planned(variant, *self._sizes(variant.local_size))
        except CoarsenError:
            return None


def launch_prior(
    benchmark: Benchmark,
    preset: str,
    device: DeviceDescription,
    own: LocalSize,
    model: LaunchModel | None = None,
    kernel: Kernel | None = None,
) -> LaunchModelPrior | None:
    """Return what the launch model expects of a launch's variants; None where it can't tell anything.

    Nothing is told of a local size that is left open, nor of a device that the model did not learn from.

    Args:
        benchmark: the kernel.
        preset: names its sizes.
        device: where it runs.
        own: the launch's local size; empty where it is left open.
        model: the user's own if None, or that of the package.
        kernel: the benchmark's, where it was lowered already.
    """
    variant = Variant(own, definitions=benchmark.own_definitions)
    if not own:
        return None
    model = model or launch_model(launch_model_folder())
    try:
        target = target_of_installed(device)
        if target.descriptor.name not in learned_devices(model):
            return None
        lowered = kernel or lower(benchmark.code, benchmark.kernel, benchmark.own_options, device.macros)
        planner, sizes = WorkPlanner(PlannedKernel(lowered)), partial(sizes_of_launch, benchmark, lowered, preset)
        prior = LaunchModelPrior(model, planner, sizes, device_of(target), variant)
    except CoarsenError:
        return None
    prior.prepare([variant])
    return prior


def sizes_of_launch(
    benchmark: Benchmark, kernel: Kernel, preset: str, local_size: LocalSize
) -> tuple[LaunchSizes, Mapping[str, int]]:
    """Return the sizes of a benchmark's largest launch, and its whole scalar arguments by name.

    Raises:
        InvalidInputError: the local size is one that the algorithm can't use.
    """
    launch = max(benchmark.own_launches(preset, local_size), key=lambda each: np.prod(each.global_size))
    names = [argument.name for argument in kernel.arguments]
    scalars = {
        name: int(argument.value)
        for name, argument in zip(names, launch.arguments, strict=False)
        if isinstance(argument, ScalarArgument) and isinstance(argument.value, np.integer)
    }
    return LaunchSizes(padded(launch.global_size), padded(local_size)), scalars
