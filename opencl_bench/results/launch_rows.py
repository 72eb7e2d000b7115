"""Measured launches of a kernel at one size on one device, with their log times, of one run or several.

    rows of each file ─▶ one environment and baseline for each (kernel, preset, device) ─▶ log time of each variant

All rows of a run were timed against one baseline, so their speed-ups over it compare. A file is a run of its own:
where several have the same case, its launches have a log time in each. A launch that was given up, since it took
more than ten times the best so far, has `GIVEN_UP`; one that could not run has none.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coarsen.models.device_descriptors import known_descriptor
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.records.code import FORMS
from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.results.best import seconds_of
from coarsen.opencl_bench.results.speedups import speedup_of
from coarsen.opencl_bench.results.versions import newest_versions
from coarsen.variant.variant import Variant

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


@dataclass(frozen=True, slots=True)
class _Timed:
    """A log time and its standard error."""

    log_time: float
    error: float


_UNTIMED = _Timed(math.nan, 0.0)


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
    cases = [_case(place, times) for place, times in found.items()]
    known = tuple(_aligned(case) for case in cases if _common_baselines(case).any())
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
        return _Timed(GIVEN_UP, 0.0)
    gain = speedup_of(row, interval=False)
    if gain is None or not gain.ratio > 0:
        return _UNTIMED
    ratios = np.log(np.array(row.nanoseconds) / np.array(row.baseline_nanoseconds))
    return _Timed(-math.log(gain.ratio), float(ratios.std() / math.sqrt(len(ratios))))


def _case(place: Place, runs: Sequence[Mapping[Variant, _Timed]]) -> MeasuredLaunches:
    variants = tuple(dict.fromkeys(variant for times in runs for variant in times if _is_plain(variant)))
    found = [[run.get(variant, _UNTIMED) for run in runs] for variant in variants]
    times, errors = (
        np.array([[getattr(timed, name) for timed in row] for row in found]).reshape(-1, len(runs))
        for name in ("log_time", "error")
    )
    return MeasuredLaunches(*place, variants, times, errors)


def _is_plain(variant: Variant) -> bool:
    return bool(variant.local_size) and not variant.any_size and not variant.arrays


def _common_baselines(case: MeasuredLaunches) -> NDArray[np.bool_]:
    """Return which launches are uncoarsened and have a time in every run, (n,)."""
    uncoarsened = np.array([not variant.is_coarsened for variant in case.variants], dtype=np.bool_)
    return np.asarray(uncoarsened & np.isfinite(case.log_times).all(axis=1))


def _aligned(case: MeasuredLaunches) -> MeasuredLaunches:
    """The same relative to the uncoarsened launches: each run was timed against a baseline of its own."""
    return replace(case, log_times=case.log_times - case.log_times[_common_baselines(case)].mean(axis=0))


def _as_one_run(case: MeasuredLaunches) -> MeasuredLaunches:
    known = np.isfinite(case.log_times)
    sums = np.where(known, case.log_times, 0.0).sum(axis=1)
    counts = known.sum(axis=1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return replace(case, log_times=means[:, None], errors=case.errors.max(axis=1, keepdims=True))
