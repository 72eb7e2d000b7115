"""The launches of a version that takes several: sizes and arguments, computed from what the caller passes."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import NamedTuple

from coarsen.dispatch.features import KernelArgument
from coarsen.dispatch.launch_sizes import (
    Sizes,
    VersionSizes,
    launch_formulas,
    scratch_formulas,
)
from coarsen.dispatch.python_text import numbers_function
from coarsen.dispatch.steps import Kind
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion, number_argument

# The numbers that a launch may pass, by the type's name.
NUMBER_RANGES: Mapping[str, range] = MappingProxyType(
    {
        "int": range(-(2**31), 2**31),
        "uint": range(2**32),
        "long": range(-(2**63), 2**63),
        "ulong": range(2**63),
    }
)


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
        version: one with launches.
        inputs: the names of the numbers, by position, as `size_inputs` has them.

    Returns:
        A function that returns None where something has no value, a size isn't positive, or a number isn't one of
        its type.
    """
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
