"""The sizes of a version's launches, computed from what the caller passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from coarsen.dispatch.choosing import numbers_function
from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.dispatch.features import SIZE_NAMES, ArgumentKind, KernelArgument, input_kinds
from coarsen.dispatch.loops import MOST_LAUNCHES, Loop
from coarsen.dispatch.steps import Kind, Steps, whole_steps_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion, number_argument
from coarsen.variant.variant import PassedArgument, Source

Sizes = tuple[int, ...]
_NO_MEMORY: Mapping[int, int] = MappingProxyType({})
# The numbers that a launch may pass, by the type's name.
NUMBER_RANGES: Mapping[str, range] = MappingProxyType(
    {"int": range(-(2**31), 2**31), "uint": range(2**32), "long": range(-(2**63), 2**63), "ulong": range(2**63)}
)


class VersionSizes(NamedTuple):
    """The sizes and memory that one launch has.

    `global_size` is that before anything is merged, in work-items, None where it is the caller's; `local_size` is
    None where it is left to the driver, or is the caller's; `local_memory` is bytes by the index of the caller's
    argument.
    """

    global_size: Sizes | None
    local_size: Sizes | None
    local_memory: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class LaunchFormulas:
    """What the sizes of one launch are computed by.

    Args:
        global_size: one to three formulas.
        local_size: as many, or none.
        local_memory: of the bytes of arguments that are local memory.
        memory_places: the indices of these among the caller's arguments.
        numbers: that the launch passes besides arguments and scratch.
    """

    global_size: tuple[Steps, ...]
    local_size: tuple[Steps, ...]
    local_memory: tuple[Steps, ...]
    memory_places: tuple[int, ...]
    numbers: tuple[Steps, ...]

    @property
    def sizes(self) -> tuple[Steps, ...]:
        """Return the formulas whose values must be positive, as `sizes_of` takes their values."""
        return (*self.global_size, *self.local_size, *self.local_memory)

    def sizes_of(self, values: Sequence[int]) -> VersionSizes:
        """Return the sizes that the values of `sizes` are."""
        dimensions, locals_end = len(self.global_size), len(self.global_size) + len(self.local_size)
        local = tuple(values[dimensions:locals_end]) if self.local_size else None
        memory = _NO_MEMORY
        if self.memory_places:
            memory = dict(zip(self.memory_places, values[locals_end:], strict=True))
        return VersionSizes(tuple(values[:dimensions]), local, memory)


def size_inputs(file: TunedFile) -> tuple[str, ...]:
    """Return the names of the whole numbers of a launch that sizes of any version are computed from, in order."""
    needed = {name for version in file.versions for entry in version.expressions() for name in entry.names}
    return tuple(name for name in input_kinds(file.arguments) if name in needed and name not in SIZE_NAMES)


def launch_formulas(
    version: TunedVersion, launch: TunedLaunch, arguments: Sequence[KernelArgument]
) -> LaunchFormulas:
    """Return what the sizes of a launch are computed by.

    Args:
        version: that it is of.
        launch: one of the version's.
        arguments: that the caller passes.
    """
    sized = dict(launch.local_memory)
    places = [
        index for index, entry in enumerate(arguments) if entry.kind is ArgumentKind.LOCAL and entry.name in sized
    ]
    numbers = [number[1] for argument in launch.arguments if (number := number_argument(argument))]

    def steps(texts: Sequence[str]) -> tuple[Steps, ...]:
        return tuple(_steps(version, texts, arguments, launch.loop))

    return LaunchFormulas(
        steps(launch.global_size),
        steps(launch.local_size or tuple(map(str, version.variant.local_size))),
        steps([sized[arguments[place].name] for place in places]),
        tuple(places),
        steps(numbers),
    )


def scratch_formulas(version: TunedVersion, arguments: Sequence[KernelArgument]) -> tuple[Steps, ...]:
    """Return what the bytes of a version's scratch buffers are computed by, in the order of `scratch`."""
    return tuple(_steps(version, [size for _, size in version.scratch], arguments))


def loop_formulas(version: TunedVersion, loop: Loop, arguments: Sequence[KernelArgument]) -> tuple[Steps, ...]:
    """Return what the first value of a loop, and the bound below which it stays, are computed by."""
    return tuple(_steps(version, loop.bounds, arguments))


def _steps(
    version: TunedVersion,
    texts: Iterable[str | Expression],
    arguments: Sequence[KernelArgument],
    loop: Loop | None = None,
) -> Iterator[Steps]:
    constants = {f"local_size_{number}": size for number, size in enumerate(version.variant.local_size)}
    constants |= version.macros()
    names = {name for name, kind in input_kinds(arguments).items() if kind is Kind.WHOLE}
    names |= set() if loop is None else {loop.name}
    for text in texts:
        expression = parse_expression(text) if isinstance(text, str) else text
        yield whole_steps_of(expression, names, constants)


class SequenceSizes(NamedTuple):
    """The sizes of all launches, the numbers that each passes, and the bytes of each scratch buffer.

    `order` says for each which of the version's it is, by place: those in loops are there as often as they run.
    """

    launches: tuple[VersionSizes, ...]
    numbers: tuple[Sizes, ...]
    scratch: Sizes
    order: tuple[int, ...]


# What a call passes for sizes where the default version takes several launches, and stands for none.
NO_ONE_LAUNCH = VersionSizes((1,), None, _NO_MEMORY)


def passed_arguments(
    version: TunedVersion, launch: TunedLaunch, arguments: Sequence[KernelArgument]
) -> tuple[PassedArgument, ...]:
    """Return the arguments of one launch of a version, in their order."""
    if not launch.arguments:
        return tuple(PassedArgument(Source.CALLER, index) for index in range(len(arguments)))
    callers = {argument.name: index for index, argument in enumerate(arguments)}
    scratch = {name: index for index, (name, _) in enumerate(version.scratch)}
    passed: list[PassedArgument] = []
    numbers = 0
    for name in launch.arguments:
        number = number_argument(name)
        if number is not None:
            passed.append(PassedArgument(Source.NUMBER, numbers, number[0]))
            numbers += 1
        elif name in scratch:
            passed.append(PassedArgument(Source.SCRATCH, scratch[name]))
        else:
            passed.append(PassedArgument(Source.CALLER, callers[name]))
    return tuple(passed)


def sequence_function(
    file: TunedFile, version: TunedVersion, inputs: tuple[str, ...]
) -> Callable[..., SequenceSizes | None]:
    """Return a function of whole numbers that returns the sizes of a version's launches.

    Args:
        file: that of the version.
        version: any; one without launches has one, of the caller's sizes.
        inputs: the names of the numbers, by position, as `size_inputs` has them.

    Returns:
        A function that returns None where something has no value, a size isn't positive, a number isn't one of
        its type, or loops make more than `MOST_LAUNCHES`.
    """
    if not version.launches:
        own = VersionSizes(None, version.variant.local_size or None, _NO_MEMORY)
        return lambda *_: SequenceSizes((own,), (), (), (0,))
    kinds = dict.fromkeys(inputs, Kind.WHOLE)
    made = [_made_launch(file, version, launch, inputs) for launch in version.launches]
    scratch_bytes = numbers_function(kinds, scratch_formulas(version, file.arguments))
    runs = [
        (places, None if loop is None else numbers_function(kinds, loop_formulas(version, loop, file.arguments)))
        for loop, places in version.runs
    ]
    varying = {place for place, launch in enumerate(version.launches) if launch.names_its_loop}

    def sizes(*given: int) -> SequenceSizes | None:
        scratch = scratch_bytes(*given)
        if scratch is None or min(scratch, default=1) <= 0:
            return None
        order: list[int] = []
        launched: list[tuple[VersionSizes, Sizes]] = []
        for places, bounds in runs:
            found = (0, 1) if bounds is None else bounds(*given)
            if found is None or len(order) + (found[1] - found[0]) * len(places) > MOST_LAUNCHES:
                return None
            values = range(*found)
            alike = {place: made[place](*given, 0) for place in places if values and place not in varying}
            for value in values:
                for place in places:
                    one = made[place](*given, value) if place in varying else alike[place]
                    if one is None:
                        return None
                    order.append(place)
                    launched.append(one)
        launches, numbers = (tuple(each) for each in zip(*launched, strict=True)) if launched else ((), ())
        return SequenceSizes(launches, numbers, scratch, tuple(order))

    return sizes


def _made_launch(
    file: TunedFile, version: TunedVersion, launch: TunedLaunch, inputs: tuple[str, ...]
) -> Callable[..., tuple[VersionSizes, Sizes] | None]:
    """Return a function of the inputs and the turn's number that returns a launch's sizes and numbers, if any."""
    loop, formulas = launch.loop, launch_formulas(version, launch, file.arguments)
    names = (*inputs, "" if loop is None else loop.name)
    compute = numbers_function(dict.fromkeys(names, Kind.WHOLE), (*formulas.sizes, *formulas.numbers))
    passed = passed_arguments(version, launch, file.arguments)
    ranges = [NUMBER_RANGES[each.type] for each in passed if each.source is Source.NUMBER]
    count = len(formulas.sizes)
    # Turns that differ in their numbers alone have the same sizes, as one object.
    sizes_of = lru_cache(maxsize=64)(formulas.sizes_of)

    def made(*given: int) -> tuple[VersionSizes, Sizes] | None:
        values = compute(*given)
        if values is None or min(values[:count]) <= 0:
            return None
        numbers: Sizes = values[count:]
        if not all(value in known for value, known in zip(numbers, ranges, strict=True)):
            return None
        return sizes_of(values[:count]), numbers

    return made
