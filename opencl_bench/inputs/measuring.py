"""Measures versions of a kernel at several inputs, which are presets of one benchmark, and reads the rows.

inputs × versions ──▶ rows in the store, each a version against the default one at the same input, in one process
    ──▶ ratio × the default version's time at that input ──▶ seconds; NaN where the version failed, and how it did

Code is compiled once for all inputs. A row that the store has already is not measured again, so that what was
killed goes on where it was.

a version is wrong at an input       ──▶ it is shipped for none
the default version is wrong at one  ──▶ the tuning ends: all others are compared with it, or fall back to it
two versions have one code and the same launches at every input ──▶ the first alone: their difference is noise
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.models.inputs.times import Ending, InputPoint, VersionTimes
from coarsen.opencl_bench.sweep.engine import compiler_of, name_of, opened_context
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.observer import CollectingObserver, SweepObserver
from coarsen.tuning.engine.plan import Space, SweepPlan, limits_of, points
from coarsen.tuning.engine.row_measurer import SweepContext
from coarsen.tuning.engine.rows import measure_points
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Method
from coarsen.tuning.store.database import Store
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.variant import Variant

NANOSECONDS_PER_SECOND = 1e9
# Device limits that a dispatcher has asked for when it built the versions; in OpenCL's words and in CUDA's.
_REFUSED_LAUNCH = re.compile(r"INVALID_WORK_(GROUP|ITEM)_SIZE|LAUNCH_OUT_OF_RESOURCES")
# A compiler that is killed takes the process with it, which is no refusal.
_DIED = re.compile(r"^while compiling, |^the process ")
# This many inputs are named where there are more.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class VersionsPlan:
    """The measurement of versions of one benchmark on one device.

    Attributes:
        benchmark: a name, or the path of a TOML file.
        device: what a person calls it.
        presets: the inputs, in the order in which they are measured.
        versions: what is measured at each; the default is added where it isn't there.
        default: the version that others are compared with and timed against, of the source's own macros and local
            size.
        method: how it is measured.
    """

    benchmark: str | Path
    device: str
    presets: tuple[str, ...]
    versions: tuple[Variant, ...]
    default: Variant
    method: Method = field(default_factory=Method)


def measure_versions(
    plan: VersionsPlan,
    store: Store,
    observer: SweepObserver | None = None,
    again: Remeasure = Remeasure.NOTHING,
    pool: CompilePool | None = None,
) -> CollectingObserver:
    """Measure every version at every input that the store doesn't have yet; where the default fails, no other.

    Args:
        plan: what to measure, where and how.
        store: where the rows go, one committed transaction each.
        observer: sees rows as they come.
        again: which stored rows are measured once more.
        pool: the processes that compile and measure; some of its own if None.

    Returns:
        The rows of all inputs, stored before or measured now.

    Raises:
        InvalidInputError: no such benchmark or preset; a default version that is coarsened, or doesn't compile.
        DeviceError: no such device; it can't be opened (any more).
    """
    collector = CollectingObserver(observer or SweepObserver())
    versions = Space(variants=tuple(dict.fromkeys(plan.versions)))
    with opened_inputs(plan, store, pool) as (benchmark, device, opened):
        for preset in dict.fromkeys(plan.presets):
            with opened(preset, collector, again) as context:
                measure_points(context, points(benchmark, preset, versions, limits_of(device)))
    return collector


def sweep_plan(plan: VersionsPlan, preset: str) -> SweepPlan:
    """Return the plan of a sweep at one input, but for its space."""
    return SweepPlan(plan.benchmark, plan.device, preset, method=plan.method, confirms=False)


# Opens what an input is measured with, by its preset; one at a time.
Opened = Callable[[str, SweepObserver, Remeasure], AbstractContextManager[SweepContext]]


@contextmanager
def opened_inputs(
    plan: VersionsPlan, store: Store, pool: CompilePool | None = None
) -> Iterator[tuple[Benchmark, DeviceDescription, Opened]]:
    """Provide what a plan names, and what its inputs are measured with: the same processes, code compiled once.

    Args:
        plan: what to measure, where and how.
        store: where the rows go.
        pool: the processes that compile and measure; some of its own if None.

    Raises:
        InvalidInputError, DeviceError: as `measure_versions` does.
    """
    if plan.default.is_coarsened:
        raise InvalidInputError(f"the default version is the source as it is, not {plan.default}")
    first = sweep_plan(plan, "")
    benchmark, device = find_benchmark(name_of(first)), find_device(plan.device)
    for preset in plan.presets:
        benchmark.preset(preset)
    with (
        CompilePool() if pool is None else nullcontext(pool) as processes,
        compiler_of(first, device, processes) as compiler,
    ):

        def opened(preset: str, observer: SweepObserver, again: Remeasure) -> AbstractContextManager[SweepContext]:
            own = sweep_plan(plan, preset)
            return opened_context(
                own, benchmark, device, store, observer, again, processes, plan.default, compiler
            )

        yield benchmark, device, opened


def measured_times(
    rows: Iterable[Measurement], inputs: Iterable[InputPoint], versions: Sequence[Variant], default: Variant
) -> tuple[VersionTimes, dict[str, str]]:
    """Return the matrix of the rows of one measurement; of a row that was measured twice, the newer one counts.

    Args:
        rows: of these versions at these inputs, each compared with the default; others are passed over.
        inputs: the name of each is the preset.
        versions: the columns, the default among them.
        default: the version that they were compared with.

    Returns:
        The times of the inputs at which the default version runs, and the others' names, each with why it doesn't.

    Raises:
        InvalidInputError: the default runs at no input.
    """
    newest = {(row.subject.preset, row.candidate): row for row in sorted(rows, key=lambda row: row.started_at)}
    runs, left_out = [], {}
    for point in inputs:
        row = newest[point.name, default]
        if row.invalidity is Invalidity.CORRECT:
            runs.append(point)
        else:
            left_out[point.name] = f"{row.invalidity}: {row.reason}"
    if not runs:
        raise InvalidInputError(
            f"the default version runs at no input: {next(iter(left_out.values()), 'none given')}"
        )
    found = [[newest[point.name, version] for version in versions] for point in runs]
    seconds = [
        [_seconds(newest[point.name, default]) * _ratio(row) for row in own]
        for point, own in zip(runs, found, strict=True)
    ]
    endings = np.array([[_ending(row) for row in own] for own in found], dtype=np.int8)
    times = VersionTimes(tuple(runs), tuple(versions), np.array(seconds), versions.index(default), endings)
    return times, left_out


def _seconds(default: Measurement) -> float:
    """The time of the default version, which was timed against itself."""
    return median([*default.nanoseconds, *default.baseline_nanoseconds]) / NANOSECONDS_PER_SECOND


def _ratio(row: Measurement) -> float:
    """The time of a version as a ratio to the default's; of the default itself 1, NaN where it failed."""
    if row.invalidity is not Invalidity.CORRECT:
        return math.nan
    return 1.0 if row.candidate == row.baseline else median(row.nanoseconds) / median(row.baseline_nanoseconds)


_ENDINGS = {
    Invalidity.CORRECT: Ending.RAN,
    Invalidity.CORRECTNESS: Ending.WRONG,
    Invalidity.CONSTRAINTS: Ending.FELL_BACK,
}


def _ending(row: Measurement) -> Ending:
    """The ending of a row.

    What breaks a constraint, is not compiled, or has a work-group that the device refuses falls back. What took
    too long, also to compile, failed: nothing says so before it is done.
    """
    is_refused = (row.invalidity is Invalidity.COMPILE and not _DIED.search(row.reason)) or (
        row.invalidity is Invalidity.RUNTIME and _REFUSED_LAUNCH.search(row.reason)
    )
    return _ENDINGS.get(row.invalidity, Ending.FELL_BACK if is_refused else Ending.FAILED)


def without_repeated(
    versions: Sequence[Variant], rows: Iterable[Measurement], benchmark: Benchmark
) -> tuple[Variant, ...]:
    """Return versions without those that repeat an earlier one.

    Args:
        versions: in the order of preference.
        rows: of the versions at inputs, which have the hashes of their codes.
        benchmark: what was measured.
    """
    codes: dict[Variant, dict[str, str]] = {version: {} for version in versions}
    for row in rows:
        if row.candidate in codes:
            codes[row.candidate][row.subject.preset] = row.code_hash
    groups: dict[object, list[Variant]] = {}
    for version in versions:
        key = (replace(version, definitions=()), tuple(sorted(codes[version].items())))
        known = groups.setdefault(key, [])
        if not any(_is_repeated(codes[version], version, other, benchmark) for other in known):
            known.append(version)
    kept = {version for group in groups.values() for version in group}
    return tuple(version for version in versions if version in kept)


def _is_repeated(codes: Mapping[str, str], version: Variant, other: Variant, benchmark: Benchmark) -> bool:
    """Return True if two versions of the same codes have the same launches at all inputs."""
    if not codes or not all(codes.values()):
        return False
    try:
        return all(
            repr(_launches(benchmark, preset, version)) == repr(_launches(benchmark, preset, other))
            for preset in codes
        )
    except InvalidInputError:
        return False


def _launches(benchmark: Benchmark, preset: str, version: Variant) -> object:
    return benchmark.launches(preset, version.local_size, version.definitions)


def with_wrong_results(rows: Iterable[Measurement]) -> dict[Variant, str]:
    """Name the versions that had wrong results at any input: these are shipped for none.

    Args:
        rows: of some versions on some inputs.

    Returns:
        Each with where and why.
    """
    return {row.candidate: f"{_where(row)}: {row.reason}" for row in rows if _is_wrong(row)}


def check_default(rows: Iterable[Measurement], default: Variant) -> None:
    """Check that the default version has no wrong results.

    Args:
        rows: of some versions on some inputs.
        default: the version that others are compared with.

    Raises:
        VerificationError: it has: with a reference, other results; else others the second time, or it writes
            outside of a buffer.
    """
    wrong = {_where(row): row for row in rows if row.candidate == default and _is_wrong(row)}
    if not wrong:
        return
    first = next(iter(wrong.values()))
    where = ", ".join([*wrong][:_NAMED])
    more = f" and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    judge = "the reference" if first.oracle is CheckedAgainst.REFERENCE else "its arguments"
    raise VerificationError(
        f"{first.subject.benchmark}: the default version, {default}, has wrong results at {where}{more}: "
        f"{first.reason}; others are compared with it, so correct the kernel, {judge} or the tolerances, or leave "
        "such inputs out"
    )


def _where(row: Measurement) -> str:
    return f"{row.subject.preset}, caches flushed" if row.method.cold_cache else row.subject.preset


def _is_wrong(row: Measurement) -> bool:
    return row.invalidity is Invalidity.CORRECTNESS
