"""The best variant of a launch whose arrays lie otherwise, and what converting them costs.

time of the best variant without            ─┐
time of the best variant with its arrays    ─┴▶ gained by each run
packing and unpacking, measured on the host ──▶ after how many runs on the same data that is earned
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from coarsen.opencl_bench.measure.speedup import Conversion, Speedup
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.sweep.conversion import conversion_of
from coarsen.opencl_bench.tuning.finalists import decide
from coarsen.opencl_bench.tuning.tuned import Decision, LaidOutChoice
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.variant.variant import Variant

Confirmed = Mapping[Variant, Sequence[Measurement]]


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
    own_seconds = decision.nanoseconds[0] / 1e9
    taken = conversion_of(benchmark, confirmed[decision.choice][-1]).seconds
    runs = runs_until_it_pays(taken, own_seconds, decision.speedup, plain.speedup.ratio)
    conversion = Conversion(taken, runs)
    return LaidOutChoice(decision.choice, decision.speedup, own_seconds, plain.speedup.ratio, conversion)


def runs_until_it_pays(seconds: float, own_seconds: float, speedup: Speedup, without: float) -> int | None:
    """Return after how many runs a conversion is earned; None where its variant isn't clearly the faster one.

    Args:
        seconds: of the conversion.
        own_seconds: a run of the launch as it was.
        speedup: over that, of the variant whose arrays are converted.
        without: likewise of the best variant without.
    """
    if speedup.low <= without:
        return None
    gained = own_seconds / without - own_seconds / speedup.ratio
    return max(1, math.ceil(seconds / gained)) if gained > 0 else None
