"""Waiting, for a while at most, for what a launch waits for: before anybody looks at its arguments."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pyopencl

from coarsen.runtime.advice import PATIENCE

_COMPLETE = pyopencl.command_execution_status.COMPLETE
_PAUSE = 0.001


def are_over(queue: pyopencl.CommandQueue, events: Sequence[pyopencl.Event], seconds: float = PATIENCE) -> bool:
    """Return True once a queue has done what was enqueued, and events are over; False if that takes too long.

    False, too, where one of them has failed. What is no event is PyOpenCL's to refuse.

    Args:
        queue: where the launch goes.
        events: those that it waits for besides.
        seconds: how long to wait at most.
    """
    deadline = time.monotonic() + seconds
    try:
        marker = pyopencl.enqueue_marker(queue)
        queue.flush()
        return all(_is_over_by(deadline, event) for event in (marker, *events))
    except (pyopencl.Error, AttributeError, TypeError):
        return False


def is_any_set_by_host(events: Sequence[pyopencl.Event]) -> bool:
    """Return True if the program itself has still to set one of these events, or one is none."""
    try:
        return any(_is_set_by_host(event) for event in events)
    except (pyopencl.Error, AttributeError, TypeError):
        return True


def _is_set_by_host(event: pyopencl.Event) -> bool:
    is_own = event.command_type == pyopencl.command_type.USER
    return is_own and event.command_execution_status != _COMPLETE


def _is_over_by(deadline: float, event: pyopencl.Event) -> bool:
    while (status := event.command_execution_status) > _COMPLETE:
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return bool(status == _COMPLETE)
