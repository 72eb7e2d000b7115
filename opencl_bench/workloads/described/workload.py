"""Makes buffers and launches of a described benchmark from sizes, a local size, values of macros and a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

import numpy as np

from coarsen.dispatch.expressions import Expression
from coarsen.dispatch.loops import MOST_LAUNCHES
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    FilledDescription,
    ImageDescription,
    LaunchDescription,
    LocalDescription,
    NullDescription,
    SamplerDescription,
    ScalarDescription,
    SharedDescription,
    at,
    at_least,
    positive,
    values_of,
)
from coarsen.opencl_bench.workloads.described.values import SharedValues
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    NullArgument,
    ScalarArgument,
    ScratchArgument,
    Size,
    Workload,
    whole_numbers,
)
from coarsen.tuning.workload.driver_tools import check_whole_groups
from coarsen.variant.variant import Definitions

if TYPE_CHECKING:
    from coarsen.loops.program import NestProgram


def make_workload(
    description: Description, size: Size, local_size: LocalSize, generator: np.random.Generator
) -> Workload:
    """The workload at these sizes; buffers are filled in the order of the arguments.

    Raises:
        InvalidInputError: sizes that don't go together, with file and key.
    """
    values = values_of(description, size, local_size)
    shared = _shared(description, values, generator)
    buffers = {
        argument.name: _contents(description, index, argument, values, generator, shared)
        for index, argument in enumerate(description.arguments)
        if isinstance(argument, FilledDescription)
    }
    images = (argument for argument in description.arguments if isinstance(argument, ImageDescription))
    return Workload(
        buffers=buffers,
        launches=launches_at(description, size, local_size),
        outputs=description.outputs,
        reference=_reference(description, values, buffers),
        relative_tolerance=description.relative_tolerance or 0.0,
        absolute_tolerance=description.absolute_tolerance or 0.0,
        integer_tolerance=description.integer_tolerance,
        order_free=description.order_free,
        images={image.name: image.format for image in images},
        rounding_steps=_rounding_steps(description, values) if description.is_rounding_bounded else 0,
    )


def _reference(
    description: Description, values: Mapping[str, int], buffers: Mapping[str, Array]
) -> Callable[[], Mapping[str, Array]] | None:
    """Return what computes the outputs with the C function of the kernels; None where there is none."""
    program = description.program
    if program is None:
        return None
    numbers = _numbers_of_c(description, program, values)
    for name, needed in program.elements_at(numbers).items():
        if name in buffers and buffers[name].size < needed:
            has = f"{name} has {buffers[name].size} elements"
            raise InvalidInputError(f"{description.path}: {has}, and the C function accesses {needed}")

    def outputs() -> Mapping[str, Array]:
        copies = {name: np.ascontiguousarray(contents).copy() for name, contents in buffers.items()}
        program.native(numbers, copies)
        return {name: copies[name] for name in description.outputs}

    return outputs


# The processor makes about as many instances in a second.
_MOST_INSTANCES = 300_000_000


def has_feasible_reference(description: Description, size: Size) -> bool:
    """Return True if a C function that kernels were made of takes about a second, and where there is none."""
    program = description.program
    if program is None:
        return True
    numbers = _numbers_of_c(description, program, values_of(description, size, ()))
    return program.instances_at({name: int(numbers[name]) for name in program.nest.parameters}) <= _MOST_INSTANCES


def _numbers_of_c(description: Description, program: NestProgram, values: Mapping[str, int]) -> dict[str, float]:
    """Return the numbers that the C function is given: of arguments, else of sizes. Raises InvalidInputError."""
    scalars = {each.name: each for each in description.arguments if isinstance(each, ScalarDescription)}
    numbers: dict[str, float] = {}
    for name in program.nest.types:
        if name in scalars:
            numbers[name] = _scalar(scalars[name], values).value.item()
        elif name in values:
            numbers[name] = values[name]
        else:
            what = f"'{name}' of {program.function.name} is neither a size nor an argument"
            raise InvalidInputError(f"{description.path}: {what}: give it a value in each table of sizes")
    return numbers


def _rounding_steps(description: Description, values: Mapping[str, int]) -> int:
    """The roundings that lead to an element: by the file, else as many as the largest buffer has elements."""
    if description.roundings is not None:
        with at(description, "roundings"):
            return positive(description.roundings, values)
    filled = (each for each in description.arguments if isinstance(each, FilledDescription))
    return max(
        math.prod(extent.evaluate(values) for extent in buffer.extents)
        * (1 if buffer.type.is_opaque else buffer.type.components)
        for buffer in filled
    )


def _shape(
    description: Description, index: int, argument: FilledDescription, values: Mapping[str, int]
) -> tuple[int, ...]:
    """The number of elements or the shape of a buffer, width, height and depth of an image.

    Raises:
        InvalidInputError: one is below 1.
    """
    with at(description, f"arguments[{index}].{argument.extents_key}"):
        return tuple(positive(extent, values) for extent in argument.extents)


def check_preset(description: Description, preset: str) -> None:
    """Compute all extents and values of a preset. Raises InvalidInputError as `make_workload` does."""
    size, local_size = description.sizes[preset], description.local_size_at(preset)
    make_launches(description, size, local_size)
    values = values_of(description, size, local_size)
    if description.is_rounding_bounded:
        _rounding_steps(description, values)
    for index, argument in enumerate(description.arguments):
        if isinstance(argument, FilledDescription):
            elements = math.prod(_shape(description, index, argument, values))
            with at(description, f"arguments[{index}].values"):
                argument.values.check(values, argument.type, elements)
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
            try:
                made[contents.name] = contents.make(generator, values)
            except (MemoryError, ValueError):
                raise InvalidInputError(f"'{contents.text}' does not fit the memory") from None
    return made


def _contents(
    description: Description,
    index: int,
    buffer: FilledDescription,
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


def make_launches(description: Description, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launches at these sizes.

    Raises:
        InvalidInputError: as `make_workload` does, and where a condition of the kernel does not hold.
    """
    values = values_of(description, size, local_size)
    own = (("ndrange.conditions", description.ndrange.conditions), ("where", description.parameters.conditions))
    for key, conditions in own:
        with at(description, key):
            for condition in conditions:
                condition.check(values)
    return launches_at(description, size, local_size)


def local_size_of(expressions: Sequence[Expression], definitions: Definitions) -> LocalSize:
    """Return the local size that parameters decide, at least 1; empty where there are no expressions.

    Raises:
        InvalidInputError: an expression divides by zero.
    """
    values = whole_numbers(definitions)
    return tuple(max(expression.evaluate(values), 1) for expression in expressions)


def launches_at(description: Description, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launches at these sizes, also where a condition does not hold. Raises InvalidInputError."""
    values = values_of(description, size, local_size)
    launches = description.launches or (description.own_launch,)
    with at(description, "launches"):
        in_order = tuple(islice(_unrolled(launches, values), MOST_LAUNCHES + 1))
        if len(in_order) > MOST_LAUNCHES:
            raise InvalidInputError(f"repeat makes more than {MOST_LAUNCHES} launches")
    made = tuple(
        _launch(description, launch, inside, local_size)
        for launch, inside in in_order
        if all(condition.holds(inside) for condition in launch.conditions)
    )
    if not made:
        with at(description, "launches"):
            names = sorted(description.tunables.keys() & values.keys()) or sorted(size)
            raise InvalidInputError(f"there is none for {', '.join(f'{name} = {values[name]}' for name in names)}")
    return made


def _unrolled(
    launches: Sequence[LaunchDescription], values: Mapping[str, int], depth: int = 0
) -> Iterator[tuple[LaunchDescription, Mapping[str, int]]]:
    """Yield launches as often and in the order that their loops say, with the values of all names.

    Neighbours that begin with the same loop take turns in it; `depth` loops around the launches are run already.
    """
    for text, group in groupby(launches, lambda one: one.loops[depth].text if depth < len(one.loops) else ""):
        inside = tuple(group)
        if not text:
            yield from ((launch, values) for launch in inside)
            continue
        loop = inside[0].loops[depth]
        for value in loop.values(values):
            yield from _unrolled(inside, {**values, loop.name: value}, depth + 1)


def _launch(
    description: Description, launch: LaunchDescription, values: Mapping[str, int], local_size: LocalSize
) -> Launch:
    key = f"launches[{description.launches.index(launch)}]" if description.launches else "ndrange"
    with at(description, f"{key}.local_size"):
        own = local_size if launch.local_size is None else tuple(positive(e, values) for e in launch.local_size)
    with at(description, f"{key}.global_size"):
        global_size = tuple(positive(extent, values) for extent in launch.global_size)
        check_whole_groups(global_size, own)
    places = {argument.name: place for place, argument in enumerate(description.arguments)}
    arguments = tuple(
        _argument(description, places[name], description.arguments[places[name]], values)
        for name in launch.arguments
    )
    with at(description, "ndrange.global_offset"):
        offsets = () if description.launches else description.ndrange.global_offset
        offset = tuple(at_least(entry, values, 0) for entry in offsets)
    return Launch(launch.kernel, global_size, own, arguments, offset, launch.is_alike(values))


def _argument(
    description: Description, index: int, argument: ArgumentDescription, values: Mapping[str, int]
) -> Argument:
    if isinstance(argument, FilledDescription):
        if not isinstance(argument, BufferDescription) or not argument.is_scratch:
            return BufferArgument(argument.name)
        with at(description, f"arguments[{index}].elements"):
            return ScratchArgument(argument.name, positive(argument.elements, values) * argument.type.byte_count)
    if isinstance(argument, SamplerDescription):
        return argument.sampler
    if isinstance(argument, SharedDescription):
        return BufferArgument(argument.same_as)
    if isinstance(argument, NullDescription):
        return NullArgument()
    if isinstance(argument, LocalDescription):
        with at(description, f"arguments[{index}].{argument.count_key}"):
            return LocalArgument(
                positive(argument.count, values) * (1 if argument.in_bytes else argument.type.byte_count)
            )
    with at(description, f"arguments[{index}].value"):
        return _scalar(argument, values)


def _scalar(argument: ScalarDescription, values: Mapping[str, int]) -> ScalarArgument:
    numbers = [entry if isinstance(entry, int | float) else entry.evaluate(values) for entry in argument.value]
    for number in numbers:
        if not argument.type.can_hold(number):
            raise InvalidInputError(f"{number} is nothing that {argument.type.name} holds")
    return ScalarArgument(argument.type.value(numbers))
