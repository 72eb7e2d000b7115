"""From measured launches to what the launch model learns from: each kernel is lowered once, its work is planned.

measured launches ─▶ by kernel ─▶ lowered, planned at each launch's sizes, in several processes ─▶ LaunchCase
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coarsen.base.processes import mapped
from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes
from coarsen.errors import CoarsenError, InvalidInputError, RefusalError
from coarsen.features.feature_table import kernel_identity
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, known_descriptor
from coarsen.models.examples import family_of
from coarsen.models.flat_forest import Array
from coarsen.models.held_out import refuse_judge
from coarsen.models.launch.case import LaunchCase, launch_inputs
from coarsen.models.launch.device import launch_device
from coarsen.models.launch.planning import PlannedLaunch, WorkPlanner
from coarsen.opencl_bench.results.best import newest_versions, seconds_of
from coarsen.opencl_bench.results.measured_curves import read_rows
from coarsen.opencl_bench.workloads.lookup import find_measured
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.launch_prior import sizes_of_launch
from coarsen.tuning.records.code import FORMS
from coarsen.tuning.records.measurement import Measurement, Role
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
from coarsen.variant.variant import Variant


@dataclass(frozen=True)
class LaunchCases:
    """Cases, and in a sentence each what was left out."""

    cases: tuple[LaunchCase, ...]
    notes: tuple[str, ...] = ()


# The folder that may describe a kernel, and the kernel's measured launches.
_Wanted = tuple[Path | None, Sequence["MeasuredLaunches"]]


def read_launch_cases(
    sources: Sequence[str], kernels: Path | None = None, processes: int | None = None, *, learned: bool = False
) -> LaunchCases:
    """Return the cases of files or stores of results, each of which is a run of its own.

    Args:
        sources: files of results, stores, or names of sweeps that come with the package.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        processes: how many plan work; see `processes.mapped`.
        learned: whether something is learned from them: their runs become one, and the second judge is refused.

    Raises:
        InvalidInputError: a source can't be read, or a kernel is not known; one of the second judge that is to be
            learned from.
    """
    measured = measured_launches([read_rows(source) for source in sources], joined=learned)
    if learned:
        refuse_judge(case.kernel for case in measured)
    return launch_cases(measured, kernels, processes)


def launch_cases(
    measured: Sequence[MeasuredLaunches], kernels: Path | None = None, processes: int | None = None
) -> LaunchCases:
    """Return the cases of measured launches. Arguments and errors as those of `read_launch_cases`."""
    by_kernel: defaultdict[str, list[MeasuredLaunches]] = defaultdict(list)
    for case in measured:
        by_kernel[case.kernel].append(case)
    wanted = [(kernels, found) for found in by_kernel.values()]
    results = mapped(_cases, wanted, processes)
    cases = tuple(case for found in results for case in found if isinstance(case, LaunchCase))
    notes = [case for found in results for case in found if isinstance(case, str)]
    return LaunchCases(cases, tuple(dict.fromkeys(notes)))


def _cases(wanted: _Wanted) -> list[LaunchCase | str]:
    folder, launches = wanted
    name = launches[0].kernel
    benchmark = find_measured(name, folder)
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.own_options)
        planner = WorkPlanner(PlannedKernel(kernel))
    except RefusalError as refusal:
        return [f"{name} can't be coarsened: {refusal}"]
    return [_case(benchmark, kernel, planner, measured) for measured in launches]


def _case(
    benchmark: Benchmark, kernel: Kernel, planner: WorkPlanner, measured: MeasuredLaunches
) -> LaunchCase | str:
    device = launch_device(DEVICE_DESCRIPTORS[measured.device])
    try:
        planned = _planned(benchmark, kernel, planner, measured)
        inputs = launch_inputs(planned, device)
    except (InvalidInputError, RefusalError) as error:
        return f"{measured.kernel} at {measured.preset} on {measured.device} is left out: {error}"
    times = dict(zip(measured.variants, measured.log_times, strict=True))
    errors = dict(zip(measured.variants, measured.errors.max(axis=1).tolist(), strict=True))
    own = Variant(benchmark.preset(measured.preset).local_size, definitions=benchmark.own_definitions)
    places = {variant: place for place, variant in enumerate(planned)}
    return LaunchCase(
        kernel=measured.kernel,
        identity=kernel_identity(kernel),
        family=benchmark.family or family_of(measured.kernel),
        mechanisms=benchmark.mechanisms,
        device=measured.device,
        size=measured.preset,
        inputs=inputs,
        log_times=np.array([times[variant] for variant in planned]),
        own=places.get(own),
        errors=np.array([errors[variant] for variant in planned]),
    )


def _planned(
    benchmark: Benchmark, kernel: Kernel, planner: WorkPlanner, measured: MeasuredLaunches
) -> Mapping[Variant, PlannedLaunch]:
    """The work of the launches with a time in some run; without those that the planner refuses."""
    found: dict[Variant, PlannedLaunch] = {}
    launches: dict[LocalSize, tuple[LaunchSizes, Mapping[str, int]]] = {}
    ran = np.flatnonzero(np.isfinite(measured.log_times).any(axis=1))
    for variant in (measured.variants[place] for place in ran):
        if variant.definitions != benchmark.own_definitions or (variant.is_rewritten and not variant.is_coarsened):
            continue
        if variant.local_size not in launches:
            launches[variant.local_size] = sizes_of_launch(benchmark, kernel, measured.preset, variant.local_size)
        try:
            found[variant] = planner.planned(variant, *launches[variant.local_size])
        except CoarsenError:
            if not variant.is_coarsened:
                raise
    bases = {variant for variant in found if not variant.is_coarsened}
    return {variant: each for variant, each in found.items() if variant.uncoarsened() in bases}


# Measured launches of a kernel at one size on one device, with their log times, of one run or several.
#
#   rows of each file ─▶ one environment and baseline for each (kernel, preset, device) ─▶ log time of each variant
#
# All rows of a run were timed against one baseline, so their speed-ups over it compare. A file is a run of its
# own: where several have the same case, its launches have a log time in each. A launch that was given up, since it
# took more than ten times the best so far, has `GIVEN_UP`; one that could not run has none.

# The log time over the baseline's of what took too long.
GIVEN_UP = math.log(10.0)

# A kernel, a preset and a device's name.
Place = tuple[str, str, str]


@dataclass(frozen=True)
class MeasuredLaunches:
    """The launches of a kernel at one size on one device.

    Attributes:
        kernel: its name in the data.
        preset: the name of its size.
        device: a name of `device_descriptors`.
        variants: the launches, (n,).
        log_times: natural logarithms, relative to one launch of each run, (n, runs); NaN where one has no time.
        errors: their standard errors, (n, runs), 0 where they are not known.
    """

    kernel: str
    preset: str
    device: str
    variants: tuple[Variant, ...]
    log_times: Array
    errors: Array


# A log time and its standard error.
_Timed = tuple[float, float]
_UNTIMED: _Timed = (math.nan, 0.0)


def measured_launches(
    runs: Sequence[Iterable[Measurement]], *, joined: bool = False
) -> tuple[MeasuredLaunches, ...]:
    """Return the launches of all kernels, presets and known devices in some runs.

    A case is left out that has no uncoarsened launch with a time in each of its runs.

    Args:
        runs: rows of any kernels, devices and roles; only comparisons count.
        joined: whether runs become one, in which a launch has the mean of its log times.
    """
    found: defaultdict[Place, list[Mapping[Variant, _Timed]]] = defaultdict(list)
    for rows in runs:
        for place, times in _of_run(rows).items():
            found[place].append(times)
    cases = [_measured_case(place, times) for place, times in found.items()]
    # Relative to the uncoarsened launches: each run was timed against a baseline of its own.
    known = tuple(
        replace(case, log_times=case.log_times - case.log_times[bases].mean(axis=0))
        for case in cases
        if (bases := _common_baselines(case)).any()
    )
    return tuple(map(_as_one_run, known)) if joined else known


def _of_run(rows: Iterable[Measurement]) -> Mapping[Place, Mapping[Variant, _Timed]]:
    newest, _ = newest_versions(rows)
    groups: defaultdict[Place, list[Measurement]] = defaultdict(list)
    for row in newest:
        descriptor = known_descriptor(row.environment.device, row.environment.platform)
        if row.role is Role.COMPARISON and descriptor is not None:
            groups[row.subject.benchmark, row.subject.preset, descriptor.name].append(row)
    return {place: _log_times(found) for place, found in groups.items()}


def _log_times(rows: Sequence[Measurement]) -> Mapping[Variant, _Timed]:
    best = min(FORMS.index(row.environment.form) for row in rows)
    in_form = [row for row in rows if row.environment.form == FORMS[best]]
    latest = max(in_form, key=lambda row: seconds_of(row.started_at))
    alike = [row for row in in_form if _where(row) == _where(latest)]
    baseline, _ = Counter(row.baseline for row in alike).most_common(1)[0]
    ordered = sorted(alike, key=lambda row: seconds_of(row.started_at))
    return {row.candidate: _log_time(row) for row in ordered if row.baseline == baseline}


def _where(row: Measurement) -> tuple[object, ...]:
    return row.environment.driver_version, row.environment.compute_units, row.method.cold_cache


def _log_time(row: Measurement) -> _Timed:
    if row.is_given_up_as_slow:
        return GIVEN_UP, 0.0
    gain = speedup_of(row, interval=False)
    if gain is None or not gain.ratio > 0:
        return _UNTIMED
    ratios = np.log(np.array(row.nanoseconds) / np.array(row.baseline_nanoseconds))
    return -math.log(gain.ratio), float(ratios.std() / math.sqrt(len(ratios)))


def _measured_case(place: Place, runs: Sequence[Mapping[Variant, _Timed]]) -> MeasuredLaunches:
    every = dict.fromkeys(variant for times in runs for variant in times)
    variants = tuple(each for each in every if each.local_size and not each.any_size and not each.arrays)
    found = np.array([[run.get(variant, _UNTIMED) for run in runs] for variant in variants])
    times, errors = found.reshape(-1, len(runs), 2).transpose(2, 0, 1)
    return MeasuredLaunches(*place, variants, times, errors)


def _common_baselines(case: MeasuredLaunches) -> NDArray[np.bool_]:
    """Return which launches are uncoarsened and have a time in every run, (n,)."""
    uncoarsened = np.array([not variant.is_coarsened for variant in case.variants], dtype=np.bool_)
    return np.asarray(uncoarsened & np.isfinite(case.log_times).all(axis=1))


def _as_one_run(case: MeasuredLaunches) -> MeasuredLaunches:
    known = np.isfinite(case.log_times)
    sums = np.where(known, case.log_times, 0.0).sum(axis=1)
    counts = known.sum(axis=1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return replace(case, log_times=means[:, None], errors=case.errors.max(axis=1, keepdims=True))
