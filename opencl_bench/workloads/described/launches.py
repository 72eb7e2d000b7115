"""Launches of a described benchmark at some sizes, a local size and values of its macros."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice

from coarsen.dispatch.expressions import Expression
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    Argument,
    BufferArgument,
    Definitions,
    Launch,
    LocalArgument,
    LocalSize,
    NullArgument,
    ScalarArgument,
    Size,
    whole_numbers,
)
from coarsen.opencl_bench.workloads.described.description import (
    ArgumentDescription,
    BufferDescription,
    Description,
    LaunchDescription,
    LocalDescription,
    NullDescription,
    ScalarDescription,
    SharedDescription,
)
from coarsen.opencl_bench.workloads.described.evaluation import at, at_least, positive, values_of
from coarsen.opencl_bench.workloads.described.image_arguments import ImageDescription, SamplerDescription
from coarsen.opencl_bench.workloads.described.loops import MOST_LAUNCHES
from coarsen.opencl_bench.workloads.described.recorded_inputs import at_input


def make_launches(description: Description, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launches at these sizes.

    Raises:
        InvalidInputError: as `make_workload` does, and where a condition of the kernel does not hold.
    """
    description = at_input(description, size)
    values = values_of(description, size, local_size)
    own = (("ndrange.conditions", description.conditions), ("where", description.parameters.conditions))
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
    description = at_input(description, size)
    if not description.launches:
        return (own_launch(description, size, local_size),)
    values = values_of(description, size, local_size)
    with at(description, "launches"):
        in_order = tuple(islice(_unrolled(description.launches, values), MOST_LAUNCHES + 1))
        if len(in_order) > MOST_LAUNCHES:
            raise InvalidInputError(f"repeat makes more than {MOST_LAUNCHES} launches")
    made = tuple(
        _launch(description, launch, inside, local_size)
        for launch, inside in in_order
        if all(condition.holds(inside) for condition in launch.conditions)
    )
    if not made:
        with at(description, "launches"):
            macros = ", ".join(
                f"{name} = {values[name]}" for name in sorted(description.tunables) if name in values
            )
            raise InvalidInputError(f"there is none for {macros}")
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
    """One launch of several."""
    key = f"launches[{description.launches.index(launch)}]"
    with at(description, f"{key}.local_size"):
        own = local_size if launch.local_size is None else tuple(positive(e, values) for e in launch.local_size)
    with at(description, f"{key}.global_size"):
        global_size = _whole_groups(tuple(positive(extent, values) for extent in launch.global_size), own)
    places = {argument.name: place for place, argument in enumerate(description.arguments)}
    arguments = tuple(
        _argument(description, places[name], description.arguments[places[name]], values)
        for name in launch.arguments
    )
    return Launch(launch.kernel, global_size, own, arguments)


def own_launch(description: Description, size: Size, local_size: LocalSize) -> Launch:
    """Return the launch that `ndrange` describes, whatever `launches` says. Raises InvalidInputError."""
    values = values_of(description, size, local_size)
    with at(description, "ndrange.global_size"):
        extents = tuple(positive(extent, values) for extent in description.global_size)
        global_size = _whole_groups(extents, local_size)
    arguments = tuple(
        _argument(description, index, argument, values) for index, argument in enumerate(description.arguments)
    )
    with at(description, "ndrange.global_offset"):
        offset = tuple(at_least(entry, values, 0) for entry in description.global_offset)
    return Launch(description.kernel, global_size, local_size, arguments, offset)


def _whole_groups(global_size: tuple[int, ...], local_size: LocalSize) -> tuple[int, ...]:
    """A global size that its local size divides; this may be left open. Raises InvalidInputError."""
    for dimension, (total, group) in enumerate(zip(global_size, local_size, strict=bool(local_size))):
        if total % group:
            raise InvalidInputError(
                f"the local size {group} does not divide the global size {total} along dimension {dimension}"
            )
    return global_size


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
        with at(description, f"arguments[{index}].{'bytes' if argument.in_bytes else 'elements'}"):
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
