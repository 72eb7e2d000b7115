"""Order a launch's variants by what a model expects of them; measurements correct it."""

from __future__ import annotations

import math
from dataclasses import replace

from coarsen.devices.discovery import DeviceDescription
from coarsen.launch_prediction import launch_model
from coarsen.models.default import DefaultModel
from coarsen.models.launch.expected_improvement import Prior
from coarsen.models.launch.model import LaunchModel
from coarsen.opencl_bench.sweep.model_prior import UNKNOWN_DEVIATION, ModelPrior, model_prior
from coarsen.opencl_bench.tuning.launch_model_prior import launch_model_prior
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.user_models import answers_by_launch_model, launch_model_folder
from coarsen.variant.variant import Variant

# The standard deviation of what another local size changes, in logarithms of the time, in the stored sweeps of
# CPUs (it is a little more on the H200; half of the others are faster, half slower).
_OF_LOCAL_SIZE = 0.37


class LaunchPrior:
    """The expected logarithm of a variant's time over that of the launch as it is, and how far off it may be.

    Of other local sizes the model expects what it expects at the launch's own; of a device that it knows nothing
    of, the same of all variants.

    Args:
        prior: the model's; None where it knows nothing of the device.
        own: the launch's local size.
    """

    def __init__(self, prior: ModelPrior | None, own: LocalSize) -> None:
        self._prior = prior
        self._own = own
        self._known: dict[Variant, float] = {}

    def __call__(self, variant: Variant) -> float:
        """Return the expected logarithm of the time, below 0 where a gain is expected."""
        if self._prior is None:
            return 0.0
        at_own = replace(variant, local_size=self._own)
        if at_own not in self._known:
            self._known[at_own] = self._prior(at_own)
        return self._known[at_own]

    def deviation(self, variant: Variant) -> float:
        """Return the standard deviation of that logarithm; 0 of the launch as it is."""
        moved = _OF_LOCAL_SIZE if variant.local_size != self._own else 0.0
        if self._prior is None:
            return math.hypot(moved, UNKNOWN_DEVIATION if variant.coarsenings else 0.0)
        return math.hypot(moved, self._prior.deviation(replace(variant, local_size=self._own)))


def launch_prior(
    benchmark: Benchmark,
    preset: str,
    device: DeviceDescription,
    own: LocalSize,
    model: DefaultModel | LaunchModel | None = None,
) -> Prior:
    """Return what a model expects of a launch's variants.

    Args:
        benchmark: the kernel.
        preset: names its sizes.
        device: where it runs.
        own: the launch's local size; empty where it is left open.
        model: if None, the launch model where there is one, else the shipped default model, which stands for it
            where it can tell nothing.
    """
    if model is None and answers_by_launch_model(device.name):
        model = launch_model(launch_model_folder())
    if isinstance(model, LaunchModel):
        known = launch_model_prior(benchmark, preset, device, own, model)
        if known is not None:
            return known
        model = None
    return LaunchPrior(model_prior(benchmark, device, model), own)
