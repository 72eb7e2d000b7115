"""Measurements of small sweeps, to be stored and explored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.reporting.figures.samples import INTEL, POCL

BASELINE = Variant((64,))


def compared(factor: int, percent: int, **changes: Any) -> Measurement:  # noqa: ANN401 (fields of several types)
    """A comparison at a factor that takes so many per cent of the baseline's time; it failed where that is 0."""
    candidate = Variant((64,), (Coarsening(factor),)) if factor > 1 else BASELINE
    common = {"candidate": candidate, "baseline": BASELINE, "preset": "test"} | changes
    if not percent:
        return some_measurement(**{"invalidity": Invalidity.RUNTIME, "reason": "it crashed"} | common)
    baseline = tuple(1_000_000 + 100 * step for step in range(5))
    own = tuple(nanoseconds * percent // 100 for nanoseconds in baseline)
    return some_measurement(**{"nanoseconds": own, "baseline_nanoseconds": baseline} | common)


def two_devices() -> Iterator[Measurement]:
    """Two kernels on two devices: sgemm is twice as fast at factor 4 on one and at factor 2 on the other.

    nbody is never faster; on PoCL its factor 4 fails, and it was compared with the uncoarsened kernel only.
    """
    for place, best in ((POCL, 4), (INTEL, 2)):
        for factor in (1, 2, 4):
            percent = 100 if factor == 1 else (50 if factor == best else 80)
            yield compared(factor, percent, benchmark="sgemm", **place)
            slower = 0 if (place is POCL and factor == 4) else 100 + 25 * (factor - 1)
            yield compared(factor, slower, benchmark="nbody", oracle=CheckedAgainst.UNCOARSENED, **place)
