"""The best variant whose arrays lie otherwise: what converting them costs the host, after how many runs that pays.

seconds to pack its arrays + to unpack those that it writes
──────────────────────────────────────────────────────────── =  runs of the job until it is faster in all
               seconds gained by each run
"""

from __future__ import annotations

import math
import time

from coarsen.runtime.layout import packed, unpacked
from coarsen.tuning.engine.finalists import Confirmed, decide
from coarsen.tuning.measure.laid_out import arrangements_of
from coarsen.tuning.measure.speedup import Speedup, median
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.tuned import Conversion, Decision, LaidOutChoice
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Variant


def laid_out_choice(
    confirmed: Confirmed, own: Variant, plain: Decision, benchmark: Benchmark
) -> LaidOutChoice | None:
    """Return the best of those whose arrays lie otherwise; None where none is faster than the launch as it was.

    Args:
        confirmed: the rows of each variant that was timed again.
        own: the launch as it was.
        plain: what was chosen of the variants whose arrays lie as written.
        benchmark: whose arrays are converted once, to see what that takes.

    Raises:
        InvalidInputError, RefusalError: the kernel is not what it was.
        LaunchError: its arrays can't be packed.
    """
    decision = decide({variant: rows for variant, rows in confirmed.items() if variant.arrays}, own)
    if not decision.processes:
        return None
    own_seconds, speedup, without = decision.nanoseconds[0] / 1e9, decision.speedup, plain.speedup.ratio
    gained = gained_beside(own_seconds, speedup, without)
    conversion = conversion_of(benchmark, confirmed[decision.choice][-1], gained)
    return LaidOutChoice(decision.choice, speedup, own_seconds, without, conversion)


def gained_beside(own_seconds: float, speedup: Speedup, without: float) -> float:
    """Return the seconds that each run gains; 0 where the variant isn't clearly the faster one.

    Args:
        own_seconds: a run of the launch as it is.
        speedup: over that, of the variant whose arrays are converted.
        without: likewise of the best variant without.
    """
    return own_seconds / without - own_seconds / speedup.ratio if speedup.low > without else 0.0


def conversion_of(benchmark: Benchmark, row: Measurement, gained: float | None = None) -> Conversion:
    """Convert the arrays of a configuration once, on the host.

    Args:
        benchmark: what was measured.
        row: a correct measurement of a configuration whose arrays lie otherwise.
        gained: the seconds that each run of its job gains; as many as over its baseline if None.

    Raises:
        InvalidInputError, RefusalError: the kernel is not what it was.
        LaunchError: its arrays can't be packed.
    """
    # Imported late: they load the whole compiler, and few variants have other layouts.
    from coarsen.frontend.lower import lower
    from coarsen.pipeline import run_pipeline
    from coarsen.tuning.processes.compile_service import build_options, code_of

    candidate, subject = row.candidate, row.subject
    workload = benchmark.workload(subject.preset, subject.seed, candidate.local_size, candidate.definitions)
    options = build_options(benchmark, candidate.definitions)
    made = run_pipeline(lower(benchmark.code, benchmark.kernel, options), Variant(arrays=candidate.arrays))
    code = code_of(made, "opencl_c", options)
    arrangements = arrangements_of(workload, code, workload.launches)
    start = time.perf_counter()
    arrays = {name: packed(workload.buffers[name], each) for name, each in arrangements.items()}
    for name in arrangements.keys() & set(workload.outputs):
        unpacked(arrays[name], arrangements[name])
    seconds = time.perf_counter() - start
    if gained is None:
        gained = (median(row.baseline_nanoseconds) - median(row.nanoseconds)) / 1e9
    return Conversion(seconds, runs_until_it_pays(seconds, gained))


def runs_until_it_pays(seconds: float, gained: float) -> int | None:
    """Return after how many runs of a job a conversion pays; None where it never does.

    Args:
        seconds: of the conversion.
        gained: seconds, by each run.
    """
    return max(1, math.ceil(seconds / gained)) if gained > 0 else None
