"""The inputs of a kernel that adapts with their features, computed as those of a program's launches are.

what the default version's launch passes ──▶ the functions that a tuned file's features become ──┐
what its buffers hold ──▶ the numbers that a caller supplies ────────────────────────────────────┴▶ features
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coarsen.dispatch.choosing import FeatureValues, Number, feature_values
from coarsen.dispatch.features import BYTES, ArgumentKind, KernelArgument
from coarsen.errors import InternalError
from coarsen.frontend.lower import lower
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs.launch_numbers import buffer_bytes, launch_numbers
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.opencl_bench.workloads.benchmark import (
    Argument,
    Array,
    Benchmark,
    BufferArgument,
    Launch,
    LocalArgument,
    ScalarArgument,
)

Buffers = Mapping[str, Array]


def adaptive_points(
    kernel: AdaptiveKernel, seed: int = 0, presets: Sequence[str] | None = None
) -> tuple[InputPoint, ...]:
    """Return inputs of a kernel that adapts, in groups of the same sizes.

    Args:
        kernel: has the inputs and says what their features are.
        seed: of their contents, as they are measured.
        presets: the inputs' names; all that are listed if None.
    """
    arguments = kernel_arguments(kernel)
    values = feature_values(kernel.all_features, arguments)
    names = [argument.name for argument in arguments]
    return tuple(_point(kernel, preset, seed, names, values) for preset in presets or kernel.listed)


def kernel_arguments(kernel: AdaptiveKernel) -> tuple[KernelArgument, ...]:
    """Return the arguments of a kernel that adapts, as its source names them."""
    benchmark = kernel.benchmark
    lowered = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
    launch = _launch(kernel, benchmark, "test")
    return tuple(
        KernelArgument(declared.name, _kind(passed))
        for declared, passed in zip(lowered.arguments, launch.arguments, strict=True)
    )


def launched_numbers(
    kernel: AdaptiveKernel,
    benchmark: Benchmark,
    preset: str,
    names: Sequence[str],
    buffers: Buffers | None,
    seed: int = 0,
) -> dict[str, Number]:
    """Return the numbers that features are computed from: of what the default version's launch passes.

    Args:
        kernel: says what a caller supplies.
        benchmark: the kernel's, which has the preset.
        preset: the input's name.
        names: of the kernel's arguments.
        buffers: what a launch passes; None where nothing asks for them.
        seed: of the input's contents.
    """
    launch = _launch(kernel, benchmark, preset, seed)
    passed = dict(zip(names, launch.arguments, strict=True))
    numbers = launch_numbers(launch, passed)
    if buffers is not None:
        numbers |= buffer_bytes(passed, buffers)
        numbers |= {name: measure(buffers) for name, measure in kernel.supplied.items()}
    return numbers


def _point(
    kernel: AdaptiveKernel, preset: str, seed: int, names: Sequence[str], values: FeatureValues
) -> InputPoint:
    needs_buffers = kernel.supplied or any(name.startswith(BYTES) for name in values.inputs)
    buffers = kernel.benchmark.workload(preset, seed).buffers if needs_buffers else None
    found = values.of(launched_numbers(kernel, kernel.benchmark, preset, names, buffers, seed))
    if found is None:
        raise InternalError(f"a feature of {kernel.name} has no value at {preset}")
    return InputPoint(preset, kernel.inputs.group_of(kernel.listed[preset]), found)


def _launch(kernel: AdaptiveKernel, benchmark: Benchmark, preset: str, seed: int = 0) -> Launch:
    """The default version's launch of the kernel that gives its name; the first, where there are several."""
    launches = benchmark.real_launches(preset, None, benchmark.own_definitions, seed)
    return next(launch for launch in launches if launch.kernel == kernel.kernel)


def _kind(passed: Argument) -> ArgumentKind:
    if isinstance(passed, BufferArgument):
        return ArgumentKind.BUFFER
    if isinstance(passed, LocalArgument):
        return ArgumentKind.LOCAL
    if isinstance(passed, ScalarArgument):
        return ArgumentKind.REAL if passed.value.dtype.kind == "f" else ArgumentKind.WHOLE
    return ArgumentKind.OTHER
