"""Time that building takes with the cache of coarsened text: `python -m coarsen.opencl_bench.studies.build_time`.

How much longer than `pyopencl.Program` does `coarsen.Program` take to build twenty programs, the suite's and three
synthetic ones? Both build them in turn, in one process and with caches in a fresh folder: the first round finds
them empty, in later ones all is there. Of the later rounds the median ratio counts, since machines are noisy. The
last column adds what the first launches will need besides: the device's own build of the coarsened kernels.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import pyopencl
from rich.console import Console
from rich.table import Table

from coarsen.api import coarsen
from coarsen.devices.building import build_for_launches
from coarsen.devices.discovery import common_macros_of, open_device
from coarsen.devices.selection import find_device
from coarsen.errors import RefusalError
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark
from coarsen.runtime.program import Program

SYNTHETIC = ("synthetic-1-0", "synthetic-1-1", "synthetic-1-2")


@dataclass(frozen=True, slots=True)
class Coarsened:
    """The coarsened kernel of a program, as the device builds it for the first launch."""

    text: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds in which all programs were built."""

    pyopencl: float
    coarsen: float
    variants: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", action="append", help="a part of a device's name (default: intel and pocl)")
    parser.add_argument("--rounds", type=int, default=9, help="with a warm cache (default 9)")
    parser.add_argument("--factor", type=int, default=2, help="of the coarsening (default 2)")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", pyopencl.CompilerWarning)
    table = Table(title="seconds for 20 programs, and ratios to pyopencl.Program")
    for heading in ("device", "cache", "pyopencl", "coarsen", "ratio", "with first launches"):
        table.add_column(heading, justify="left" if heading in ("device", "cache") else "right")
    for name in chosen.device or ("intel", "pocl"):
        device = open_device(find_device(name))
        cold, *warm = rounds(device, chosen.rounds, chosen.factor)
        table.add_row(device.name.strip(), "cold", *cells([cold]))
        table.add_row("", "warm", *cells(warm))
    Console(width=115).print(table)


def rounds(device: pyopencl.Device, count: int, factor: int) -> list[Round]:
    """Build all programs once with empty caches, and `count` times with full ones."""
    context = pyopencl.Context([device])
    benchmarks = [*SUITE.values(), *map(find_benchmark, SYNTHETIC)]
    variants = [found for each in benchmarks if (found := coarsened(each, device, factor)) is not None]
    with tempfile.TemporaryDirectory() as folder:
        actions: tuple[Callable[[], None], ...] = (
            partial(build_original, context, benchmarks, folder),
            partial(build_coarsened, context, benchmarks, folder, factor),
            partial(build_variants, context, variants, folder),
        )
        return [one_round(actions, number) for number in range(count + 1)]


def one_round(actions: Sequence[Callable[[], None]], number: int) -> Round:
    """Time each action; every other round begins with another one."""
    taken = {}
    for index in range(len(actions)):
        action = (index + number) % len(actions)
        start = time.perf_counter()
        actions[action]()
        taken[action] = time.perf_counter() - start
    return Round(*(taken[index] for index in range(len(actions))))


def build_original(context: pyopencl.Context, benchmarks: Sequence[Benchmark], folder: str) -> None:
    """Build with PyOpenCL alone."""
    for benchmark in benchmarks:
        pyopencl.Program(context, benchmark.source).build(list(benchmark.build_options), cache_dir=folder)


def build_coarsened(context: pyopencl.Context, benchmarks: Sequence[Benchmark], folder: str, factor: int) -> None:
    """Build and coarsen; a program that is refused is built by then."""
    for benchmark in benchmarks:
        program = Program(context, benchmark.source, factor=factor, kernels=[benchmark.kernel])
        try:
            program.build(list(benchmark.build_options), cache_dir=folder)
        except RefusalError as refusal:
            print(f"{benchmark.name}: {refusal}")


def build_variants(context: pyopencl.Context, variants: Sequence[Coarsened], folder: str) -> None:
    """Build the coarsened kernels, as first launches do."""
    for variant in variants:
        build_for_launches(context, variant.text, variant.options, cache_dir=folder)


def coarsened(benchmark: Benchmark, device: pyopencl.Device, factor: int) -> Coarsened | None:
    """Coarsen a benchmark's kernel; None where it is refused."""
    try:
        kernel = coarsen(
            benchmark.source,
            kernel=benchmark.kernel,
            factor=factor,
            options=benchmark.build_options,
            macros=common_macros_of([device]),
        )
        return Coarsened(kernel.opencl_c, (kernel.opencl_c_standard,))
    except RefusalError:
        return None


def cells(taken: Sequence[Round]) -> list[str]:
    """Return the medians of some rounds, as a row shows them."""
    return [
        f"{median(each.pyopencl for each in taken):.3f}",
        f"{median(each.coarsen for each in taken):.3f}",
        f"{median(each.coarsen / each.pyopencl for each in taken):.2f}",
        f"{median((each.coarsen + each.variants) / each.pyopencl for each in taken):.2f}",
    ]


if __name__ == "__main__":
    main()
