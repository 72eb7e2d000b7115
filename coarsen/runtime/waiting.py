"""Waiting for what a launch waits for, before anybody looks at its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyopencl

_COMPLETE = pyopencl.command_execution_status.COMPLETE


def are_over(events: Sequence[Any]) -> bool:
    """Wait for events; return False where one failed, and without waiting where the program itself sets one.

    A program may set an event only after the launch that waits for it. What is no event is PyOpenCL's to refuse.
    """
    try:
        if any(_is_set_by_host(event) for event in events):
            return False
        if events:
            pyopencl.wait_for_events(list(events))
    except (pyopencl.Error, AttributeError, TypeError):
        return False
    return True


def _is_set_by_host(event: pyopencl.Event) -> bool:
    is_own = event.command_type == pyopencl.command_type.USER
    return is_own and event.command_execution_status != _COMPLETE
