"""Launches of a tuned file's version that takes several: one after the other, with shared scratch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.dispatch.launch_sizes import SequenceSizes, VersionSizes
from coarsen.errors import CoarsenError
from coarsen.runtime.arguments import ENQUEUE, Argument, SetArguments, WaitList, set_all
from coarsen.runtime.launch import OriginalLaunch, SequenceVersion, Sizes
from coarsen.runtime.launches import LaunchedVariant, added_values
from coarsen.variant.variant import PassedArgument, Source

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
    """The kernel objects of a version of several launches, one for each that is listed, and its scratch; of one
    thread."""

    def __init__(self, version: SequenceVersion) -> None:
        self.version = version
        self.kernels = [PlainKernel(each.program, each.function_name) for each in version.kernels]
        self._coarsened: dict[tuple[int, LaunchedVariant], pyopencl.Kernel | None] = {}
        # One for each launch that may run at the same time.
        self._scratch: list[Scratch] = []

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
        launcher = _Launcher(self, queue, sizes, args)
        firsts = {place: number for number, place in reversed([*enumerate(sizes.order)])}
        try:
            scratch = self._free_scratch(queue, sizes.scratch, in_order) if sizes.scratch else None
            launcher.scratch = () if scratch is None else scratch.buffers
            for number in firsts.values():
                launcher.set(number)
            if not sizes.order:
                # Loops that run no time at all.
                event: pyopencl.Event = pyopencl.enqueue_marker(queue, wait_for)
                return event
            event = launcher.enqueue(0, wait_for)
        except pyopencl.Error as error:
            raise NotLaunchedError(" ".join(str(error).split())[:200]) from None
        for number, place in enumerate(sizes.order[1:], 1):
            if scratch is not None:
                scratch.used_by(event, in_order)
            if firsts[place] != number:
                launcher.set(number)
            # In a queue in order, each waits for all before it anyway.
            event = launcher.enqueue(number, [event] if in_order is None else None)
        if scratch is not None:
            scratch.used_by(event, in_order)
        return event

    def only_launch(self, sizes: SequenceSizes, count: int) -> tuple[pyopencl.Kernel, Sizes, Sizes | None] | None:
        """Return the kernel and sizes where there is one launch, as it is written, of what the caller passes.

        Args:
            sizes: of the launches.
            count: of the caller's arguments.
        """
        callers = tuple(PassedArgument(Source.CALLER, index) for index in range(count))
        if sizes.order != (0,) or self.version.coarsened[0] is not None or self.version.passed[0] != callers:
            return None
        whole, local, memory = sizes.launches[0]
        return None if whole is None or memory else (self.kernels[0], whole, local)

    def kernel_of(self, place: int, launched: LaunchedVariant) -> pyopencl.Kernel | None:
        """Return the kernel object of one of the launches for a variant; None where there is none."""
        if (place, launched) not in self._coarsened:
            step = self.version.coarsened[place]
            self._coarsened[place, launched] = None if step is None else step[0].kernel(launched)
        return self._coarsened[place, launched]

    def _free_scratch(self, queue: pyopencl.CommandQueue, sizes: Sequence[int], in_order: int | None) -> Scratch:
        """Return scratch that nothing else uses; raises pyopencl.Error where there is no memory."""
        found = next((each for each in self._scratch if each.is_free_for(in_order)), None)
        if found is None:
            found = Scratch()
            if len(self._scratch) < MOST_SETS:
                self._scratch.append(found)
        found.grow(queue.context, sizes)
        return found


class _How(NamedTuple):
    """The way in which a launch among several is carried out: kernel, sizes, and what is passed besides."""

    kernel: pyopencl.Kernel
    global_size: Sizes | None
    local_size: Sizes | None
    added: Mapping[int, Argument]


class _Launcher:
    """Sets the arguments of a sequence's launches and launches them, for one call."""

    def __init__(
        self,
        sequence: SequenceKernels,
        queue: pyopencl.CommandQueue,
        sizes: SequenceSizes,
        args: Sequence[Argument],
    ) -> None:
        self.scratch: Sequence[pyopencl.Buffer] = ()
        self._sequence, self._queue, self._sizes, self._args = sequence, queue, sizes, args
        # Launches that are alike in all turns of a loop have the same sizes, as one object.
        self._hows: dict[tuple[int, int], _How] = {}

    def set(self, number: int) -> None:
        """Set the arguments of a launch; in further turns of the same sizes those that may differ."""
        place, launch = self._sizes.order[number], self._sizes.launches[number]
        numbers, passed = self._sizes.numbers[number], self._sequence.version.passed[place]
        how = self._hows.get((place, id(launch)))
        values = {
            index: _value(each, self._args, self.scratch, launch, numbers)
            for index, each in enumerate(passed)
            if how is None or each.source is Source.NUMBER or each.index in launch.local_memory
        }
        if how is None:
            how = self._hows[place, id(launch)] = self._how(place, launch, values)
        values |= how.added
        set_all(how.kernel, values.keys(), values.values())

    def enqueue(self, number: int, wait_for: WaitList) -> pyopencl.Event:
        """Launch what has its arguments."""
        kernel, whole, local, _ = self._hows[self._sizes.order[number], id(self._sizes.launches[number])]
        event: pyopencl.Event = ENQUEUE(self._queue, kernel, whole, local, None, wait_for, False, False)
        return event

    def _how(self, place: int, launch: VersionSizes, values: Mapping[int, Argument]) -> _How:
        step = self._sequence.version.coarsened[place]
        as_written = _How(self._sequence.kernels[place], launch.global_size, launch.local_size, {})
        if step is None:
            return as_written
        passed = SetArguments(len(values))
        passed.note_all([*values.values()])
        original = OriginalLaunch(
            self._queue.device, launch.global_size or (), launch.local_size, passed.local_bytes
        )
        divided, launched = step[0].exactly(original, step[1], passed)
        if launched is None:
            return as_written
        kernel = self._sequence.kernel_of(place, launched)
        added = added_values(launched.added, len(values), original, divided.own, passed.local_memory)
        if kernel is None or added is None:
            return as_written
        return _How(kernel, divided.global_size, divided.local_size, added)


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


def in_order_handle(queue: pyopencl.CommandQueue) -> int | None:
    """Return the handle of a queue that carries out its commands one after the other; None for others."""
    return None if queue.properties & _OUT_OF_ORDER else int(queue.int_ptr)
