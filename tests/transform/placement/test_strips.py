"""Loops cut into strips make the trips that they made, whatever they count; other loops are refused."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.analysis.control_flow import flow_graph
from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.devices.building import build_uncached
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.frontend.normal_form import normalised
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.kernel import Kernel
from coarsen.transform.placement.strips import counted_loop, innermost_loops, strip_mined

# Each trip notes its counter; what is carried from trip to trip is a sum that tells their order.
KERNEL = """kernel void k(global long *to, {type} a, {type} b)
{{ int at = 1; long sum = 0; {type} i; {loop} {{ to[at++] = i; sum = 3*sum + i; }} to[0] = sum; to[at] = 77; }}"""
ROOM = 64
BOUNDS = [(0, 0), (0, 1), (0, 3), (0, 4), (0, 7), (0, 8), (0, 9), (-5, 20), (3, 2), (20, -4), (7, 7)]
LOOPS = {
    "up": ("int", "for (i = a; i < b; ++i)", BOUNDS),
    "up to": ("int", "for (i = a; i <= b; ++i)", BOUNDS),
    "by three": ("int", "for (i = a; i < b; i += 3)", BOUNDS),
    "turned": ("int", "for (i = a; b > i; i += 2)", BOUNDS),
    "left where": ("int", "for (i = a;; ++i) if (i >= b) break; else", BOUNDS),
    "down": ("int", "for (i = b; i > a; --i)", BOUNDS),
    "down to": ("int", "for (i = b; i >= a; i -= 2)", BOUNDS),
    "other than": ("int", "for (i = a; i != b; ++i)", [(a, b) for a, b in BOUNDS if a <= b]),
    "other than, down": ("int", "for (i = b; i != a; --i)", [(a, b) for a, b in BOUNDS if a <= b]),
    "to the largest": ("int", "for (i = a; i < b; ++i)", [(2**31 - 1 - n, 2**31 - 1) for n in (0, 1, 4, 9)]),
    "from the least": ("int", "for (i = b; i > a; --i)", [(-(2**31), n - 2**31) for n in (0, 1, 4, 9)]),
    "without a sign": ("uint", "for (i = a; i < b; ++i)", [(2**31 - 4, 2**31 + 5), (0, 9), (9, 0)]),
    "round the end": ("uint", "for (i = a; i != b; ++i)", [(2**32 - 4, 5), (2**32 - 8, 0)]),
    "long": ("long", "for (i = a; i < b; i += 4)", [(2**40, 2**40 + 33), (0, 3), (-17, 18)]),
}
TRIPS = (2, 4, 5)
TYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64}


@functools.cache
def in_strips(source: str, trips: int) -> str:
    kernel = lower(source)
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    (counted,) = innermost_loops(function)
    strip_mined(function, counted, trips)
    make_names_unique(function, module.structures)
    return write_opencl_c(Kernel(kernel.name, normalised(module))).text


def outcome(queue: cl.CommandQueue, source: str, type_: str, bounds: tuple[int, int]) -> NDArray[np.int64]:
    numbers: list[Any] = [TYPES[type_](each) for each in bounds]
    found = np.full(ROOM, -1, np.int64)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(queue.context, flags, hostbuf=found)
    cl.Kernel(build_uncached(queue.context, source, []), "k")(queue, (1,), None, buffer, *numbers)
    cl.enqueue_copy(queue, found, buffer)
    return found


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("trips", TRIPS)
def test_the_same_trips_in_the_same_order(queue: cl.CommandQueue, name: str, trips: int) -> None:
    type_, loop, bounds = LOOPS[name]
    source = KERNEL.format(type=type_, loop=loop)
    text = in_strips(source, trips)
    assert f"!= {trips}" in text or f"== {trips}" in text, "there is a strip"
    for each in bounds:
        assert np.array_equal(outcome(queue, source, type_, each), outcome(queue, text, type_, each)), each


@pytest.mark.parametrize(
    ("type_", "loop", "reason"),
    [
        ("int", "for (i = a; i < b; ++i) if (i == 4) break; else", "doesn't count by a number"),
        ("int", "for (i = a; i < b; i *= 2)", "doesn't count by a number"),
        ("int", "for (i = a; i < b; i += a)", "doesn't count by a number"),
        ("int", "for (i = a; i < to[i]; ++i)", "computes more than numbers"),
        ("int", "for (i = a; i < b; b -= 2, ++i)", "up to a bound that stays the same"),
        ("int", "for (i = a; i < b; --i)", "doesn't count by a number"),
        ("int", "for (i = a; i != b; i += 2)", "doesn't count by a number"),
        ("short", "for (i = a; i < b; ++i)", "doesn't count by a number"),
    ],
)
def test_what_is_no_counted_loop_is_refused(type_: str, loop: str, reason: str) -> None:
    kernel = lower(KERNEL.format(type=type_, loop=loop))
    function = kernel.editable_graph().function(kernel.name)
    flow = flow_graph(function)
    with pytest.raises(RefusalError, match=reason) as refused:
        counted_loop(function, flow, flow.loops[0])
    assert refused.value.code == "tile-loop-unknown"
    assert innermost_loops(function) == []


def test_a_strip_that_the_counter_can_t_count_is_refused() -> None:
    kernel = lower(KERNEL.format(type="int", loop="for (i = a; i < b; i += 1 << 28)"))
    function = kernel.editable_graph().function(kernel.name)
    (counted,) = innermost_loops(function)
    with pytest.raises(RefusalError, match="too few bits for strips of 8 trips"):
        strip_mined(function, counted, 8)
