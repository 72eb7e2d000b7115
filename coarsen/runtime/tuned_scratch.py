"""Scratch buffers of versions of several launches, kept from one launch to the next.

Buffers that a launch still uses are for no other, unless that comes after it in one queue: no launch ever waits
for another on account of scratch. They only grow, so that shapes that were seen before allocate nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyopencl

_OUT_OF_ORDER = int(pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
_COMPLETE = pyopencl.command_execution_status.COMPLETE
# The number of sets that are kept; where more are in use at once, launches have some for themselves.
MOST_SETS = 16


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
