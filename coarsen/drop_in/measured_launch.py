"""A launch that a program is about to make, captured and tuned apart."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyopencl

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.runtime.advice import AdviceRequest
from coarsen.runtime.arguments import Argument
from coarsen.tuning.captured_tuning import check_python, tune_captured
from coarsen.tuning.recording import ProgramText, captured_launch, most_captured_bytes
from coarsen.tuning.settings import Deadline, Tune
from coarsen.tuning.tuned import Tuned
from coarsen.variant.variant import Variant


def check_sizes_are_known(arguments: Sequence[Argument] | None) -> None:
    """Raise InvalidInputError for a launch with shared virtual memory, of which only the address is kept."""
    for index, argument in enumerate(arguments or ()):
        if isinstance(argument, pyopencl.SVMPointer):
            raise InvalidInputError(
                f"the size of its argument {index}, shared virtual memory, is not known: coarsen.tune takes it"
            )


def tune_request(
    request: AdviceRequest,
    device: DeviceDescription,
    groups_matter: bool,
    settings: Tune,
    first: Variant | None = None,
) -> Tuned:
    """Copy what a launch's buffers hold, and find the fastest variant of it; the buffers are only read.

    Args:
        request: with a queue and arguments.
        device: where it runs.
        groups_matter: whether it matters to the kernel how its work-items are grouped.
        settings: how to tune.
        first: a variant to begin with, such as what was found for launches of other sizes; its local size is that
            of the launch before coarsening, empty for the launch's own.

    Raises:
        CoarsenError: it can't be captured, or not be measured apart.
        pyopencl.Error: its buffers can't be read.
    """
    if request.queue is None or request.arguments is None:
        raise InvalidInputError("a launch is tuned with its queue and its arguments")
    check_python()
    deadline = Deadline(settings.seconds)
    launch = request.launch
    captured = captured_launch(
        ProgramText(request.source, request.options),
        request.kernel,
        request.queue,
        launch.global_size,
        launch.local_size or (),
        request.arguments,
        global_offset=request.offset,
        most_bytes=settings.most_bytes or _most_bytes(request.queue),
    )
    return tune_captured(
        captured, device, request.transforms, groups_matter, settings, deadline, first, request.cache_dir
    )


def _most_bytes(queue: pyopencl.CommandQueue) -> int:
    return most_captured_bytes(queue.device.global_mem_size, Path(tempfile.gettempdir()))
