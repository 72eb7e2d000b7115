"""The arguments of a launch, taken apart by functions made for one kernel: what a choice depends on, what to set.

Everything that a call does with its arguments before they are set is one function of each kind, written from their
places alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyopencl

from coarsen.dispatch.features import BYTES, ArgumentKind, KernelArgument
from coarsen.runtime.arguments import Argument, SetArguments, sorted_by_kind

Arguments: TypeAlias = tuple[Argument, ...]
# Index, value, index, value and so on.
Pairs: TypeAlias = tuple[Any, ...]
_NUMBERS = (ArgumentKind.WHOLE, ArgumentKind.REAL)


@dataclass(frozen=True, slots=True)
class Setting:
    """Sets the arguments of one launch: what lies on the device, and numbers, as PyOpenCL's setters take them."""

    references: Callable[[Arguments], Pairs]
    numbers: Callable[[Arguments], Pairs]


def key_function(
    arguments: Sequence[KernelArgument], asked: frozenset[str], all_bytes: bool
) -> Callable[[Arguments], tuple[object, ...]]:
    """Return a function of arguments that returns what their launch depends on, in a tuple.

    These are the numbers and the sizes of buffers that are asked for, and the sizes of local memory.

    Args:
        arguments: the kernel's.
        asked: names of numbers, and of buffers with `bytes_` before them.
        all_bytes: whether the sizes of all memory objects count.
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
    return _function(parts, {"size": bytes_of, "sizes": _all_bytes})


def setting(arguments: Sequence[KernelArgument], changed: Mapping[int, Argument], added: Pairs = ()) -> Setting:
    """Return what sets the arguments of a launch.

    Args:
        arguments: the kernel's.
        changed: what is set in place of the caller's, by index.
        added: pairs of index and value that come after them, numbers and local memory.
    """
    if any(argument.kind is ArgumentKind.OTHER for argument in arguments):
        return _sorting(changed, added)
    names: dict[str, Any] = {f"v{index}": value for index, value in changed.items()}
    references: list[str] = []
    numbers: list[str] = []
    for index, argument in enumerate(arguments):
        parts = numbers if argument.kind in _NUMBERS else references
        parts += (str(index), f"v{index}" if index in changed else f"a[{index}]")
    for index, value in zip(added[::2], added[1::2], strict=True):
        parts = numbers if isinstance(value, np.number) else references
        parts += (str(index), f"v{index}")
        names[f"v{index}"] = value
    return Setting(_function(references, names), _function(numbers, names))


def numbers_of(
    arguments: Sequence[KernelArgument], names: Sequence[str], values: Arguments
) -> list[int | float | None]:
    """Return the numbers that are asked for by name; None for what is no number of its kind.

    Args:
        arguments: the kernel's.
        names: of arguments, and of buffers with `bytes_` before them.
        values: the arguments of a launch.
    """
    found: dict[str, int | float | None] = {}
    for argument, value in zip(arguments, values, strict=True):
        if argument.kind is ArgumentKind.BUFFER:
            found[BYTES + argument.name] = bytes_of(value)
        elif argument.kind in _NUMBERS:
            found[argument.name] = _number(argument.kind, value)
    return [found.get(name) for name in names]


def bytes_of(value: Argument) -> int | None:
    """Return the size of a memory object; 0 for NULL, None where it isn't known."""
    if value is None:
        return 0
    size = getattr(value, "size", None)
    return size if isinstance(size, int) else None


def local_bytes(arguments: Sequence[KernelArgument], values: Arguments, changed: Mapping[int, Argument]) -> int:
    """Return the bytes of local memory that a launch's arguments give a work-group."""
    return sum(
        changed.get(index, values[index]).size
        for index, argument in enumerate(arguments)
        if argument.kind is ArgumentKind.LOCAL
    )


def are_below(values: Arguments, limit: int) -> bool:
    """Return True if every memory object that is passed is surely smaller than so many bytes."""
    noted = SetArguments(len(values))
    try:
        noted.note_all(values)
    except (BufferError, TypeError, ValueError):
        return False
    return noted.are_below(limit)


def _number(kind: ArgumentKind, value: Argument) -> int | float | None:
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value) if kind is ArgumentKind.WHOLE else float(value)
    if kind is ArgumentKind.REAL and isinstance(value, (float, np.floating)):
        return float(value)
    return None


def _all_bytes(values: Arguments) -> tuple[int, ...]:
    """The sizes of memory objects and of what they are parts of: a kernel may reach that through them."""
    sizes = []
    for value in values:
        if isinstance(value, pyopencl.MemoryObjectHolder):
            whole = value.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
            sizes.append(value.size if whole is None else max(value.size, whole.size))
        elif isinstance(value, pyopencl.SVMPointer):
            sizes.append(-1)
    return tuple(sizes)


def _sorting(changed: Mapping[int, Argument], added: Pairs) -> Setting:
    """Sets arguments whose kinds show only when they are passed."""

    def values(arguments: Arguments) -> tuple[Pairs, Pairs]:
        own = [changed.get(index, value) for index, value in enumerate(arguments)]
        return sorted_by_kind([*range(len(own)), *added[::2]], [*own, *added[1::2]])

    return Setting(lambda arguments: values(arguments)[0], lambda arguments: values(arguments)[1])


def _function(parts: Sequence[str], names: Mapping[str, object]) -> Callable[[Arguments], tuple[Any, ...]]:
    # The text has places of arguments and names made here, nothing that anybody wrote.
    text = f"lambda a: ({''.join(f'{part}, ' for part in parts)})"
    function: Callable[[Arguments], tuple[Any, ...]] = eval(text, {"__builtins__": {}, **names})
    return function
