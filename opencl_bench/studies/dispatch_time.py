"""Time that choosing a version adds to a launch: `python -m coarsen.opencl_bench.studies.dispatch_time`.

A kernel with a tuned file takes turns with PyOpenCL's own launch of the very kernel object that it chooses, in
this one process: known shapes, shapes that are new at each launch, shapes that alternate, two threads at once,
and by the program's attribute. PyOpenCL's is timed twice: as its kernels are called, and as its fastest setters
and its enqueue alone would be, the least that any launch takes. The device's own time is left out.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyopencl as cl
from rich.console import Console
from rich.table import Table

from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_file import TunedFile, source_hash_of
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.distribution import __version__
from coarsen.errors import InternalError
from coarsen.opencl_bench.studies.input_runs import add_lines, run_line
from coarsen.runtime.arguments import PLAIN
from coarsen.runtime.enqueue import ENQUEUE
from coarsen.runtime.program import Program
from coarsen.runtime.tuned_kernel import TunedKernel
from coarsen.runtime.tuned_prepared import PreparedLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

SOURCE = """
kernel void mv(global const float *a, global const float *x, int width, int height, global float *y)
{
    int row = get_global_id(0);
    if (row < height && width < 0)
        y[row] = a[row] * x[row];
}
"""
MOST_ROWS = 1 << 16
ROUNDS, LAUNCHES = 2000, 4
Launch = Callable[[], object]
Arguments = tuple[Any, ...]


def tuned_file(device: cl.Device) -> TunedFile:
    """Return a tuned file with three features, three questions and four versions, half of them coarsened."""
    kinds = (ArgumentKind.BUFFER, ArgumentKind.BUFFER, ArgumentKind.WHOLE, ArgumentKind.WHOLE, ArgumentKind.BUFFER)
    rounded = "(height + 63) // 64 * 64"
    return TunedFile(
        kernel="mv",
        arguments=tuple(
            KernelArgument(*pair) for pair in zip(("a", "x", "width", "height", "y"), kinds, strict=True)
        ),
        source_hash=source_hash_of(SOURCE),
        device=device.name.strip(),
        driver=device.driver_version.strip(),
        build_options=(),
        coarsen_version=__version__,
        features=(
            Feature("aspect", "log2(height / width)"),
            Feature("rows", "height"),
            Feature("cells", "width * height"),
        ),
        versions=tuple(
            TunedVersion(variant, (TunedLaunch("mv", (rounded,)),))
            for variant in (
                Variant((64,)),
                Variant((32,)),
                Variant((64,), (Coarsening(2, 0),)),
                Variant((64,), (Coarsening(4, 0),)),
            )
        ),
        default=0,
        tree=Split(
            "aspect",
            0.0,
            Split("cells", 1e6, Leaf(1), Leaf(0)),
            Split("rows", 4096.0, Leaf(2), Leaf(3)),
        ),
    )


@dataclass
class Launcher:
    """Launches by each route, of one thread: with its own kernel objects, queue and buffers."""

    program: Program
    context: cl.Context

    def __post_init__(self) -> None:
        self.queue = cl.CommandQueue(self.context)
        self.buffers = [cl.Buffer(self.context, cl.mem_flags.READ_WRITE, 4 * MOST_ROWS) for _ in range(3)]
        kernel = self.program.mv
        if not isinstance(kernel, TunedKernel):
            raise InternalError("the kernel that is timed has no tuned file")
        self.kernel = kernel
        self.new_heights: Iterator[int] = iter(range(1, MOST_ROWS))

    def arguments(self, width: int, height: int) -> Arguments:
        """Return the kernel's arguments."""
        a, x, y = self.buffers
        return a, x, np.int32(width), np.int32(height), y

    def routes(self, arguments: Arguments) -> dict[str, Launch]:
        """Return a launch of one shape by each route; PyOpenCL's of what the tuned kernel chooses for it."""
        sizes = rounded_sizes(int(arguments[3]))
        self.kernel(self.queue, *sizes, *arguments)
        chosen = next(reversed(self.kernel._known.values()))
        if not isinstance(chosen, PreparedLaunch):
            raise InternalError("the version that is timed takes several launches")
        added = tuple(chosen.decision.added)
        plain, own = chosen.kernel, (chosen.global_size, chosen.local_size)
        references, numbers = self.kernel._references(arguments), self.kernel._numbers(arguments)

        def least() -> None:
            PLAIN._set_arg_multi(plain, references)
            PLAIN._set_arg_buf_multi(plain, numbers)
            ENQUEUE(self.queue, plain, *own, None, None, False, False)

        return {
            "PyOpenCL, called": lambda: PLAIN.__call__(plain, self.queue, *own, *arguments, *added),
            "PyOpenCL, least": least,
            "tuned": lambda: self.kernel(self.queue, *sizes, *arguments),
            "program.name": lambda: self.program.mv(self.queue, *sizes, *arguments),
            "launch": lambda: self.kernel.launch(self.queue, *arguments),
        }

    def seconds(self, launches: Sequence[Launch]) -> float:
        """Return the time of one launch, on the average of some."""
        start = time.perf_counter()
        for launch in launches:
            launch()
        taken = (time.perf_counter() - start) / len(launches)
        self.queue.finish()
        return taken


def rounded_sizes(height: int) -> tuple[tuple[int], tuple[int]]:
    """Return the default version's sizes."""
    return ((height + 63) // 64 * 64,), (64,)


def known(launcher: Launcher, rounds: int) -> dict[str, list[float]]:
    """Time launches of one shape."""
    routes = launcher.routes(launcher.arguments(100, 1000))
    return {
        name: [launcher.seconds([launch] * LAUNCHES) for _ in range(rounds)] for name, launch in routes.items()
    }


def alternating(launcher: Launcher, rounds: int) -> dict[str, list[float]]:
    """Time launches of eight shapes in turn, which take all versions."""
    shapes = [(10, 5000), (100, 1000), (5000, 100), (5000, 5000), (7, 77), (77, 7), (3, 30000), (900, 901)]
    routes = [launcher.routes(launcher.arguments(*shape)) for shape in shapes]
    found: dict[str, list[float]] = {}
    for name in routes[0]:
        turns = cycle([route[name] for route in routes])
        found[name] = [launcher.seconds([next(turns) for _ in range(LAUNCHES)]) for _ in range(rounds)]
    return found


def new_shapes(launcher: Launcher, rounds: int) -> dict[str, list[float]]:
    """Time launches of shapes that never were before."""
    found: dict[str, list[float]] = {"tuned": [], "PyOpenCL, called": [], "PyOpenCL, least": []}
    # Of each version, so that what is said once is said.
    launcher.routes(launcher.arguments(10, 60000))
    for _ in range(rounds):
        height = next(launcher.new_heights)
        arguments = launcher.arguments(10 if height % 2 else 10**5, height)
        sizes = rounded_sizes(height)
        first = partial(launcher.kernel, launcher.queue, *sizes, *arguments)
        found["tuned"].append(launcher.seconds([first]))
        routes = launcher.routes(arguments)
        for name in ("PyOpenCL, called", "PyOpenCL, least"):
            found[name].append(launcher.seconds([routes[name]]))
    return found


def in_two_threads(program: Program, context: cl.Context, rounds: int) -> dict[str, list[float]]:
    """Time launches of one shape while another thread makes launches too; its times count as well."""
    found: dict[str, list[float]] = {}
    lock = threading.Lock()

    def work() -> None:
        times = known(Launcher(program, context), rounds)
        with lock:
            for name, taken in times.items():
                found.setdefault(name, []).extend(taken)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def microseconds(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile."""
    middle, late = np.percentile(times, [50, 99])
    return 1e6 * float(middle), 1e6 * float(late)


def run_lines(device: str, cases: Mapping[str, Mapping[str, Sequence[float]]], builds: int) -> Iterator[str]:
    """Yield the lines that `input_acceptance --runs` reads.

    Args:
        device: its name.
        cases: seconds of each route by what was launched.
        builds: how many programs were built at launches.
    """
    added = {}
    for case in ("known shape", "new shape"):
        least = microseconds(cases[case]["PyOpenCL, least"])[0]
        added[case] = [taken - least for taken in microseconds(cases[case]["tuned"])]
    values = {"12a": added["known shape"][0], "12b": added["known shape"][1], "12c": added["new shape"][0]}
    for criterion, value in {**values, "12d": float(builds)}.items():
        yield run_line(criterion, device, value)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="Time that the choice of a version adds to a launch.")
    parser.add_argument("--device", default="pocl", help="as `coarsen devices` names it")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each route")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the numbers of criterion 12, added to a file")
    words = parser.parse_args()
    context = cl.Context([open_device(find_device(words.device))])
    program = Program(context, SOURCE, tuned=tuned_file(context.devices[0])).build()
    launcher = Launcher(program, context)
    with patch.object(cl.Program, "build", autospec=True, side_effect=cl.Program.build) as builds:
        cases = {
            "known shape": known(launcher, words.rounds),
            "alternating shapes": alternating(launcher, words.rounds),
            "new shape": new_shapes(launcher, words.rounds),
            "two threads": in_two_threads(program, context, words.rounds),
        }
    columns = ("launches", "route", "median", "p99", "added to the call", "added to the least")
    table = Table(*columns, title=f"{context.devices[0].name.strip()}, µs")
    for case, times in cases.items():
        called, least = (microseconds(times[name])[0] for name in ("PyOpenCL, called", "PyOpenCL, least"))
        for route, taken in times.items():
            middle, late = microseconds(taken)
            cells = (f"{value:.1f}" for value in (middle, late))
            table.add_row(case, route, *cells, f"{middle - called:+.1f}", f"{middle - least:+.1f}")
    Console(width=110).print(table)
    if words.json:
        name = context.devices[0].platform.name.strip()
        add_lines(words.json, run_lines(name, cases, builds.call_count))


if __name__ == "__main__":
    main()
