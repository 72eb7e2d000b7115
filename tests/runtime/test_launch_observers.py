"""Observers of a program see each launch as it was asked for and as it ran."""

from __future__ import annotations

from collections.abc import Callable

import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.runtime.launch import OriginalLaunch
from coarsen.variant.coarsening import Coarsening
from tests.runtime.advisors import Recorder, with_arguments
from tests.runtime.launch_routes import (
    ROUTES,
    SIZE,
    Buffers,
    program_of,
)

pytestmark = pytest.mark.compiled_devices


@pytest.mark.parametrize("launch", ROUTES, ids=lambda route: route.__name__)
def test_an_observer_sees_each_launch(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    launch: Callable[[cl.CommandQueue, Program, Buffers], None],
) -> None:
    recorder = Recorder()
    launch(queue, program_of(context, observer=recorder), buffers)
    name, original, divided = recorder.seen[-1]
    assert (name, original) == ("record", OriginalLaunch(queue.device, (SIZE,), (16,), 0))
    assert (divided.global_size, divided.coarsenings) == ((SIZE // 4,), (Coarsening(4),))


def test_an_observer_sees_launches_of_the_original(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    recorder = Recorder()
    program = program_of(context, observer=recorder)
    program.record(queue, (SIZE,), (1,), *buffers.all)
    kernel = with_arguments(program, buffers)
    assert kernel.int_ptr, "others may set arguments by it"
    cl.enqueue_nd_range_kernel(queue, kernel, (6,), (16,), g_times_l=True)
    with pytest.raises(cl.LogicError):
        program.record(queue, (SIZE,), (36,), *buffers.all)
    assert [(divided.global_size, divided.local_size, divided.coarsenings) for _, _, divided in recorder.seen] == [
        ((SIZE,), (1,), ()),
        ((SIZE,), (16,), ()),
    ]
