"""The inputs of a described kernel with their features, computed as those of a program's launches are."""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.dispatch.choosing import FeatureValues, feature_values
from coarsen.dispatch.features import BYTES
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs.launch_numbers import buffer_bytes, launch_numbers
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Launch
from coarsen.opencl_bench.workloads.described.description import Description
from coarsen.opencl_bench.workloads.described.launch_features import kernel_arguments
from coarsen.opencl_bench.workloads.described.launch_list import LAUNCH


def described_points(
    description: Description, benchmark: Benchmark, presets: Sequence[str], seed: int = 0
) -> tuple[InputPoint, ...]:
    """Return some inputs of a described kernel.

    Args:
        description: has the features, and says which inputs have the same sizes.
        benchmark: that of the description.
        presets: the inputs' names.
        seed: of their contents.

    Raises:
        InvalidInputError: no features, or one that has no value at an input, or that nothing here computes.
    """
    if not description.features:
        raise InvalidInputError(
            f'{description.path}: features: none are there to choose by; add [features] with NAME = "EXPRESSION" '
            "of the kernel's arguments"
        )
    arguments = tuple(kernel_arguments(description.arguments_of(description.kernel)))
    values = feature_values([each.feature for each in description.features], arguments)
    return tuple(_point(description, benchmark, preset, seed, values) for preset in presets)


def _point(
    description: Description, benchmark: Benchmark, preset: str, seed: int, values: FeatureValues
) -> InputPoint:
    size = benchmark.preset(preset).size
    launch = _launch(description, benchmark, preset)
    names = [argument.name for argument in description.arguments_of(description.kernel)]
    passed = dict(zip(names, launch.arguments, strict=True))
    numbers = launch_numbers(launch, passed)
    supplied = [each for each in description.features if each.feature.is_supplied]
    if supplied or any(name.startswith(BYTES) for name in values.inputs):
        buffers = benchmark.workload(preset, seed, None, benchmark.own_definitions).buffers
        numbers |= buffer_bytes(passed, buffers)
        numbers |= {each.feature.name: float(each.supplied(buffers)) for each in supplied}
    found = values.of(numbers)
    if found is None:
        raise InvalidInputError(
            f"{description.path}: features: one of them has no value at {preset}: {dict(size)}"
        )
    return InputPoint(preset, _group(description, preset), found)


def _group(description: Description, preset: str) -> str:
    """Return what the inputs with the same sizes have in common; an input of its own where nothing says it."""
    size = description.sizes[preset]
    recorded = description.recorded.get(size.get(LAUNCH, -1))
    if recorded is not None:
        return recorded.group
    return description.inputs.group_of(size) if description.inputs is not None else preset


def _launch(description: Description, benchmark: Benchmark, preset: str) -> Launch:
    """Return the first launch of the kernel that features are of; others may come before it."""
    launches = benchmark.launches(preset, None, benchmark.own_definitions)
    found = next((launch for launch in launches if launch.kernel == description.kernel), None)
    if found is None:
        raise InvalidInputError(
            f"{description.path}: features: the default version never launches {description.kernel}, their kernel"
        )
    return found
