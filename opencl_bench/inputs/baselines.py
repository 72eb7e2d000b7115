"""What is measured beside the versions of a tuned file, by which nothing is chosen; the file reports it.

kernel(queue, global_size, None, …)     the default version, its local size left to the driver: its choice may
                                        be better than the source's, and a gain over a poor size is no gain
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from coarsen.analysis.whole_groups import groups_matter
from coarsen.errors import RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import compile_source, lower
from coarsen.models.inputs.times import Ending, VersionTimes
from coarsen.opencl_bench.inputs.evidence import LeftOpenTimes
from coarsen.opencl_bench.inputs.measuring import measured_times
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """The baseline of a kernel.

    Attributes:
        variant: the default version without a local size; None where there is no such launch.
        reason: why there is none; empty where there is.
    """

    variant: Variant | None
    reason: str = ""

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Return what is to be measured: one variant, or none."""
        return () if self.variant is None else (self.variant,)


def left_open(benchmark: Benchmark, preset: str, default: Variant, macros: DeviceMacros = PORTABLE) -> LeftOpen:
    """Return the default version with its local size left to the driver, where any local size is right.

    Args:
        benchmark: whose kernels the default version launches.
        preset: any of its inputs.
        default: the default version.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError: the source doesn't compile.
    """
    if not default.local_size:
        return LeftOpen(None, "the default version has no local size of its own")
    if not benchmark.buffers_fit_any_local_size:
        return LeftOpen(None, "the buffers depend on the local size")
    launches = benchmark.launches(preset, default.local_size, default.definitions)
    try:
        unit = compile_source(benchmark.code, benchmark.own_options, macros)
        kernels = dict.fromkeys(launch.kernel for launch in launches)
        caring = [name for name in kernels if groups_matter(lower(unit, name))]
    except RefusalError as error:
        return LeftOpen(None, f"the kernel can't be read: {error}")
    if caring:
        return LeftOpen(None, f"it matters to {caring[0]} which work-items are in one work-group")
    return LeftOpen(replace(default, local_size=()))


def left_open_times(
    rows: Iterable[Measurement], baseline: LeftOpen, default: Variant, times: VersionTimes
) -> LeftOpenTimes:
    """Return the times of the baseline at the inputs of a matrix.

    Args:
        rows: those of the matrix, and of the baseline.
        baseline: what was measured.
        default: the version that it was compared with.
        times: the matrix.
    """
    if baseline.variant is None:
        return LeftOpenTimes(reason=baseline.reason)
    found = measured_times(rows, times.inputs, (default, baseline.variant), default).times
    seconds, endings = found.seconds[:, 1], found.endings[:, 1]
    wrong = np.flatnonzero(endings == Ending.WRONG).tolist()
    if wrong:
        return LeftOpenTimes(reason=f"its results are wrong at {times.inputs[wrong[0]].name}")
    return LeftOpenTimes(tuple(seconds.tolist()), tuple(endings.tolist()))
