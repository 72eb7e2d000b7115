"""Measured medians of benchmarks at several factors: `python -m coarsen.opencl_bench.studies.factor_table`.

For each working device and each benchmark, along one dimension at a time, the original and the coarsened kernels
run interleaved in one process; each is verified against the reference first. A first look, not a sweep: one local
size, no search.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import pyopencl as cl
from rich.console import Console
from rich.table import Table

from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.opencl_bench.measure.coarsened import coarsened_kernels, devices_to_measure, expected_outputs, verify
from coarsen.opencl_bench.measure.speedup import Speedup, measure, median, speedup
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import SUITE, benchmark

BENCHMARKS = (
    *("sgemm", "mt", "mtLocal", "nbody", "floydWarshall", "reduce", "dwtHaar1D", "spmv", "blackscholes", "sobel"),
)
FACTORS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Cell:
    """One factor's median in milliseconds and its speed-up over the original."""

    milliseconds: float
    gain: Speedup

    def __str__(self) -> str:
        mark = "" if self.gain.significant or self.gain.ratio == 1 else "~"
        return f"{self.milliseconds:.2f} ({mark}{self.gain.ratio:.2f})"


def main() -> None:
    """Measure and print a table for each device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--preset", default="cpu", help="the benchmarks' sizes: test, cpu or paper (default cpu)")
    parser.add_argument("--repetitions", type=int, default=9, help="timed runs of each kernel (default 9)")
    parser.add_argument("--benchmarks", nargs="*", default=list(BENCHMARKS), choices=[*SUITE], metavar="NAME")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", cl.CompilerWarning)
    console = Console(width=140)
    for device in devices_to_measure():
        console.print(device_table(device, chosen.benchmarks, chosen.preset, chosen.repetitions))


def device_table(device: DeviceDescription, names: Sequence[str], preset: str, repetitions: int) -> Table:
    """Medians in milliseconds and speed-ups on one device, a row for each benchmark and dimension."""
    table = Table(title=f"{device.name} ({device.platform_name}): median in ms (speed-up; ~ if not significant)")
    table.add_column("benchmark")
    table.add_column("dimension", justify="right")
    for factor in FACTORS:
        table.add_column(f"factor {factor}", justify="right")
    context = cl.Context([open_device(device)])
    for name in names:
        for dimension in benchmark(name).dimensions:
            cells = measured_row(context, benchmark(name), dimension, preset, repetitions)
            table.add_row(name, str(dimension), *(str(cells.get(factor, "–")) for factor in FACTORS))
    return table


def measured_row(
    context: cl.Context, chosen: Benchmark, dimension: int, preset: str, repetitions: int
) -> dict[int, Cell]:
    """The factors that divide the preset's local size along the dimension, measured together.

    Raises:
        VerificationError: a kernel's results differ from the reference's.
    """
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    workload = chosen.workload(preset)
    size = min(launch.local_size[dimension] for launch in workload.launches)
    factors = [factor for factor in FACTORS if size % factor == 0]
    kernels = {str(factor): coarsened_kernels(context, chosen, factor, dimension) for factor in factors}
    verify(queue, workload, kernels, expected_outputs(queue, workload, kernels["1"]))
    samples = measure(queue, workload, kernels, repetitions)
    return {
        factor: Cell(median(samples[str(factor)]) / 1e6, speedup(samples["1"], samples[str(factor)]))
        for factor in factors
    }


if __name__ == "__main__":
    main()
