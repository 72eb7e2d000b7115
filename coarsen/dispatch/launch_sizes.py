"""The sizes of a version's launches, computed from what the caller passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from coarsen.dispatch import python_text
from coarsen.dispatch.expressions import parse_expression
from coarsen.dispatch.features import SIZE_NAMES, ArgumentKind, KernelArgument, input_kinds
from coarsen.dispatch.steps import Kind, Steps, whole_steps_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion, number_argument

Sizes = tuple[int, ...]
_NO_MEMORY: Mapping[int, int] = MappingProxyType({})


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


def sizes_function(
    file: TunedFile, version: TunedVersion, inputs: tuple[str, ...]
) -> Callable[..., VersionSizes | None]:
    """Return a function of whole numbers that returns the sizes of a version of one launch.

    Args:
        file: that of the version.
        version: one of a single launch, or none of its own.
        inputs: the names of the numbers, by position, as `size_inputs` has them.

    Returns:
        A function that returns None where a size has no value, or a global or local size isn't positive.
    """
    own = version.variant.local_size or None
    if not version.launches:
        unchanged = VersionSizes(None, own, _NO_MEMORY)
        return lambda *numbers: unchanged
    formulas = launch_formulas(version, version.launches[0], file.arguments)
    groups = (formulas.global_size, formulas.local_size, formulas.local_memory)
    compute = python_text.sizes_function(dict.fromkeys(inputs, Kind.WHOLE), groups)
    places = formulas.memory_places

    def sizes(*numbers: int) -> VersionSizes | None:
        values = compute(*numbers)
        if values is None:
            return None
        whole, local, memory = values
        return VersionSizes(whole, local or None, dict(zip(places, memory, strict=True)) if memory else _NO_MEMORY)

    return sizes


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
