"""The arguments of a launch, taken apart by functions made for one kernel: what a choice depends on, what to set.

Everything that a call does with its arguments before they are set is one function of each kind, written from their
places alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyopencl

from coarsen.dispatch.features import BYTES, ArgumentKind, KernelArgument
from coarsen.runtime.arguments import Argument, Pairs, SetArguments, sorted_by_kind, tuple_function
from coarsen.variant.placement import PlacedArgument

Arguments: TypeAlias = tuple[Argument, ...]
# The names in generated functions of the caller's arguments, and of scratch buffers.
OF_CALLER, OF_SCRATCH = "a", "s"
_NUMBERS = (ArgumentKind.WHOLE, ArgumentKind.REAL)
_WHOLE = (np.integer, int, np.bool_)
_REAL = (np.floating, float, *_WHOLE)


@dataclass(frozen=True, slots=True)
class Setting:
    """Sets the arguments of one launch: what lies on the device, and numbers, as PyOpenCL's setters take them."""

    references: Callable[[Arguments], Pairs]
    numbers: Callable[[Arguments], Pairs]


def key_function(
    arguments: Sequence[KernelArgument], asked: frozenset[str], all_bytes: bool, all_apart: bool = False
) -> Callable[[Arguments], tuple[object, ...]]:
    """Return a function of arguments that returns what their launch depends on, in a tuple.

    These are the numbers and the sizes of buffers that are asked for, and the sizes of local memory.

    Args:
        arguments: the kernel's.
        asked: names of numbers, and of buffers with `bytes_` before them.
        all_bytes: whether the sizes of all memory objects count.
        all_apart: whether it counts if any of the memory objects overlap.
    """
    parts = []
    for index, argument in enumerate(arguments):
        if argument.kind in _NUMBERS and argument.name in asked:
            parts.append(f"a[{index}]")
        elif argument.kind is ArgumentKind.LOCAL:
            parts.append(f"a[{index}].size")
        elif argument.kind is ArgumentKind.BUFFER and BYTES + argument.name in asked:
            parts.append(f"size(a[{index}])")
    if all_bytes:
        parts.append("sizes(a)")
    if all_apart:
        parts.append("apart(a)")
    return tuple_function(parts, {"size": bytes_of, "sizes": _all_bytes, "apart": _are_all_apart})


def setting(arguments: Sequence[KernelArgument]) -> Setting:
    """Return what sets the arguments of a kernel's launches."""
    if any(argument.kind is ArgumentKind.OTHER for argument in arguments):
        return Setting(lambda values: _sorted(values)[0], lambda values: _sorted(values)[1])
    references: list[str] = []
    numbers: list[str] = []
    for index, argument in enumerate(arguments):
        parts = numbers if argument.kind in _NUMBERS else references
        parts += (str(index), f"a[{index}]")
    return Setting(tuple_function(references), tuple_function(numbers))


@dataclass(frozen=True, slots=True)
class Place:
    """An argument that each launch has its own of: `of` is OF_CALLER or OF_SCRATCH."""

    of: str
    index: int


def values_function(values: Sequence[Argument]) -> Callable[[Arguments, Sequence[pyopencl.Buffer]], Arguments]:
    """Return a function of a caller's arguments and scratch buffers that returns the arguments of a launch.

    Args:
        values: those of all launches alike, and a `Place` for others.
    """
    parts = [
        f"{value.of}[{value.index}]" if isinstance(value, Place) else f"c[{index}]"
        for index, value in enumerate(values)
    ]
    function: Callable[[Arguments, Sequence[pyopencl.Buffer]], Arguments] = tuple_function(
        parts, {"c": tuple(values)}, f"{OF_CALLER}, {OF_SCRATCH}"
    )
    return function


def with_local_memory(arguments: tuple[KernelArgument, ...], values: Arguments) -> tuple[KernelArgument, ...]:
    """Return a kernel's arguments, those of them as local memory that are given it.

    An argument that is once given local memory can be given nothing else: its kernel has a pointer to it.
    """
    given = [index for index, value in enumerate(values) if isinstance(value, pyopencl.LocalMemory)]
    if all(arguments[index].kind is ArgumentKind.LOCAL for index in given if index < len(arguments)):
        return arguments
    return tuple(
        replace(argument, kind=ArgumentKind.LOCAL) if index in given else argument
        for index, argument in enumerate(arguments)
    )


def numbers_function(
    arguments: Sequence[KernelArgument], names: Sequence[str]
) -> Callable[[Arguments], tuple[int | float | None, ...]]:
    """Return a function of arguments that returns numbers by name; None for what is no number of its kind.

    Args:
        arguments: the kernel's.
        names: of arguments, and of buffers with `bytes_` before them.
    """
    parts: dict[str, str] = {}
    for index, argument in enumerate(arguments):
        if argument.kind is ArgumentKind.BUFFER:
            parts[BYTES + argument.name] = f"size(a[{index}])"
        elif argument.kind in _NUMBERS:
            parts[argument.name] = f"{argument.kind.value}(a[{index}])"
    functions = {"size": bytes_of, "whole": _whole, "real": _real}
    return tuple_function([parts.get(name, "None") for name in names], functions)


def bytes_of(value: Argument) -> int | None:
    """Return the size of a memory object; 0 for NULL, None where it isn't known."""
    if value is None:
        return 0
    size = getattr(value, "size", None)
    return size if isinstance(size, int) else None


def local_bytes(places: Sequence[int], values: Arguments, changed: Mapping[int, Argument]) -> int:
    """Return the bytes of local memory that a launch's arguments give a work-group.

    Args:
        places: those of arguments that are local memory.
        values: the arguments.
        changed: what is passed in place of them, by index.
    """
    return sum(changed.get(index, values[index]).size for index in places) if places else 0


class PassedValues:
    """Tells of the memory among a launch's arguments."""

    def __init__(self, values: Arguments) -> None:
        self._values = values

    def are_below(self, limit: int) -> bool:
        """Return True if every memory object that is passed is surely smaller than so many bytes."""
        noted = _noted(self._values)
        return noted is not None and noted.are_below(limit)

    def are_apart(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Return True if all memory objects, those of the pairs among them, surely do not overlap.

        All, since a decision is found again by just that.
        """
        noted = _noted(self._values)
        return noted is not None and noted.are_apart(pairs) and _are_all_apart(self._values)

    def suit(self, placed: Sequence[PlacedArgument], most_constant_bytes: int) -> bool:
        """Return True if nothing is read from another memory: no version of a tuned file does."""
        return not placed


def _noted(values: Arguments) -> SetArguments | None:
    noted = SetArguments(len(values))
    try:
        noted.note_all(values)
    except (BufferError, TypeError, ValueError):
        return None
    return noted


def _are_all_apart(values: Arguments) -> bool:
    """Return True if no two of the memory objects that are passed overlap."""
    is_memory = (pyopencl.MemoryObjectHolder, pyopencl.SVMPointer)
    places = [index for index, value in enumerate(values) if isinstance(value, is_memory)]
    noted = _noted(values)
    return noted is not None and noted.are_apart(tuple(itertools.combinations(places, 2)))


def _whole(value: Argument) -> int | None:
    return int(value) if isinstance(value, _WHOLE) else None


def _real(value: Argument) -> float | None:
    return float(value) if isinstance(value, _REAL) else None


def _all_bytes(values: Arguments) -> tuple[int, ...]:
    """Return the sizes of memory objects and of what they are parts of: a kernel may reach that through them."""
    sizes = []
    for value in values:
        if isinstance(value, pyopencl.MemoryObjectHolder):
            whole: Any = value.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
            sizes.append(value.size if whole is None else max(value.size, whole.size))
        elif isinstance(value, pyopencl.SVMPointer):
            sizes.append(-1)
    return tuple(sizes)


def _sorted(values: Arguments) -> tuple[Pairs, Pairs]:
    """Return arguments whose kinds show only when they are passed."""
    return sorted_by_kind(range(len(values)), values)
