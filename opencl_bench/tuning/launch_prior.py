"""What the launch model expects of a launch's variants, at other local sizes too; measurements correct it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.targets import target_of_installed
from coarsen.errors import CoarsenError
from coarsen.ir.kernel import Kernel
from coarsen.launch_prediction import device_of, launch_model
from coarsen.models.launch.case import launch_inputs
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.model import LaunchModel
from coarsen.models.launch.planning import KernelPlanner, PlannedLaunch, WorkPlanner
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.opencl_bench.workloads.launch_sizes import sizes_of_launch
from coarsen.user_models import launch_model_folder
from coarsen.variant.variant import Variant

# Of a variant of which the model knows nothing: twice as fast is within two of them.
_UNKNOWN = 0.35
# The standard deviation of what another local size changes, in logarithms of the time, in the stored sweeps of
# CPUs (it is a little more on the H200; half of the others are faster, half slower).
_OF_LOCAL_SIZE = 0.37


@dataclass(frozen=True)
class PlannedSizes:
    """Gives the sizes of a launch at a local size, and its whole arguments by name."""

    benchmark: Benchmark
    preset: str
    kernel: PlannedKernel

    def __call__(self, local_size: LocalSize) -> tuple[LaunchSizes, Mapping[str, int]]:
        """Return them. Raises InvalidInputError for a local size that can't be used."""
        return sizes_of_launch(self.benchmark, self.kernel.kernel, self.preset, local_size)


class LaunchModelPrior:
    """The expected logarithm of a variant's time over that of the launch as it is, and how far off it may be.

    Of a variant that can't be planned, the same is expected as of the launch as it is.

    Args:
        model: the launch model.
        planner: tells the work of variants.
        sizes: gives the sizes of the launch.
        device: where it runs.
        own: the launch as it is.
    """

    def __init__(
        self, model: LaunchModel, planner: WorkPlanner, sizes: PlannedSizes, device: LaunchDevice, own: Variant
    ) -> None:
        self._model = model
        self._planner = planner
        self._sizes = sizes
        self._device = device
        self._own = own
        self._expected: dict[Variant, tuple[float, float]] = {own: (0.0, 0.0)}
        self._known: dict[LocalSize, tuple[LaunchSizes, Mapping[str, int]]] = {}

    def __call__(self, variant: Variant) -> float:
        """Return the expected logarithm of the time, below 0 where a gain is expected."""
        return self._of(variant)[0]

    def deviation(self, variant: Variant) -> float:
        """Return the standard deviation of that logarithm; 0 of the launch as it is."""
        return self._of(variant)[1]

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
            means, deviations = -samples.mean(axis=1), samples.std(axis=1)
            for place, variant in enumerate(inputs.variants):
                self._expected.setdefault(variant, (float(means[place]), float(deviations[place])))
        for variant in wanted:
            self._expected.setdefault(variant, (0.0, _UNKNOWN))

    def _of(self, variant: Variant) -> tuple[float, float]:
        if variant not in self._expected:
            self.prepare([variant])
        return self._expected[variant]

    def _planned(self, variant: Variant) -> PlannedLaunch | None:
        try:
            if variant.local_size not in self._known:
                self._known[variant.local_size] = self._sizes(variant.local_size)
            return self._planner.planned(variant, *self._known[variant.local_size])
        except CoarsenError:
            return None


class UnknownPrior:
    """Expects the same of all variants: of a launch or a device that the model knows nothing of.

    Args:
        own: the launch's local size.
    """

    def __init__(self, own: LocalSize) -> None:
        self._own = own

    def __call__(self, _variant: Variant) -> float:
        """Return 0: no gain is expected."""
        return 0.0

    def deviation(self, variant: Variant) -> float:
        """Return the standard deviation of the logarithm of the time; 0 of the launch as it is."""
        moved = _OF_LOCAL_SIZE if variant.local_size != self._own else 0.0
        return math.hypot(moved, _UNKNOWN if variant.coarsenings else 0.0)


def launch_prior(
    benchmark: Benchmark,
    preset: str,
    device: DeviceDescription,
    own: LocalSize,
    kernel: Kernel | None,
    model: LaunchModel | None = None,
) -> LaunchModelPrior | UnknownPrior:
    """Return what the launch model expects of a launch's variants.

    Args:
        benchmark: what is launched.
        preset: names its sizes.
        device: where it runs.
        own: the launch's local size; nothing can be told of one that is left open.
        kernel: what is coarsened; None where it can't be read.
        model: the user's if None, else the package's.
    """
    variant = Variant(own, definitions=benchmark.own_definitions)
    if not own or kernel is None:
        return UnknownPrior(own)
    try:
        target = device_of(target_of_installed(device))
        planned = PlannedKernel(kernel)
        known = model or launch_model(launch_model_folder())
    except CoarsenError:
        return UnknownPrior(own)
    prior = LaunchModelPrior(
        known, KernelPlanner(planned), PlannedSizes(benchmark, preset, planned), target, variant
    )
    prior.prepare([variant])
    return prior
