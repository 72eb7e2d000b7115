"""Checks a tuned file with cold caches.

Small inputs stay in the caches between timed runs; in a program they may not.

    the file's versions, at the least, the middle and the largest input by the default version's time
        ──▶ caches flushed before every timed run ──▶ which version is the fastest then

Nothing is chosen by these times; the file keeps them, and they are told beside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.models.inputs.anchors import anchor_rows
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.cold_times import ColdTimes
from coarsen.opencl_bench.inputs.matrix import TimesRequest, measured_times
from coarsen.opencl_bench.inputs.measuring import MeasuredVersions, VersionsPlan, measure_versions
from coarsen.opencl_bench.inputs.wrong_results import check_default, with_wrong_results
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.opencl_bench.sweep.observer import SweepObserver
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class ColdCheck:
    """What a check found.

    Attributes:
        times: with cold caches.
        wrong: versions that had wrong results, each with where and why.
    """

    times: ColdTimes
    wrong: dict[Variant, str]


@dataclass(frozen=True, slots=True)
class ColdChecker:
    """Times versions with cold caches.

    Attributes:
        benchmark: the kernel's.
        plan: where and how it was tuned; its versions, inputs and caches are not looked at.
        store: where the rows go.
        observer: sees them as they come.
        pool: the processes that compile and measure.
    """

    benchmark: Benchmark
    plan: VersionsPlan
    store: Store
    observer: SweepObserver
    pool: CompilePool

    def check(self, file: TunedFile, warm: VersionTimes) -> ColdCheck:
        """Time a file's versions at three inputs.

        Args:
            file: what is checked.
            warm: the times that it was made from.

        Raises:
            InvalidInputError, DeviceError: as `measure_versions` does.
            VerificationError: the default version has wrong results with flushed caches.
        """
        points = cold_points(warm)
        versions = tuple(version.variant for version in file.versions)
        found = measure_versions(
            replace(
                self.plan,
                presets=tuple(point.name for point in points),
                versions=versions,
                method=replace(self.plan.method, cold_cache=True),
            ),
            self.store,
            self.observer,
            pool=self.pool,
        )
        check_default(found.rows, self.plan.default)
        return ColdCheck(self._times(found, points, versions), with_wrong_results(found.rows))

    def _times(
        self, found: MeasuredVersions, points: tuple[InputPoint, ...], versions: tuple[Variant, ...]
    ) -> ColdTimes:
        """Return the times of the versions at the inputs where the default one runs."""
        runs = tuple(point for point in points if point.name not in found.problems)
        if not runs:
            return ColdTimes((), (), (), found.problems)
        asked = TimesRequest(self.benchmark.name, runs, versions, self.plan.default, self.plan.seed)
        return ColdTimes.of(measured_times(found.rows, asked).times, found.problems)


def cold_points(warm: VersionTimes) -> tuple[InputPoint, ...]:
    """Return the inputs to check: the least, the middle and the largest by the default version's time."""
    rows = anchor_rows(warm.seconds[:, warm.default].tolist())
    return tuple(warm.inputs[row] for row in rows)
