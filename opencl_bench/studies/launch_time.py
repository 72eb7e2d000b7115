"""Time that a launch takes on the host: `python -m coarsen.opencl_bench.studies.launch_time [--device NAME]`.

PyOpenCL's program and a coarsened one take turns in this one process, by each route; the device's own time is left
out. The least time of several rounds counts, since whatever disturbs a launch makes it longer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pyopencl as cl
from rich.console import Console
from rich.table import Table

from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.drop_in.program import Program

SOURCE = "kernel void add(global float *a, int n) { int i = get_global_id(0); if (i < n) a[i] += i; }"
SIZE = 64
# The queue is emptied between rounds, outside of the time taken. Short rounds are seldom disturbed.
ROUNDS, LAUNCHES = 400, 4
Launch = Callable[[], object]


def launches_of(program: cl.Program, queue: cl.CommandQueue, buffer: cl.Buffer) -> dict[str, Launch]:
    """Return a launch by each route."""
    kernel, sizes, arguments = cl.Kernel(program, "add"), ((SIZE,), (16,)), (buffer, np.int32(SIZE))

    def set_and_enqueue() -> object:
        kernel.set_args(*arguments)
        return cl.enqueue_nd_range_kernel(queue, kernel, *sizes)

    return {
        "kernel(queue, …)": lambda: kernel(queue, *sizes, *arguments),
        "set_args, enqueue_nd_range_kernel": set_and_enqueue,
        "enqueue_nd_range_kernel": lambda: cl.enqueue_nd_range_kernel(queue, kernel, *sizes),
        "program.add(queue, …)": lambda: program.add(queue, *sizes, *arguments),
    }


def seconds(launch: Launch, queue: cl.CommandQueue) -> float:
    """Return the time of one launch in one round."""
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        launch()
    taken = (time.perf_counter() - start) / LAUNCHES
    queue.finish()
    return taken


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="Time of a launch on the host, coarsened and not.")
    parser.add_argument("--device", default="pocl", help="as `coarsen devices` names it")
    context = cl.Context([open_device(find_device(parser.parse_args().device))])
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * SIZE)
    plain = launches_of(cl.Program(context, SOURCE).build(), queue, buffer)
    coarsened = launches_of(Program(context, SOURCE, factor=2).build(), queue, buffer)
    table = Table("route", "PyOpenCL", "coarsened", "more", "ratio")
    for route, launch in plain.items():
        both = launch, coarsened[route]
        rounds = [[seconds(one, queue) for one in both] for _ in range(ROUNDS)]
        own, ours = (1e6 * min(times) for times in zip(*rounds, strict=True))
        table.add_row(route, f"{own:.1f} µs", f"{ours:.1f} µs", f"{ours - own:+.1f} µs", f"{ours / own:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
