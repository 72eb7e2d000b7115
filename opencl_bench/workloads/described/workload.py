"""Makes buffers and the launch of a described benchmark from its sizes, a local size and a seed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    LocalSize,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.described.description import (
    BufferDescription,
    Description,
)
from coarsen.opencl_bench.workloads.described.evaluation import at, positive, values_of
from coarsen.opencl_bench.workloads.described.image_arguments import ImageDescription
from coarsen.opencl_bench.workloads.described.launches import launches_at, make_launches
from coarsen.opencl_bench.workloads.described.recorded_inputs import at_input
from coarsen.opencl_bench.workloads.described.values import SharedValues


def make_workload(
    description: Description, size: Size, local_size: LocalSize, generator: np.random.Generator
) -> Workload:
    """The workload at these sizes; buffers are filled in the order of the arguments.

    Raises:
        InvalidInputError: sizes that don't go together, with file and key.
    """
    description = at_input(description, size)
    values = values_of(description, size, local_size)
    shared = _shared(description, values, generator)
    buffers = {
        argument.name: _contents(description, index, argument, values, generator, shared)
        for index, argument in enumerate(description.arguments)
        if isinstance(argument, BufferDescription | ImageDescription)
    }
    images = (argument for argument in description.arguments if isinstance(argument, ImageDescription))
    return Workload(
        buffers=buffers,
        launches=launches_at(description, size, local_size),
        outputs=description.outputs,
        reference=None,
        relative_tolerance=description.relative_tolerance or 0.0,
        absolute_tolerance=description.absolute_tolerance or 0.0,
        integer_tolerance=description.integer_tolerance,
        order_free=description.order_free,
        images={image.name: image.format for image in images},
        rounding_steps=_rounding_steps(description, values) if description.is_rounding_bounded else 0,
    )


def _rounding_steps(description: Description, values: Mapping[str, int]) -> int:
    """The roundings that lead to an element: by the file, else as many as the largest buffer has elements."""
    if description.roundings is not None:
        with at(description, "roundings"):
            return positive(description.roundings, values)
    filled = (each for each in description.arguments if isinstance(each, BufferDescription | ImageDescription))
    return max(
        math.prod(extent.evaluate(values) for extent in buffer.extents)
        * (1 if buffer.type.is_opaque else buffer.type.components)
        for buffer in filled
    )


def _shape(
    description: Description,
    index: int,
    argument: BufferDescription | ImageDescription,
    values: Mapping[str, int],
) -> tuple[int, ...]:
    """The number of elements or the shape of a buffer, width, height and depth of an image.

    Raises:
        InvalidInputError: one is below 1.
    """
    key = "extent"
    if isinstance(argument, BufferDescription):
        key = "shape" if argument.shape else "elements"
    with at(description, f"arguments[{index}].{key}"):
        return tuple(positive(extent, values) for extent in argument.extents)


def check_preset(description: Description, preset: str) -> None:
    """Compute all extents and values of a preset. Raises InvalidInputError as `make_workload` does."""
    size, local_size = description.sizes[preset], description.local_size_at(preset)
    description = at_input(description, size)
    make_launches(description, size, local_size)
    values = values_of(description, size, local_size)
    if description.is_rounding_bounded:
        _rounding_steps(description, values)
    for index, argument in enumerate(description.arguments):
        if isinstance(argument, BufferDescription | ImageDescription):
            elements = math.prod(_shape(description, index, argument, values))
            with at(description, f"arguments[{index}].values"):
                argument.values.numbers(values, argument.type)
                argument.values.check_count(argument.type, elements)
    _check_order_free(description, values)


def _check_order_free(description: Description, values: Mapping[str, int]) -> None:
    elements = {
        argument.name: argument.elements.evaluate(values)
        for argument in description.arguments
        if isinstance(argument, BufferDescription)
    }
    for names in description.order_free:
        if len({elements[name] for name in names}) > 1:
            counts = ", ".join(f"{name} has {elements[name]}" for name in names)
            with at(description, "order_free"):
                raise InvalidInputError(f"outputs of one group must have as many elements: {counts}")


def _shared(
    description: Description, values: Mapping[str, int], generator: np.random.Generator
) -> dict[str, dict[str, Array]]:
    """The contents that several buffers share, by their names."""
    made = {}
    for contents in description.contents:
        with at(description, f"contents.{contents.name}"):
            made[contents.name] = contents.make(generator, values)
    return made


def _contents(
    description: Description,
    index: int,
    buffer: BufferDescription | ImageDescription,
    values: Mapping[str, int],
    generator: np.random.Generator,
    shared: Mapping[str, Mapping[str, Array]],
) -> Array:
    extents = _shape(description, index, buffer, values)
    elements = math.prod(extents)
    with at(description, f"arguments[{index}].values"):
        if isinstance(buffer.values, SharedValues):
            return buffer.values.part(shared, buffer.type, elements)
        try:
            filled = buffer.values.fill(generator, buffer.type, elements, values)
            if isinstance(buffer, ImageDescription):
                return filled.reshape(buffer.format.shape(extents))
            return filled.reshape(*extents, *filled.shape[1:])
        except (MemoryError, ValueError):
            raise InvalidInputError(f"{elements} elements of {buffer.type.name} do not fit the memory") from None
