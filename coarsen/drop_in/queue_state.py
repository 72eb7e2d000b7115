"""Whether a queue has come to an end of what was enqueued, found out without waiting for ever."""

from __future__ import annotations

import time

import pyopencl

# A program may set an event only after the launch that is about to be made: nobody may wait for ever for it.
PATIENCE = 10.0
_PAUSE = 0.002


def is_idle_within(queue: pyopencl.CommandQueue, seconds: float = PATIENCE) -> bool:
    """Return True once all that was enqueued is done; False if it isn't within some seconds.

    Raises:
        pyopencl.Error: the queue has failed.
    """
    marker = pyopencl.enqueue_marker(queue)
    queue.flush()
    deadline = time.monotonic() + seconds
    while marker.command_execution_status > pyopencl.command_execution_status.COMPLETE:
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True
