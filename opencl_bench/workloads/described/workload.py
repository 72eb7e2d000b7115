"""Makes buffers and the launch of a described benchmark from its sizes, a local size and a seed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from coarsen.dispatch.expressions import Expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    NullArgument,
    ScalarArgument,
    Size,
    Workload,
    whole_numbers,
)
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LocalDescription,
    NullDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.image_arguments import ImageDescription, SamplerDescription


def make_workload(
    description: Description, size: Size, local_size: LocalSize, generator: np.random.Generator
) -> Workload:
    """The workload at these sizes; buffers are filled in the order of the arguments.

    Raises:
        InvalidInputError: sizes that don't go together, with file and key.
    """
    values = _values(description, size, local_size)
    buffers = {
        argument.name: _contents(description, index, argument, values, generator)
        for index, argument in enumerate(description.arguments)
        if isinstance(argument, BufferDescription | ImageDescription)
    }
    images = (argument for argument in description.arguments if isinstance(argument, ImageDescription))
    return Workload(
        buffers=buffers,
        launches=_launches(description, size, local_size),
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
        with _at(description, "roundings"):
            return _positive(description.roundings, values)
    filled = (each for each in description.arguments if isinstance(each, BufferDescription | ImageDescription))
    return max(
        math.prod(extent.evaluate(values) for extent in _extents(buffer))
        * (1 if buffer.type.is_opaque else buffer.type.components)
        for buffer in filled
    )


def _extents(argument: BufferDescription | ImageDescription) -> tuple[Expression, ...]:
    return (argument.elements,) if isinstance(argument, BufferDescription) else argument.extents


def _shape(
    description: Description,
    index: int,
    argument: BufferDescription | ImageDescription,
    values: Mapping[str, int],
) -> tuple[int, ...]:
    """The number of elements of a buffer, the width, height and depth of an image. Raises InvalidInputError."""
    key = "elements" if isinstance(argument, BufferDescription) else "extent"
    with _at(description, f"arguments[{index}].{key}"):
        return tuple(_positive(extent, values) for extent in _extents(argument))


def make_launches(description: Description, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launch at these sizes.

    Raises:
        InvalidInputError: as `make_workload` does, and where a condition of the kernel does not hold.
    """
    values = _values(description, size, local_size)
    with _at(description, "ndrange.conditions"):
        for condition in description.conditions:
            condition.check(values)
    return _launches(description, size, local_size)


def _launches(description: Description, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    values = _values(description, size, local_size)
    with _at(description, "ndrange.global_size"):
        global_size = tuple(_positive(extent, values) for extent in description.global_size)
        # None of these where the local size is left open.
        for dimension, (total, group) in enumerate(zip(global_size, local_size, strict=bool(local_size))):
            if total % group:
                raise InvalidInputError(
                    f"the local size {group} does not divide the global size {total} along dimension {dimension}"
                )
    arguments = tuple(
        _argument(description, index, argument, values) for index, argument in enumerate(description.arguments)
    )
    with _at(description, "ndrange.global_offset"):
        offset = tuple(_checked(entry, values, 0) for entry in description.global_offset)
    return (Launch(description.kernel, global_size, local_size, arguments, offset),)


def check_preset(description: Description, preset: str) -> None:
    """Compute all extents and values of a preset. Raises InvalidInputError as `make_workload` does."""
    size = description.sizes[preset]
    make_launches(description, size, description.local_size)
    values = _values(description, size, description.local_size)
    if description.is_rounding_bounded:
        _rounding_steps(description, values)
    for index, argument in enumerate(description.arguments):
        if isinstance(argument, BufferDescription | ImageDescription):
            elements = math.prod(_shape(description, index, argument, values))
            with _at(description, f"arguments[{index}].values"):
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
            with _at(description, "order_free"):
                raise InvalidInputError(f"outputs of one group must have as many elements: {counts}")


def _values(description: Description, size: Size, local_size: LocalSize) -> Mapping[str, int]:
    """Return the values of the names in expressions; macros have their first value unless another is given."""
    extents = {f"local_size_{dimension}": extent for dimension, extent in enumerate(local_size)}
    return {**whole_numbers(description.defaults), **size, **extents}


def _contents(
    description: Description,
    index: int,
    buffer: BufferDescription | ImageDescription,
    values: Mapping[str, int],
    generator: np.random.Generator,
) -> Array:
    extents = _shape(description, index, buffer, values)
    elements = math.prod(extents)
    with _at(description, f"arguments[{index}].values"):
        try:
            filled = buffer.values.fill(generator, buffer.type, elements, values)
            return filled.reshape(buffer.format.shape(extents)) if isinstance(buffer, ImageDescription) else filled
        except (MemoryError, ValueError):
            raise InvalidInputError(f"{elements} elements of {buffer.type.name} do not fit the memory") from None


def _argument(
    description: Description, index: int, argument: ArgumentDescription, values: Mapping[str, int]
) -> Argument:
    if isinstance(argument, BufferDescription | ImageDescription):
        return BufferArgument(argument.name)
    if isinstance(argument, SamplerDescription):
        return argument.sampler
    if isinstance(argument, SharedDescription):
        return BufferArgument(argument.same_as)
    if isinstance(argument, NullDescription):
        return NullArgument()
    if isinstance(argument, LocalDescription):
        with _at(description, f"arguments[{index}].{'bytes' if argument.in_bytes else 'elements'}"):
            return LocalArgument(
                _positive(argument.count, values) * (1 if argument.in_bytes else argument.type.byte_count)
            )
    with _at(description, f"arguments[{index}].value"):
        return _scalar(argument, values)


def _scalar(argument: ScalarDescription, values: Mapping[str, int]) -> ScalarArgument:
    numbers = [entry.evaluate(values) if isinstance(entry, Expression) else entry for entry in argument.value]
    for number in numbers:
        if not argument.type.can_hold(number):
            raise InvalidInputError(f"{number} is nothing that {argument.type.name} holds")
    return ScalarArgument(argument.type.value(numbers))


def _positive(expression: Expression, values: Mapping[str, int]) -> int:
    return _checked(expression, values, 1)


def _checked(expression: Expression, values: Mapping[str, int], least: int) -> int:
    value = expression.evaluate(values)
    if value < least:
        raise InvalidInputError(
            f"'{expression.text}' must be at least {least}; it is {value} for {_shown(expression, values)}"
        )
    return value


def _shown(expression: Expression, values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {values[name]}" for name in sorted(expression.names)) or "every preset"


@contextmanager
def _at(description: Description, key: str) -> Iterator[None]:
    """Put file and key before the message of a mistake."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError(f"{description.path}: {key}: {error}") from None
