"""Order a launch's variants by what the launch model expects of them; measurements correct it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import CoarsenError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.launch_prediction import device_of, launch_model, learned_devices
from coarsen.models.launch.case import launch_inputs
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.model import LaunchModel
from coarsen.models.launch.planning import PlannedLaunch, WorkPlanner
from coarsen.targets import target_of_installed
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
from coarsen.tuning.workload.launch_sizes import sizes_of_launch
from coarsen.user_models import launch_model_folder
from coarsen.variant.variant import Variant

# Of a variant of which the model knows nothing: twice as fast is within two of them.
_UNKNOWN = 0.35
# The standard deviation of what another local size changes, in logarithms of the time, in the stored sweeps of
# CPUs (it is a little more on the H200; half of the others are faster, half slower).
_OF_LOCAL_SIZE = 0.37


class Prior(Protocol):
    """What is expected of the variants of a launch before anything is measured."""

    def __call__(self, variant: Variant) -> float:
        """Return the expected logarithm of a variant's time over that of the launch as it is."""
        ...

    def deviation(self, variant: Variant) -> float:
        """Return the standard deviation of that logarithm."""
        ...


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


class EvenPrior:
    """The expectation where there is no model: all variants are as fast as the launch as it is, more or less."""

    def __init__(self, own: LocalSize) -> None:
        self._own = own

    def __call__(self, variant: Variant) -> float:
        """Return the expected logarithm of the time, which is 0."""
        return 0.0

    def deviation(self, variant: Variant) -> float:
        """Return the standard deviation of that logarithm; 0 of the launch as it is."""
        moved = _OF_LOCAL_SIZE if variant.local_size != self._own else 0.0
        return math.hypot(moved, _UNKNOWN if variant.coarsenings else 0.0)


def launch_prior(
    benchmark: Benchmark,
    preset: str,
    device: DeviceDescription,
    own: LocalSize,
    model: LaunchModel | None = None,
    kernel: Kernel | None = None,
) -> Prior:
    """Return what is expected of a launch's variants.

    Args:
        benchmark: the kernel.
        preset: names its sizes.
        device: where it runs.
        own: the launch's local size; empty where it is left open.
        model: the user's own if None, or that of the package.
        kernel: the benchmark's, where it was lowered already.
    """
    return launch_model_prior(benchmark, preset, device, own, model, kernel) or EvenPrior(own)


def coarsening_prior(
    benchmark: Benchmark, preset: str, device: DeviceDescription
) -> Callable[[Variant], float] | None:
    """Return what is expected of coarsenings: the log time of a variant over that of its launch uncoarsened.

    Arguments as for `launch_prior`. None where nothing is known.
    """
    expected = launch_model_prior(benchmark, preset, device, benchmark.preset(preset).local_size)
    return None if expected is None else lambda variant: expected(variant) - expected(variant.uncoarsened())


def launch_model_prior(
    benchmark: Benchmark,
    preset: str,
    device: DeviceDescription,
    own: LocalSize,
    model: LaunchModel | None = None,
    kernel: Kernel | None = None,
) -> LaunchModelPrior | None:
    """Return what the launch model expects of a launch's variants; None where it can't tell anything.

    Arguments as for `launch_prior`. Nothing is told of a local size that is left open, nor of a device that the
    model did not learn from.
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
        planned = PlannedKernel(lowered)
        sizes = PlannedSizes(benchmark, preset, planned)
        prior = LaunchModelPrior(model, WorkPlanner(planned), sizes, device_of(target), variant)
    except CoarsenError:
        return None
    prior.prepare([variant])
    return prior
