"""What the shipped model expects of variants, as a prior of searches.

    curve of each dimension at a local size ──▶ sum over a variant's coarsenings ──▶ its expected log time

The model knows factors of work-items along one dimension. What it doesn't know is taken to be worth a share of
that: work-groups merged instead of work-items, and items far from each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.targets import Target, target_of_installed
from coarsen.errors import CoarsenError, DeviceError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.default import DefaultModel
from coarsen.opencl_bench.sweep.compile_service import build_options
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.prediction import default_model, predict_kernel
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Definitions, Variant

# Shares of what the model expects of a factor of neighbouring work-items.
_OF_GROUPS = 0.5
_OF_STRIDES = 0.75
# Logarithms of the speed-up at logarithms (base 2) of factors, rising, from factor 1 on.
_Curve = tuple[tuple[float, ...], tuple[float, ...]]
_NOTHING: _Curve = ((0.0,), (0.0,))


def model_prior(benchmark: Benchmark, device: DeviceDescription) -> ModelPrior | None:
    """Return what the model expects of a benchmark's variants; None on a device that is neither CPU nor GPU."""

    def lowered(definitions: Definitions) -> Kernel:
        return lower(benchmark.code, benchmark.kernel, build_options(benchmark, definitions))

    try:
        return ModelPrior(lowered, target_of_installed(device))
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

    def _log_speedup(self, variant: Variant, coarsening: Coarsening) -> float:
        key = (variant.definitions, variant.local_size, coarsening.dimension)
        if key not in self._curves:
            self._curves[key] = self._curve(*key)
        factors, gains = self._curves[key]
        expected = float(np.interp(math.log2(coarsening.factor), factors, gains))
        if coarsening.level is Level.GROUP:
            return _OF_GROUPS * expected
        return expected if coarsening.stride == 1 else _OF_STRIDES * expected

    def _curve(self, definitions: Definitions, local_size: LocalSize, dimension: int) -> _Curve:
        kernel = self._kernel(definitions)
        if kernel is None:
            return _NOTHING
        try:
            model = self._model or default_model()
            predicted = predict_kernel(kernel, model, self._target, dimension, local_size or None)
        except CoarsenError:
            return _NOTHING
        points = [(0.0, 0.0), *((math.log2(each.factor), each.log_speedup) for each in predicted.curve)]
        factors, gains = zip(*sorted(points), strict=True)
        return factors, gains

    def _kernel(self, definitions: Definitions) -> Kernel | None:
        if definitions not in self._kernels:
            try:
                self._kernels[definitions] = self._lowered(definitions)
            except CoarsenError:
                self._kernels[definitions] = None
        return self._kernels[definitions]
