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
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.opencl_bench.workloads.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Launch,
    LocalArgument,
    ScalarArgument,
)

MOST_DIMENSIONS = 3


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
    launch = _launch(kernel, "test")
    return tuple(
        KernelArgument(declared.name, _kind(passed))
        for declared, passed in zip(lowered.arguments, launch.arguments, strict=True)
    )


def _point(
    kernel: AdaptiveKernel, preset: str, seed: int, names: Sequence[str], values: FeatureValues
) -> InputPoint:
    launch = _launch(kernel, preset)
    passed = dict(zip(names, launch.arguments, strict=True))
    numbers: dict[str, Number] = {**_sizes("global_size", launch.global_size, 1)}
    numbers |= {name: each.value.item() for name, each in passed.items() if isinstance(each, ScalarArgument)}
    if kernel.supplied or any(name.startswith(BYTES) for name in values.inputs):
        buffers = kernel.benchmark.workload(preset, seed).buffers
        numbers |= _bytes(passed, buffers)
        numbers |= {name: measure(buffers) for name, measure in kernel.supplied.items()}
    found = values.of(numbers)
    if found is None:
        raise InternalError(f"a feature of {kernel.name} has no value at {preset}")
    return InputPoint(preset, kernel.inputs.group_of(kernel.listed[preset]), found)


def _launch(kernel: AdaptiveKernel, preset: str) -> Launch:
    """The default version's launch of the kernel that gives its name; the first, where there are several."""
    benchmark = kernel.benchmark
    launches = (
        benchmark.launches(preset, None, benchmark.own_definitions)
        if benchmark.make_launches
        else benchmark.workload(preset).launches
    )
    return next(launch for launch in launches if launch.kernel == kernel.kernel)


def _kind(passed: Argument) -> ArgumentKind:
    if isinstance(passed, BufferArgument):
        return ArgumentKind.BUFFER
    if isinstance(passed, LocalArgument):
        return ArgumentKind.LOCAL
    if isinstance(passed, ScalarArgument):
        return ArgumentKind.REAL if passed.value.dtype.kind == "f" else ArgumentKind.WHOLE
    return ArgumentKind.OTHER


def _sizes(name: str, extents: Sequence[int], missing: int) -> dict[str, int]:
    """The sizes of a launch by dimension; those of dimensions that it doesn't have are `missing`."""
    filled = (*extents, *(missing for _ in range(MOST_DIMENSIONS - len(extents))))
    return {f"{name}_{dimension}": extent for dimension, extent in enumerate(filled)}


def _bytes(passed: Mapping[str, Argument], buffers: Mapping[str, Array]) -> dict[str, int]:
    given = ((name, each) for name, each in passed.items() if isinstance(each, BufferArgument))
    return {BYTES + name: buffers[each.name].nbytes for name, each in given}
