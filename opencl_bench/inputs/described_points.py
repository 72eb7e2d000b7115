"""The inputs of a described kernel with their features, computed as those of a program's launches are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coarsen.dispatch.choosing import FeatureValues, Number, feature_values
from coarsen.dispatch.features import BYTES
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.workloads.benchmark import (
    Argument,
    Array,
    Benchmark,
    BufferArgument,
    Launch,
    ScalarArgument,
)
from coarsen.opencl_bench.workloads.described.description import Description
from coarsen.opencl_bench.workloads.described.launch_features import kernel_arguments


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
    numbers: dict[str, Number] = dict(_sizes(launch))
    numbers |= {
        name: _number(given) for name, given in zip(names, launch.arguments, strict=True) if _is_number(given)
    }
    supplied = [each for each in description.features if each.feature.is_supplied]
    if supplied or any(name.startswith(BYTES) for name in values.inputs):
        buffers = benchmark.workload(preset, seed, None, benchmark.own_definitions).buffers
        numbers |= _bytes(names, launch.arguments, buffers)
        numbers |= {each.feature.name: float(each.supplied(buffers)) for each in supplied}
    found = values.of(numbers)
    if found is None:
        raise InvalidInputError(
            f"{description.path}: features: one of them has no value at {preset}: {dict(size)}"
        )
    group = description.inputs.group_of(size) if description.inputs is not None else preset
    return InputPoint(preset, group, found)


def _launch(description: Description, benchmark: Benchmark, preset: str) -> Launch:
    """Return the first launch of the kernel that features are of; others may come before it."""
    launches = benchmark.launches(preset, None, benchmark.own_definitions)
    found = next((launch for launch in launches if launch.kernel == description.kernel), None)
    if found is None:
        raise InvalidInputError(
            f"{description.path}: features: the default version never launches {description.kernel}, their kernel"
        )
    return found


def _sizes(launch: Launch) -> dict[str, int]:
    """The names of a launch's sizes, as features know them."""
    sizes = {
        "global_size": (1, launch.global_size),
        "local_size": (0 if not launch.local_size else 1, launch.local_size),
    }
    return {
        f"{name}_{dimension}": extents[dimension] if dimension < len(extents) else other
        for name, (other, extents) in sizes.items()
        for dimension in range(3)
    }


def _is_number(argument: Argument) -> bool:
    return isinstance(argument, ScalarArgument) and argument.value.dtype.fields is None


def _number(argument: Argument) -> Number:
    assert isinstance(argument, ScalarArgument)
    number: Number = argument.value.item()
    return number


def _bytes(names: Sequence[str], given: Sequence[Argument], buffers: Mapping[str, Array]) -> dict[str, int]:
    """The sizes of the launch's buffers in bytes."""
    pairs = zip(names, given, strict=True)
    return {BYTES + name: buffers[each.name].nbytes for name, each in pairs if isinstance(each, BufferArgument)}
