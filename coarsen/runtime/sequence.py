"""Launches of a tuned file's versions: whether they can work, and several in a row, with shared scratch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.dispatch.launch_sizes import PassedArgument, SequenceSizes, Source, VersionSizes
from coarsen.errors import CoarsenError
from coarsen.runtime.arguments import ENQUEUE, Argument, WaitList, set_all
from coarsen.runtime.launch import (
    OriginalLaunch,
    OwnLaunch,
    SequenceVersion,
    fits,
    has_work,
    is_plain,
    limits_of,
    required_local_size,
)

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
        self._kernels = [PlainKernel(each.program, each.function_name) for each in version.kernels]
        self._passed = version.passed
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
        try:
            scratch = self._free_scratch(queue, sizes.scratch, in_order) if sizes.scratch else None
            buffers = () if scratch is None else scratch.buffers
            firsts = {place: number for number, place in reversed([*enumerate(sizes.order)])}
            for place, number in firsts.items():
                self._set(place, number, sizes, args, buffers)
            if not sizes.order:
                # Loops that run no time at all.
                event: pyopencl.Event = pyopencl.enqueue_marker(queue, wait_for)
                return event
            event = self._enqueue(queue, 0, sizes, wait_for)
        except pyopencl.Error as error:
            raise NotLaunchedError(" ".join(str(error).split())[:200]) from None
        for number, place in enumerate(sizes.order[1:], 1):
            if scratch is not None:
                scratch.used_by(event, in_order)
            if firsts[place] != number:
                self._set(place, number, sizes, args, buffers, is_again=True)
            # In a queue in order, each waits for all before it anyway.
            event = self._enqueue(queue, number, sizes, [event] if in_order is None else None)
        if scratch is not None:
            scratch.used_by(event, in_order)
        return event

    def _set(
        self,
        place: int,
        number: int,
        sizes: SequenceSizes,
        args: Sequence[Argument],
        scratch: Sequence[pyopencl.Buffer],
        is_again: bool = False,
    ) -> None:
        """Set the arguments of a launch, `is_again` those that may differ between the turns of a loop."""
        launch, numbers = sizes.launches[number], sizes.numbers[number]
        values = {
            index: _value(each, args, scratch, launch, numbers)
            for index, each in enumerate(self._passed[place])
            if not is_again or each.source is Source.NUMBER or each.index in launch.local_memory
        }
        set_all(self._kernels[place], values.keys(), values.values())

    def _free_scratch(self, queue: pyopencl.CommandQueue, sizes: Sequence[int], in_order: int | None) -> Scratch:
        """Return scratch that nothing else uses; raises pyopencl.Error where there is no memory."""
        found = next((each for each in self._scratch if each.is_free_for(in_order)), None)
        if found is None:
            found = Scratch()
            if len(self._scratch) < MOST_SETS:
                self._scratch.append(found)
        found.grow(queue.context, sizes)
        return found

    def _enqueue(
        self, queue: pyopencl.CommandQueue, number: int, sizes: SequenceSizes, wait_for: WaitList
    ) -> pyopencl.Event:
        (whole, local, _), kernel = sizes.launches[number], self._kernels[sizes.order[number]]
        event: pyopencl.Event = ENQUEUE(queue, kernel, whole, local, None, wait_for, False, False)
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


def in_order_handle(queue: pyopencl.CommandQueue) -> int | None:
    """Return the handle of a queue that carries out its commands one after the other; None for others."""
    return None if queue.properties & _OUT_OF_ORDER else int(queue.int_ptr)


# Whether a version can be launched.

_INFO = pyopencl.kernel_work_group_info


def problem_of_launch(
    kernel: pyopencl.Kernel, launch: OriginalLaunch, is_coarsened: bool = False, any_groups: bool = False
) -> str:
    """Say why a launch of a kernel as it is written can't work; empty where it can.

    It is said once for many launches, so it has no numbers of one alone.

    Args:
        kernel: the kernel.
        launch: its sizes and local memory.
        is_coarsened: whether a variant is launched, whose sizes were looked at already.
        any_groups: whether a local size need not divide the global size.
    """
    device, whole, local = launch.device, launch.global_size, launch.local_size
    own, available = int(kernel.get_work_group_info(_INFO.LOCAL_MEM_SIZE, device)), int(device.local_mem_size)
    if own + launch.local_bytes > available:
        return f"its work-groups need more local memory than the device's {available} bytes"
    if is_coarsened:
        return ""
    if not has_work(whole, local):
        return "its global and local sizes don't go together"
    limits = limits_of(device, kernel)
    if local is not None and not fits(local, limits):
        most = limits.max_work_group_size
        return f"its work-groups are too large for the device, which takes {most} work-items of it"
    required = required_local_size(kernel, device, len(whole))
    if local is not None and required not in (None, local):
        return f"its kernel requires the local size {required}"
    return "" if any_groups or is_plain(whole, local) else "its local size doesn't divide its global size"


def problem_of_sequence(own: OwnLaunch, any_groups: bool) -> str:
    """Say why several launches can't work on a device; empty where they can, as `problem_of_launch`."""
    version, sizes, device = own.steps, own.sizes, own.launch.device
    assert version is not None and sizes is not None, "of several launches"
    if max(sizes.scratch, default=0) > device.max_mem_alloc_size:
        return "its scratch buffers are too large for the device"
    # Those that are alike in all turns of a loop are one object.
    different = {(place, id(each)): each for place, each in zip(sizes.order, sizes.launches, strict=True)}
    for (place, _), each in different.items():
        kernel, passed = version.kernels[place], version.passed[place]
        memory = {**dict(own.local_memory), **each.local_memory}
        places = [argument.index for argument in passed if argument.source is Source.CALLER]
        local_bytes = sum(memory.get(index, 0) for index in places)
        launch = OriginalLaunch(device, each.global_size or (), each.local_size, local_bytes)
        if problem := problem_of_launch(kernel, launch, any_groups=any_groups):
            return problem
    return ""
