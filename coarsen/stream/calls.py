"""Calls of reductions and pipelines: what they are given is checked; one like another before is launched at once.

first call   ─▶ checked ─▶ `Kernel.launch` chooses a version
the second   ─▶ checked ─▶ `Kernel.launch` finds what was chosen
the others   ─▶ arrays of the same types and shapes ─▶ `Kernel.repeat`
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import accumulate
from operator import mul
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
from coarsen.runtime.launches import keep
from coarsen.stream.reduction_text import Argument

_FROM_THE_START = np.int64(0)
_Array = pyopencl.array.Array


class _Call(NamedTuple):
    """What a call launched: how, its sizes, the result's shape, and whether that needs memory of its own."""

    ready: Ready
    counts: tuple[Any, ...]
    shape: tuple[int, ...]
    is_apart: bool


class Calls(threading.local):
    """The kernel of a program, another object for each thread, and what its calls launched.

    Args:
        program: where the kernel is.
        kernel: its name.
        arguments: what a call is given besides sizes; the first array decides where a new result has its memory.
        sizes: the names of the numbers that follow from the arrays of a call.
        dtype: of the result.
        file: chooses the kernel's version.
        is_stream: whether the kernel is passed the first array, the result, sizes and other arguments; else all
            arguments, sizes and the result, each array with its offset.
    """

    def __init__(
        self,
        program: Program,
        kernel: str,
        arguments: Sequence[Argument],
        sizes: Collection[str],
        dtype: np.dtype[Any],
        file: TunedFile,
        *,
        is_stream: bool = False,
    ) -> None:
        self.kernel = program.kernel(kernel)
        self._dtype, self._is_stream = dtype, is_stream
        arrays = [isinstance(each, VectorArg) for each in arguments]
        self._arrays = [place for place, is_array in enumerate(arrays) if is_array]
        # Where numbers are among what the kernel is passed, after arrays and their offsets.
        self._numbers = [
            (place if is_stream else place + sum(arrays[:place]), each.name, each.dtype)
            for place, each in enumerate(arguments)
            if not arrays[place]
        ]
        asked = {*size_inputs(file), *(name for feature in file.features for name in feature.names)}
        self._is_by_sizes = asked <= {*sizes}
        self._known: dict[Hashable, _Call] = {}

    def again(
        self,
        queue: pyopencl.CommandQueue,
        context: pyopencl.Context,
        values: Sequence[Any],
        out: _Array | None,
        events: Sequence[pyopencl.Event],
        sizes: Hashable = None,
        *,
        may_be_in_place: bool = False,
    ) -> _Array | None:
        """Launch what a call of the same kind launched before; None where this one has to be looked at.

        Args:
            queue: where.
            context: the queue's.
            values: of the arguments.
            out: where the result goes; a new array if None.
            events: to wait for, besides those of the arrays.
            sizes: those that the call was given, if any.
            may_be_in_place: whether `out` may be the first array.
        """
        if out is not None and type(out) is not _Array:
            return None
        kind, passed, waiting = sorted_call(values, out, sizes, has_offsets=not self._is_stream)
        call = self._known.get(kind)
        if call is None:
            return None
        if out is not None and call.is_apart:
            is_in_place = may_be_in_place and out.base_data == passed[0]
            # What is in the same memory, this time, is said elsewhere.
            if any(overlap(out, values[place]) for place in self._arrays[is_in_place:]):
                return None
        for place, name, dtype in self._numbers:
            passed[place] = number(name, passed[place], dtype)
        result = self.new(queue, context, call.shape, values) if out is None else out
        if self._is_stream:
            passed[1:1] = (result.base_data, *call.counts)
        else:
            offset = np.int64(result.offset) if result.offset else _FROM_THE_START
            passed += (*call.counts, result.base_data, offset)
        event = self.kernel.repeat(queue, call.ready, tuple(passed), [*events, *waiting] or None)
        if event is None:
            return None
        # It comes after all those that the array had.
        result.events[:] = [event]
        return result

    def new(
        self,
        queue: pyopencl.CommandQueue,
        context: pyopencl.Context,
        shape: tuple[int, ...],
        values: Sequence[Any],
    ) -> _Array:
        """Return an array for results, from where the first array has its memory."""
        # From the last dimension on: those of an image are a row's bytes and an element's.
        bytes_ = [*accumulate(reversed(shape), mul, initial=self._dtype.itemsize)]
        strides, size = tuple(bytes_[-2::-1]) if shape else (), bytes_[-1] // self._dtype.itemsize
        # As PyOpenCL makes arrays itself: what it makes for others is checked for as long as a launch takes.
        fast: Mapping[str, Any] = {"_fast": True, "_size": size, "_context": context, "_queue": queue}
        allocator = getattr(values[self._arrays[0]], "allocator", None)
        return _Array(None, shape, self._dtype, allocator=allocator, strides=strides, **fast)

    def keep(
        self,
        values: Sequence[Any],
        out: _Array | None,
        counts: tuple[Any, ...],
        shape: tuple[int, ...],
        sizes: Hashable = None,
        *,
        is_apart: bool = True,
    ) -> None:
        """Keep what the last call launched for others like it, of arrays alone that lie where PyOpenCL's do."""
        ready = self.kernel.called
        arrays = [values[place] for place in self._arrays] + [out] * (out is not None)
        if ready is not None and self._is_by_sizes and all(type(each) is _Array for each in arrays):
            keep(self._known, sorted_call(values, out, sizes)[0], _Call(ready, counts, shape, is_apart))


class Built:
    """The calls of a reduction or a pipeline by context and device, each built when it is first asked for."""

    def __init__(self) -> None:
        self.known: dict[tuple[pyopencl.Context, pyopencl.Device], Calls] = {}
        self._building = threading.Lock()

    def of(self, queue: pyopencl.CommandQueue, build: Callable[[pyopencl.CommandQueue], Calls]) -> Calls:
        """Return what is built for a queue's device, by `build` the first time; other threads wait for that."""
        key = queue.context, queue.device
        with self._building:
            if key not in self.known:
                self.known[key] = build(queue)
            return self.known[key]


def sorted_call(
    values: Sequence[Any], out: _Array | None = None, sizes: Hashable = None, *, has_offsets: bool = False
) -> tuple[Hashable, list[Any], list[pyopencl.Event]]:
    """Return the kind of a call, by all that is checked of it, what it passes, and events to wait for."""
    kind: list[Any] = [sizes, out is None]
    passed: list[Any] = []
    events: list[pyopencl.Event] = []
    for value in values:
        if type(value) is _Array:
            memory, offset = value.base_data, value.offset
            kind += type(memory), bool(offset), value.shape, value.strides, value.dtype
            passed.append(memory)
            if has_offsets:
                passed.append(np.int64(offset) if offset else _FROM_THE_START)
            if value.events:
                events += value.events
        else:
            kind.append(type(value))
            passed.append(value)
    if out is not None:
        kind += type(out.base_data), bool(out.offset), out.shape, out.strides, out.dtype
        events += out.events
    return tuple(kind), passed, events


def number(name: str, value: Any, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 (of any type, then of this one)
    """Return a number as a kernel takes it. Raises InvalidInputError where it is none of the type."""
    try:
        found = None if value is None or isinstance(value, str | bytes) else dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    # Of a list or an array NumPy makes an array.
    if type(found) is not dtype.type or (dtype.kind != "f" and found != value):
        raise InvalidInputError(f"{name} is a number of the type {dtype}, not {value!a:.60}")
    return found


def is_buffer(value: object) -> bool:
    """Return True for a buffer of a known size: one of a pool is larger than what was asked for."""
    return isinstance(value, pyopencl.MemoryObject) and not isinstance(value, pyopencl.Image)


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


def check_array(array: Any, dtype: np.dtype[Any], name: str) -> None:  # noqa: ANN401 (whatever a caller gives)
    """Raise InvalidInputError for what is no array, one of another type, or one that doesn't lie in C's order."""
    if not isinstance(array, _Array):
        how = "of a buffer, Array(queue, shape, dtype, data=buffer) makes one"
        raise InvalidInputError(f"{name} is an array of PyOpenCL's, not {array!a:.60}; {how}")
    if array.dtype != dtype:
        raise InvalidInputError(f"{name} is of the type {array.dtype}, not {dtype}")
    if array.strides != (dtype.itemsize,) and not array.flags.c_contiguous:
        raise InvalidInputError(f"{name}: its elements don't lie one after the other, in C's order")
