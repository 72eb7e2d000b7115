"""The sizes of a version's launches, computed from what the caller passes."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import NamedTuple

from coarsen.dispatch.choosing import numbers_function
from coarsen.dispatch.expressions import parse_expression
from coarsen.dispatch.features import SIZE_NAMES, ArgumentKind, KernelArgument, input_kinds
from coarsen.dispatch.steps import Kind, Steps, whole_steps_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion, number_argument

Sizes = tuple[int, ...]
_NO_MEMORY: Mapping[int, int] = MappingProxyType({})
# The numbers that a launch may pass, by the type's name.
NUMBER_RANGES: Mapping[str, range] = MappingProxyType(
    {
        "int": range(-(2**31), 2**31),
        "uint": range(2**32),
        "long": range(-(2**63), 2**63),
        "ulong": range(2**63),
    }
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
        return tuple(_steps(version, texts, arguments))

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


def _steps(version: TunedVersion, texts: Sequence[str], arguments: Sequence[KernelArgument]) -> Iterator[Steps]:
    constants = {f"local_size_{number}": size for number, size in enumerate(version.variant.local_size)}
    constants |= version.macros()
    names = {name for name, kind in input_kinds(arguments).items() if kind is Kind.WHOLE}
    for text in texts:
        yield whole_steps_of(parse_expression(text), names, constants)


class Source(enum.Enum):
    """The source of a launch's argument: the caller's argument, scratch, or a number that is computed."""

    CALLER = enum.auto()
    SCRATCH = enum.auto()
    NUMBER = enum.auto()


@dataclass(frozen=True, slots=True)
class PassedArgument:
    """An argument of one launch.

    Args:
        source: where it comes from.
        index: of the caller's argument, of the scratch buffer, or of the number among the launch's.
        type: of a number, as in `NUMBER_RANGES`.
    """

    source: Source
    index: int
    type: str = ""


class SequenceSizes(NamedTuple):
    """The sizes of all launches, the numbers that each passes, and the bytes of each scratch buffer."""

    launches: tuple[VersionSizes, ...]
    numbers: tuple[Sizes, ...]
    scratch: Sizes


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
        A function that returns None where something has no value, a size isn't positive, or a number isn't one of
        its type.
    """
    if not version.launches:
        own = VersionSizes(None, version.variant.local_size or None, _NO_MEMORY)
        return lambda *_: SequenceSizes((own,), (), ())
    formulas = [launch_formulas(version, launch, file.arguments) for launch in version.launches]
    groups = [each.sizes for each in formulas] + [scratch_formulas(version, file.arguments)]
    numbers = [each.numbers for each in formulas]
    steps = [step for group in (*groups, *numbers) for step in group]
    compute = numbers_function(dict.fromkeys(inputs, Kind.WHOLE), steps)
    ends = list(accumulate(map(len, (*groups, *numbers)), initial=0))
    slices = [slice(*pair) for pair in pairwise(ends)]
    first_number = ends[len(groups)]
    ranges = [
        NUMBER_RANGES[passed.type]
        for launch in version.launches
        for passed in passed_arguments(version, launch, file.arguments)
        if passed.source is Source.NUMBER
    ]

    def sizes(*given: int) -> SequenceSizes | None:
        values = compute(*given)
        if values is None or min(values[:first_number]) <= 0:
            return None
        if not all(value in known for value, known in zip(values[first_number:], ranges, strict=True)):
            return None
        parts = [values[each] for each in slices]
        count = len(formulas)
        launches = tuple(each.sizes_of(part) for each, part in zip(formulas, parts, strict=False))
        return SequenceSizes(launches, tuple(parts[count + 1 :]), parts[count])

    return sizes
