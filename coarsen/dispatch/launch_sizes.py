"""The sizes of a version's launches, computed from what the caller passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from coarsen.dispatch.expressions import parse_expression
from coarsen.dispatch.features import SIZE_NAMES, ArgumentKind, KernelArgument, input_kinds
from coarsen.dispatch.python_text import numbers_function
from coarsen.dispatch.steps import Kind, Steps, whole_steps_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion

Sizes = tuple[int, ...]
_NO_MEMORY: Mapping[int, int] = MappingProxyType({})


class VersionSizes(NamedTuple):
    """The sizes and memory that a version is launched with.

    `global_size` is that before anything is merged, in work-items, None where it is the caller's; `local_size` is
    None where it is left to the driver, or is the caller's; `local_memory` is bytes by the index of the argument.
    """

    global_size: Sizes | None
    local_size: Sizes | None
    local_memory: Mapping[int, int]


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
    launch = version.launches[0]
    compute = numbers_function(dict.fromkeys(inputs, Kind.WHOLE), size_steps(version, file.arguments))
    places = [index for index, entry in enumerate(file.arguments) if entry.kind is ArgumentKind.LOCAL]
    sized = dict(launch.local_memory)
    memory_places = [index for index in places if file.arguments[index].name in sized]
    dimensions, has_local = len(launch.global_size), bool(_local(launch, version))
    first_memory = 2 * dimensions if has_local else dimensions

    def sizes(*numbers: int) -> VersionSizes | None:
        values = compute(*numbers)
        if values is None or min(values) <= 0:
            return None
        local = values[dimensions:first_memory] if has_local else None
        memory = dict(zip(memory_places, values[first_memory:], strict=True)) if memory_places else _NO_MEMORY
        return VersionSizes(values[:dimensions], local, memory)

    return sizes


def size_steps(version: TunedVersion, arguments: Iterable[KernelArgument]) -> list[Steps]:
    """Return the steps of a version's global sizes, local sizes and bytes of local memory, in this order."""
    if not version.launches:
        return []
    arguments = tuple(arguments)
    launch = version.launches[0]
    sized = dict(launch.local_memory)
    memory = [sized[entry.name] for entry in arguments if entry.name in sized]
    constants = {f"local_size_{number}": size for number, size in enumerate(version.variant.local_size)}
    constants |= version.macros()
    names = {name for name, kind in input_kinds(arguments).items() if kind is Kind.WHOLE}
    texts = (*launch.global_size, *_local(launch, version), *memory)
    return [whole_steps_of(parse_expression(text), names, constants) for text in texts]


def _local(launch: TunedLaunch, version: TunedVersion) -> tuple[str, ...]:
    return launch.local_size or tuple(map(str, version.variant.local_size))
