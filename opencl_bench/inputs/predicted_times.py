"""Times of versions on inputs by an analytic model: no device is asked, and nothing is run.

version ─▶ its code, coarsened ─▶ work as functions of sizes ┐
input ─▶ the version's launches: sizes and scalars ──────────┴▶ seconds of each launch, added up, gaps between
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.cost.work_counts import LaunchSizes, WorkCounts, padded
from coarsen.cost.work_functions import WorkFunctions, work_functions
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.models.analytic.cpu import cpu
from coarsen.models.analytic.estimate import Estimate
from coarsen.models.analytic.gpu import gpu
from coarsen.models.analytic.machine import DeviceProfile
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.measure.machine import UndividedError
from coarsen.opencl_bench.measure.variant_launch import variant_launch
from coarsen.opencl_bench.sweep.compile_service import build_options
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions, Launch, LocalSize, ScalarArgument
from coarsen.pipeline import carry_out
from coarsen.variant.variant import Variant

NOT_PREDICTED = "not predicted"


@dataclass(frozen=True, slots=True)
class PredictedTimes:
    """What a model says of versions on inputs.

    Attributes:
        seconds: (n, m); NaN where it says nothing.
        bounds: what bounds the longest launch of each, (n, m).
    """

    seconds: Array
    bounds: tuple[tuple[str, ...], ...]


def predicted_times(
    benchmark: Benchmark, presets: Sequence[str], versions: Sequence[Variant], machine: DeviceProfile
) -> PredictedTimes:
    """Return the times that an analytic model predicts.

    Args:
        benchmark: what is launched.
        presets: the inputs.
        versions: whatever can't be launched or isn't understood has no time.
        machine: the device in numbers.

    Raises:
        InvalidInputError: the profile has no rate or bandwidth.
    """
    works = _Works(benchmark)
    model = gpu if machine.is_gpu else cpu
    found = [
        [
            _of_launches([model(*each, machine) for each in works.of(preset, version)], machine)
            for version in versions
        ]
        for preset in presets
    ]
    return PredictedTimes(
        np.array([[seconds for seconds, _ in row] for row in found]),
        tuple(tuple(bound for _, bound in row) for row in found),
    )


def _of_launches(estimates: Sequence[Estimate], machine: DeviceProfile) -> tuple[float, str]:
    if not estimates:
        return float("nan"), NOT_PREDICTED
    gap = machine.launch.gap.value if machine.launch.gap else 0.0
    longest = max(estimates, key=lambda each: each.seconds)
    return sum(each.seconds for each in estimates) + gap * (len(estimates) - 1), longest.bound


class _Works:
    """The work of launches: each code is counted once, and the launches of one local size are made once."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._functions: dict[tuple[str, Variant], WorkFunctions] = {}
        self._launches: dict[tuple[str, LocalSize, Definitions], tuple[Launch, ...]] = {}
        self._units: dict[Definitions, TranslationUnit] = {}
        self._kernels: dict[tuple[str, Definitions], Kernel] = {}

    def of(self, preset: str, version: Variant) -> list[tuple[WorkCounts, LaunchSizes]]:
        """Return the work and the sizes of each launch of a version; none where one can't be told."""
        try:
            return [self._of_launch(launch, version) for launch in self._originals(preset, version)]
        except (InvalidInputError, UndividedError, RefusalError):
            return []

    def _originals(self, preset: str, version: Variant) -> tuple[Launch, ...]:
        """The launches before anything is merged, at the version's local size and with its macros."""
        key = preset, version.local_size, version.definitions
        if key not in self._launches:
            self._launches[key] = self._benchmark.real_launches(*key)
        return self._launches[key]

    def _of_launch(self, launch: Launch, version: Variant) -> tuple[WorkCounts, LaunchSizes]:
        is_other = launch.kernel in self._benchmark.other_kernels
        functions = self._work(launch.kernel, (version.uncoarsened() if is_other else version).code_variant())
        sized = launch if is_other else variant_launch(launch, version, ())
        names = (argument.name for argument in self._lowered(launch.kernel, version.definitions).arguments)
        values = {
            name: int(argument.value)
            for name, argument in zip(names, launch.arguments, strict=True)
            if isinstance(argument, ScalarArgument) and argument.value.dtype.kind in "iu"
        }
        sizes = LaunchSizes(padded(sized.global_size), padded(sized.local_size))
        return functions.at(sizes, values), sizes

    def _work(self, kernel: str, code: Variant) -> WorkFunctions:
        """The work of a kernel whose local size is left out. Raises RefusalError."""
        key = kernel, code
        if key not in self._functions:
            lowered = self._lowered(kernel, code.definitions)
            self._functions[key] = work_functions(carry_out(lowered, code).kernel)
        return self._functions[key]

    def _lowered(self, kernel: str, definitions: Definitions) -> Kernel:
        key = kernel, definitions
        if definitions not in self._units:
            options = build_options(self._benchmark, definitions)
            self._units[definitions] = compile_source(self._benchmark.code, options)
        if key not in self._kernels:
            self._kernels[key] = lower(self._units[definitions], kernel)
        return self._kernels[key]
