"""What it costs the host to pack and unpack the arrays of a configuration, and after how many runs that pays.

seconds to pack its arrays + to unpack those that it writes
────────────────────────────────────────────────────────────  =  runs of the job until it is faster in all
seconds of the baseline's job − seconds of its own
"""

from __future__ import annotations

import math
import time

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.frontend.lower import lower
from coarsen.pipeline import run_pipeline
from coarsen.runtime.layout import packed, unpacked
from coarsen.tuning.measure.laid_out import arrangements_of
from coarsen.tuning.measure.speedup import Conversion, median
from coarsen.tuning.processes.compile_service import build_options, code_of
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Variant


def conversion_of(benchmark: Benchmark, row: Measurement) -> Conversion:
    """Convert the arrays of a configuration once, on the host.

    Args:
        benchmark: what was measured.
        row: a correct measurement of a configuration whose arrays lie otherwise.

    Raises:
        InvalidInputError, RefusalError: the kernel is not what it was.
        LaunchError: its arrays can't be packed.
    """
    candidate, subject = row.candidate, row.subject
    workload = benchmark.workload(subject.preset, subject.seed, candidate.local_size, candidate.definitions)
    options = build_options(benchmark, candidate.definitions)
    made = run_pipeline(lower(benchmark.code, benchmark.kernel, options), Variant(arrays=candidate.arrays))
    code = code_of(CoarsenedKernel.of(made), "opencl_c", options)
    arrangements = arrangements_of(workload, code, workload.launches)
    start = time.perf_counter()
    arrays = {name: packed(workload.buffers[name], each) for name, each in arrangements.items()}
    for name in arrangements.keys() & set(workload.outputs):
        unpacked(arrays[name], arrangements[name])
    seconds = time.perf_counter() - start
    return Conversion(seconds, runs_until_it_pays(seconds, row))


def runs_until_it_pays(seconds: float, row: Measurement) -> int | None:
    """Return after how many runs of its job a conversion pays; None where the job is not faster.

    Args:
        seconds: of the conversion.
        row: a correct measurement.
    """
    gained = (median(row.baseline_nanoseconds) - median(row.nanoseconds)) / 1e9
    return max(1, math.ceil(seconds / gained)) if gained > 0 else None
