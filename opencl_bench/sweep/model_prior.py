"""Expectations of variants by the shipped model, as a prior of searches.

    curve of each dimension at a local size ──▶ sum over a variant's coarsenings ──▶ its expected log time
    its 80 % intervals                      ──▶ sum of squares               ──▶ how far off that may be

The model knows factors of work-items along one dimension. What it doesn't know is taken to be worth a share of
that, and less certain: work-groups merged instead of work-items, and items far from each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.targets import Target, target_of_installed
from coarsen.errors import CoarsenError, DeviceError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.default.model import DefaultModel
from coarsen.opencl_bench.sweep.compile_service import build_options
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.prediction import default_model, predict_kernel
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Definitions, Variant

# Shares of what the model expects of a factor of neighbouring work-items.
_OF_GROUPS = 0.5
_OF_STRIDES = 0.75
# The standard deviation of what lies beyond that share, in logarithms of the time, in the stored sweeps of CPUs.
_BEYOND_OF_GROUPS = 0.35
_BEYOND_OF_STRIDES = 0.25
# That of a coarsening of which nothing is known: twice as fast is within two of them.
UNKNOWN_DEVIATION = 0.35
# Half of an 80 % interval of a normal distribution, in standard deviations.
HALF_OF_80_PERCENT = 1.2816


@dataclass(frozen=True, slots=True)
class _Curve:
    """By the logarithm (base 2) of the factor, rising from factor 1: that of the speed-up, and its deviation."""

    factors: tuple[float, ...]
    gains: tuple[float, ...]
    deviations: tuple[float, ...]


_NOTHING = _Curve((0.0, 1.0), (0.0, 0.0), (0.0, UNKNOWN_DEVIATION))


def model_prior(
    benchmark: Benchmark, device: DeviceDescription, model: DefaultModel | None = None
) -> ModelPrior | None:
    """Return what the model expects of a benchmark's variants; None on a device that is neither CPU nor GPU.

    Args:
        benchmark: the kernel.
        device: where it runs.
        model: the shipped default model if None.
    """

    def lowered(definitions: Definitions) -> Kernel:
        return lower(benchmark.code, benchmark.kernel, build_options(benchmark, definitions))

    try:
        return ModelPrior(lowered, target_of_installed(device), model)
    except DeviceError:
        return None


class ModelPrior:
    """The expected logarithm of a variant's time over that of its launch uncoarsened; 0 where nothing is known.

    Args:
        lowered: gives the kernel with some macro values; a CoarsenError of it means that nothing is known.
        target: the device.
        model: the shipped default model if None.
    """

    def __init__(
        self, lowered: Callable[[Definitions], Kernel], target: Target, model: DefaultModel | None = None
    ) -> None:
        self._lowered = lowered
        self._target = target
        self._model = model
        self._kernels: dict[Definitions, Kernel | None] = {}
        self._curves: dict[tuple[Definitions, LocalSize, int], _Curve] = {}

    def __call__(self, variant: Variant) -> float:
        """Return the expected logarithm of the time, below 0 where a gain is expected."""
        return -sum(self._log_speedup(variant, coarsening) for coarsening in variant.coarsenings)

    def deviation(self, variant: Variant) -> float:
        """Return that logarithm's standard deviation, by the model's intervals; 0 of an uncoarsened launch."""
        return math.hypot(*(self._deviation(variant, coarsening) for coarsening in variant.coarsenings))

    def _log_speedup(self, variant: Variant, coarsening: Coarsening) -> float:
        curve = self._curve_of(variant, coarsening)
        return _share(coarsening) * float(np.interp(math.log2(coarsening.factor), curve.factors, curve.gains))

    def _deviation(self, variant: Variant, coarsening: Coarsening) -> float:
        curve = self._curve_of(variant, coarsening)
        known = float(np.interp(math.log2(coarsening.factor), curve.factors, curve.deviations))
        return math.hypot(known, _beyond_share(coarsening))

    def _curve_of(self, variant: Variant, coarsening: Coarsening) -> _Curve:
        key = (variant.definitions, variant.local_size, coarsening.dimension)
        if key not in self._curves:
            self._curves[key] = self._curve(*key)
        return self._curves[key]

    def _curve(self, definitions: Definitions, local_size: LocalSize, dimension: int) -> _Curve:
        kernel = self._kernel(definitions)
        if kernel is None:
            return _NOTHING
        try:
            model = self._model or default_model()
            predicted = predict_kernel(kernel, model, self._target, dimension, local_size or None)
        except CoarsenError:
            return _NOTHING
        points = sorted(
            (math.log2(each.factor), each.log_speedup, (each.high - each.low) / 2 / HALF_OF_80_PERCENT)
            for each in predicted.curve
        )
        factors, gains, deviations = zip((0.0, 0.0, 0.0), *points, strict=True)
        return _Curve(factors, gains, deviations)

    def _kernel(self, definitions: Definitions) -> Kernel | None:
        if definitions not in self._kernels:
            try:
                self._kernels[definitions] = self._lowered(definitions)
            except CoarsenError:
                self._kernels[definitions] = None
        return self._kernels[definitions]


def _share(coarsening: Coarsening) -> float:
    """The share of what the model expects of neighbouring work-items that a coarsening is taken to be worth."""
    if coarsening.level is Level.GROUP:
        return _OF_GROUPS
    return 1.0 if coarsening.stride == 1 else _OF_STRIDES


def _beyond_share(coarsening: Coarsening) -> float:
    if coarsening.level is Level.GROUP:
        return _BEYOND_OF_GROUPS
    return 0.0 if coarsening.stride == 1 else _BEYOND_OF_STRIDES
