"""What it costs that a kernel is written anew: the source against OpenCL C written of it with nothing merged.

python -m coarsen.opencl_bench.studies.rewritten_kernels --device NAME [--preset cpu] [KERNEL …]

    source ─▶ clang ─▶ LLVM IR, in normal form ─▶ OpenCL C ─▶ the device's compiler
    source ──────────────────────────────────────────────────▶ the device's compiler

Both run in turns on the same buffers. A ratio of 1 says that what is measured of coarsened kernels is coarsening,
not the way there and back.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.selection import find_device
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.measure.machine import Machine
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine
from coarsen.opencl_bench.measure.speedup import Speedup, median, speedup
from coarsen.opencl_bench.measure.timing import TimedRun, interleaved
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_tables import show
from coarsen.opencl_bench.sweep.compile_service import build_options, code_of, original_code
from coarsen.opencl_bench.sweep.device_lock import device_lock
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark, records
from coarsen.pipeline import carry_out
from coarsen.variant.variant import Variant

METHOD = Method(repetitions=25, minimum_repetitions=25, warm_up=3)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A kernel's times.

    Attributes:
        name: of the benchmark.
        seconds: of the source, the median.
        gain: of what is written anew over the source, with its interval.
    """

    name: str
    seconds: float
    gain: Speedup


def codes_of(benchmark: Benchmark) -> tuple[Code, Code]:
    """Return a benchmark's source, and OpenCL C written of it, both with its own macros."""
    definitions = benchmark.own_definitions
    original = original_code(benchmark, definitions, benchmark.source)
    options = build_options(benchmark, definitions)
    made = carry_out(lower(benchmark.code, benchmark.kernel, options), Variant())
    written = code_of(CoarsenedKernel.of(made), "opencl_c", options)
    return original, replace(written, others=(original,) if benchmark.other_kernels else ())


def measured(machine: Machine, names: Sequence[str], preset: str, method: Method = METHOD) -> Iterator[Rewritten]:
    """Yield the times of kernels.

    Args:
        machine: where.
        names: of benchmarks.
        preset: of their sizes.
        method: how many runs.

    Raises:
        InvalidInputError: no such benchmark or preset.
        BuildError, LaunchError: the device refuses one.
    """
    for name in names:
        benchmark = find_benchmark(name)
        executor = machine.place(benchmark.workload(preset, 0))
        variant = Variant(benchmark.preset(preset).local_size, (), benchmark.own_definitions)
        source, written = (
            TimedRun(executor, executor.load(code, variant), method) for code in codes_of(benchmark)
        )
        timed = interleaved(source, written, method)
        yield Rewritten(name, median(timed.baseline) / 1e9, speedup(timed.baseline, timed.candidate))


def main(words: Sequence[str] | None = None) -> int:
    """Print a line for each kernel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kernels", nargs="*", help="the seventeen and those on records if none is named")
    parser.add_argument("--device", required=True, help="an index (0:1) or any part of the name")
    parser.add_argument("--preset", default="cpu", help="of the sizes (default cpu)")
    asked = parser.parse_args(words)
    device = find_device(asked.device)
    with device_lock(device):
        found = measured(OpenClMachine(device), asked.kernels or [*SUITE, *records()], asked.preset)
        rows = (
            [
                each.name,
                f"{1e3 * each.seconds:.4g}",
                f"{1 / each.gain.ratio:.3f} ({1 / each.gain.high:.3f}–{1 / each.gain.low:.3f})",
            ]
            for each in found
        )
        show(["kernel", "source, ms", "written anew over source"], rows)
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
