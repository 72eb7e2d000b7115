"""Launches of a version that takes several, one after the other, with scratch buffers that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.dispatch.launch_sizes import PassedArgument, SequenceSizes, Source, VersionSizes
from coarsen.errors import CoarsenError
from coarsen.runtime.arguments import ENQUEUE, Argument, WaitList, set_all
from coarsen.runtime.launch import SequenceVersion

_OUT_OF_ORDER = int(pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
_COMPLETE = pyopencl.command_execution_status.COMPLETE
# The number of sets that are kept; where more are in use at once, launches have some for themselves.
MOST_SETS = 16
_NUMBERS: Mapping[str, Callable[[int], Argument]] = MappingProxyType(
    {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
)


class NotLaunchedError(CoarsenError):
    """Nothing was launched: there is no memory for scratch, or an argument can't be set."""


class SequenceKernels:
    """The kernel objects of a version of several launches, one for each launch, and its scratch; of one thread."""

    def __init__(self, version: SequenceVersion) -> None:
        self._kernels = [PlainKernel(each.program, each.function_name) for each in version.kernels]
        self._passed = version.passed
        self._pool = ScratchPool()

    def enqueue(
        self, queue: pyopencl.CommandQueue, sizes: SequenceSizes, args: Sequence[Argument], wait_for: WaitList
    ) -> pyopencl.Event:
        """Launch all, each after the one before it, and return the event that ends with the last.

        Args:
            queue: in order or not.
            sizes: of the launches.
            args: the caller's.
            wait_for: events that the first waits for.

        Raises:
            NotLaunchedError: none of them was launched.
        """
        in_order = in_order_handle(queue)
        try:
            scratch = self._pool.take(queue, sizes.scratch, in_order) if sizes.scratch else None
            buffers = () if scratch is None else scratch.buffers
            steps = zip(self._kernels, self._passed, sizes.launches, sizes.numbers, strict=True)
            for kernel, passed, launch, numbers in steps:
                values = [_value(each, args, buffers, launch, numbers) for each in passed]
                set_all(kernel, range(len(values)), values)
            event = self._enqueue(queue, 0, sizes, wait_for)
        except pyopencl.Error as error:
            raise NotLaunchedError(" ".join(str(error).split())[:200]) from None
        for place in range(1, len(self._kernels)):
            if scratch is not None:
                scratch.used_by(event, in_order)
            # In a queue in order, each waits for all before it anyway.
            event = self._enqueue(queue, place, sizes, [event] if in_order is None else None)
        if scratch is not None:
            scratch.used_by(event, in_order)
        return event

    def _enqueue(
        self, queue: pyopencl.CommandQueue, place: int, sizes: SequenceSizes, wait_for: WaitList
    ) -> pyopencl.Event:
        whole, local, _ = sizes.launches[place]
        event: pyopencl.Event = ENQUEUE(queue, self._kernels[place], whole, local, None, wait_for, False, False)
        return event


def _value(
    argument: PassedArgument,
    args: Sequence[Argument],
    scratch: Sequence[pyopencl.Buffer],
    sizes: VersionSizes,
    numbers: Sequence[int],
) -> Argument:
    """Return an argument of one of the launches."""
    if argument.source is Source.SCRATCH:
        return scratch[argument.index]
    if argument.source is Source.NUMBER:
        return _NUMBERS[argument.type](numbers[argument.index])
    size = sizes.local_memory.get(argument.index)
    return args[argument.index] if size is None else pyopencl.LocalMemory(size)


class Scratch:
    """The scratch buffers of one launch at a time, and the last event that uses them."""

    __slots__ = ("_in_order_queue", "_last", "buffers")

    def __init__(self) -> None:
        self.buffers: tuple[pyopencl.Buffer, ...] = ()
        self._in_order_queue: int | None = None
        self._last: pyopencl.Event | None = None

    def is_free_for(self, in_order_queue: int | None) -> bool:
        """Return True if a launch may use it now; `in_order_queue` is the handle of its queue, None for others."""
        if self._last is None or (in_order_queue is not None and in_order_queue == self._in_order_queue):
            # A handle stands for another queue only once all that the first one had to do is done.
            return True
        return bool(self._last.command_execution_status <= _COMPLETE)

    def grow(self, context: pyopencl.Context, sizes: Sequence[int]) -> None:
        """Make the buffers at least so large, in bytes; raises pyopencl.Error where there is no memory.

        What a launch still uses stays until that is over: OpenCL keeps it.
        """
        if len(self.buffers) == len(sizes) and all(
            buffer.size >= size for buffer, size in zip(self.buffers, sizes, strict=True)
        ):
            return
        before = [buffer.size for buffer in self.buffers] or [0] * len(sizes)
        self.buffers = ()
        wanted = map(max, sizes, before)
        self.buffers = tuple(pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, size) for size in wanted)

    def used_by(self, event: pyopencl.Event, in_order_queue: int | None) -> None:
        """Note that a launch uses it until this event."""
        self._last, self._in_order_queue = event, in_order_queue


class ScratchPool:
    """The scratch of one version for one kernel object, which is one thread's."""

    def __init__(self) -> None:
        self._sets: list[Scratch] = []

    def take(self, queue: pyopencl.CommandQueue, sizes: Sequence[int], in_order_queue: int | None) -> Scratch:
        """Return scratch that nothing else uses; raises pyopencl.Error where there is no memory.

        Args:
            queue: of the launch.
            sizes: in bytes, one for each buffer.
            in_order_queue: the queue's handle; None where it isn't in order.
        """
        found = next((each for each in self._sets if each.is_free_for(in_order_queue)), None)
        if found is None:
            found = Scratch()
            if len(self._sets) < MOST_SETS:
                self._sets.append(found)
        found.grow(queue.context, sizes)
        return found


def in_order_handle(queue: pyopencl.CommandQueue) -> int | None:
    """Return the handle of a queue that carries out its commands one after the other; None for others."""
    return None if queue.properties & _OUT_OF_ORDER else int(queue.int_ptr)
