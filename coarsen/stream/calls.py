"""The calls of a reduction: what they are given is checked, and one like another before launches the same at once.

first call   ─▶ checked ─▶ `Kernel.launch` chooses a version
the second   ─▶ checked ─▶ `Kernel.launch` finds what was chosen
the others   ─▶ arrays of the same types and shapes ─▶ `Kernel.repeat`
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyopencl
import pyopencl.array
from pyopencl.tools import VectorArg

from coarsen.dispatch.launch_sizes import size_inputs
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError
from coarsen.runtime.enqueue import Ready
from coarsen.stream.reduction_text import KERNEL, Operation

# The number of kinds of calls that are kept at hand.
_MOST_KINDS = 256
_FROM_THE_START = np.int64(0)
_Array = pyopencl.array.Array


class _Call(NamedTuple):
    """What a call launched: how, with which numbers of elements and rows, and how many results it has."""

    ready: Ready
    counts: tuple[np.int64, ...]
    results: int


class Calls(threading.local):
    """The kernel of a program, another object for each thread, and what its calls launched.

    Args:
        program: where the kernel is.
        operation: what is reduced.
        file: chooses the kernel's version.
    """

    def __init__(self, program: Program, operation: Operation, file: TunedFile) -> None:
        self.kernel = program.kernel(KERNEL)
        self._dtype, self._shaped = operation.result_dtype, bool(operation.rows)
        arrays = [isinstance(each, VectorArg) for each in operation.arguments]
        self._first = arrays.index(True)
        # Where numbers are among what the kernel is passed, each array with its offset before them.
        self._numbers = [
            (place + sum(arrays[:place]), each.name, each.dtype)
            for place, each in enumerate(operation.arguments)
            if not arrays[place]
        ]
        asked = {*size_inputs(file), *(name for feature in file.features for name in feature.names)}
        self._is_by_sizes = asked <= {*operation.sizes}
        self._known: dict[Hashable, _Call] = {}

    def again(
        self,
        queue: pyopencl.CommandQueue,
        context: pyopencl.Context,
        values: Sequence[Any],
        out: _Array | None,
        events: Sequence[pyopencl.Event],
    ) -> _Array | None:
        """Launch what a call of the same kind launched before; None where this one has to be looked at.

        Args:
            queue: where.
            context: the queue's.
            values: of the arguments.
            out: where the result goes; a new array if None.
            events: to wait for, besides those of the arrays.
        """
        kind, passed, waiting = _sorted(values, out)
        call = self._known.get(kind)
        if call is None:
            return None
        # What is in the same memory, this time, is said elsewhere.
        if (
            out is not None
            and call.results > 1
            and any(type(each) is _Array and overlap(out, each) for each in values)
        ):
            return None
        for place, name, dtype in self._numbers:
            passed[place] = number(name, passed[place], dtype)
        result = self.new(queue, context, call.results, values) if out is None else out
        passed += (*call.counts, result.base_data, np.int64(result.offset) if result.offset else _FROM_THE_START)
        event = self.kernel.repeat(queue, call.ready, tuple(passed), [*events, *waiting] or None)
        if event is None:
            return None
        # It comes after all those that the array had.
        result.events[:] = [event]
        return result

    def new(
        self, queue: pyopencl.CommandQueue, context: pyopencl.Context, results: int, values: Sequence[Any]
    ) -> _Array:
        """Return an array for results, from where the first array has its memory."""
        shape, strides = ((results,), (self._dtype.itemsize,)) if self._shaped else ((), ())
        # As PyOpenCL makes arrays itself: what it makes for others is checked for as long as a launch takes.
        fast: Mapping[str, Any] = {"_fast": True, "_size": results, "_context": context, "_queue": queue}
        allocator = getattr(values[self._first], "allocator", None)
        return _Array(None, shape, self._dtype, allocator=allocator, strides=strides, **fast)

    def keep(self, values: Sequence[Any], out: _Array | None, counts: tuple[np.int64, ...], results: int) -> None:
        """Keep what the last call launched for others like it, of arrays alone that lie where PyOpenCL's do."""
        ready = self.kernel.called
        if (
            ready is not None
            and self._is_by_sizes
            and all(
                type(each) is _Array or not isinstance(each, pyopencl.MemoryObject | _Array) for each in values
            )
        ):
            if len(self._known) >= _MOST_KINDS:
                self._known.clear()
            self._known[_sorted(values, out)[0]] = _Call(ready, counts, results)


def _sorted(values: Sequence[Any], out: Any) -> tuple[Hashable, list[Any], list[pyopencl.Event]]:  # noqa: ANN401
    """Return the kind of a call, by all that is checked of it, what it passes, and events to wait for."""
    kind: list[Any] = [out is None]
    passed: list[Any] = []
    events: list[pyopencl.Event] = []
    for value in values:
        if type(value) is _Array:
            memory, offset = value.base_data, value.offset
            kind += type(memory), value.shape, value.strides, value.dtype
            passed += memory, np.int64(offset) if offset else _FROM_THE_START
            if value.events:
                events += value.events
        else:
            kind.append(type(value))
            passed.append(value)
    if out is not None:
        kind += type(out), type(out.base_data), out.shape, out.strides, out.dtype
        events += out.events
    return tuple(kind), passed, events


def number(name: str, value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 (of any type, then of this one)
    """Return a number as a kernel takes it. Raises InvalidInputError where it is none of the type."""
    try:
        found = None if value is None or isinstance(value, str) else dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or (dtype.kind != "f" and found != value):
        raise InvalidInputError(f"{name} is a number of the type {dtype}, not {value!a:.60}")
    return found


def overlap(one: Any, other: Any) -> bool:  # noqa: ANN401 (arrays and buffers)
    """Return True if two arrays have bytes in common, as far as they are of one buffer."""
    (memory, first, end), (other_memory, other_first, other_end) = map(_bytes_of, (one, other))
    return memory == other_memory and max(first, other_first) < min(end, other_end)


def _bytes_of(array: Any) -> tuple[Any, int, int]:  # noqa: ANN401 (an array or a buffer)
    """Return the whole buffer that an array is in, where it begins there, and where it ends, in bytes."""
    is_array = isinstance(array, pyopencl.array.Array)
    memory, first = (array.base_data, array.offset) if is_array else (array, 0)
    size, info = (array.nbytes if is_array else array.size), pyopencl.mem_info
    if memory is not None and (whole := memory.get_info(info.ASSOCIATED_MEMOBJECT)) is not None:
        memory, first = whole, first + memory.get_info(info.OFFSET)
    return memory, first, first + size


def check_array(array: pyopencl.array.Array, dtype: np.dtype[Any], name: str) -> None:
    """Raise InvalidInputError for an array of another type, or whose elements lie otherwise than in C's order."""
    if array.dtype != dtype:
        raise InvalidInputError(f"{name} is of the type {array.dtype}, not {dtype}")
    if array.strides != (dtype.itemsize,) and not array.flags.c_contiguous:
        raise InvalidInputError(f"{name}: its elements don't lie one after the other, in C's order")
