"""Curves from measurements, one per kernel, device and dimension.

A curve is of the kernel's own local size (that of its preset; of a kernel that has none, the only one measured),
with stride 1, over the same local size uncoarsened: what a user who changes nothing else gets. Both are taken
from the comparisons, where each was timed against the same baseline. A configuration that could not run is
missing; one that was given up, since it took more than ten times the best so far, has `GIVEN_UP_SPEEDUP`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, known_descriptor
from coarsen.models.evaluation.outcome import GIVEN_UP_SPEEDUP
from coarsen.models.examples import best_factor_of
from coarsen.opencl_bench.records.candidate import FORMS, Candidate, shape
from coarsen.opencl_bench.records.measurement import Environment, Invalidity, Measurement, Role
from coarsen.opencl_bench.results.curves import Curve, CurveData
from coarsen.opencl_bench.results.speedups import speedup_of
from coarsen.opencl_bench.results.versions import newest_versions
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.opencl_bench.workloads.kernel_source import find_measured


@dataclass(frozen=True)
class _Case:
    """The comparisons of a kernel on a device, all of one environment, and the kernel's benchmark."""

    benchmark: Benchmark
    device: str
    rows: tuple[Measurement, ...]


def curves_of_results(
    measurements: Sequence[Measurement],
    preset: str | None = None,
    kernels: Path | None = None,
    unknown_as: str | None = None,
) -> CurveData:
    """The curves of measurements; those on devices that have no name in `device_descriptors` are left out.

    Args:
        measurements: of any kernels, devices and roles. Of a kernel that was edited, the newest version counts;
            of a device that was given several forms of code, OpenCL C; of several drivers, the latest run.
        preset: only those at this preset.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        unknown_as: a name of `device_descriptors`, as which those on other devices count instead.

    Raises:
        InvalidInputError: a kernel that is not known, or was measured at several presets or local sizes; no
            device of the name, or several that count as it.
    """
    if unknown_as is not None and unknown_as not in DEVICE_DESCRIPTORS:
        raise InvalidInputError(f"no device '{unknown_as}' is known; there are {', '.join(DEVICE_DESCRIPTORS)}")
    rows, history = newest_versions(row for row in measurements if preset in (None, row.subject.preset))
    groups: defaultdict[tuple[str, str], list[Measurement]] = defaultdict(list)
    devices: defaultdict[str | None, set[str]] = defaultdict(set)
    for row in rows:
        name = _name_of(row.environment, unknown_as)
        devices[name].add(f"{row.environment.device} ({row.environment.platform})")
        if name is not None and row.role is Role.COMPARISON:
            groups[row.subject.benchmark, name].append(row)
    others = devices.pop(None, set())
    _check_alone(unknown_as, devices)
    cases = [_case(kernel, device, found, kernels) for (kernel, device), found in groups.items()]
    found = [(case, list(_curves(case))) for case in cases]
    notes = [
        *([f"rows of earlier versions of a kernel left out: {history}"] if history else []),
        *(f"no model is for the device {name}" for name in sorted(others)),
        *(_without_curve(case) for case, curves in found if not curves),
    ]
    return CurveData(tuple(curve for _, curves in found for curve in curves), {}, tuple(notes))


def _name_of(place: Environment, unknown_as: str | None) -> str | None:
    descriptor = known_descriptor(place.device, place.platform)
    return descriptor.name if descriptor else unknown_as


def _check_alone(unknown_as: str | None, devices: Mapping[str | None, Collection[str]]) -> None:
    """Refuse to take one device's curves for another's. `devices` are what counts as each name."""
    found = sorted(devices.get(unknown_as, ()))
    if unknown_as is not None and len(found) > 1:
        raise InvalidInputError(f"several devices count as {unknown_as}: {'; '.join(found)}; choose one")


def _without_curve(case: _Case) -> str:
    name = f"{case.benchmark.name} on {case.device}"
    return f"{name} was not measured both uncoarsened and coarsened at its own local size"


def _case(kernel: str, device: str, rows: Sequence[Measurement], kernels: Path | None) -> _Case:
    presets = dict.fromkeys(row.subject.preset for row in rows)
    if len(presets) > 1:
        raise InvalidInputError(
            f"{kernel} on {device} was measured at several presets; give one: {', '.join(presets)}"
        )
    best = min(FORMS.index(row.environment.form) for row in rows)
    in_form = [row for row in rows if row.environment.form == FORMS[best]]
    latest = max(in_form, key=lambda row: row.started_at)
    kept = [row for row in in_form if _where(row) == _where(latest)]
    return _Case(find_measured(kernel, kernels), device, tuple(kept))


def _where(row: Measurement) -> tuple[Environment, bool]:
    return row.environment, row.method.cold_cache


def _curves(case: _Case) -> Iterator[Curve]:
    name = case.benchmark.name
    local_size = _own_local_size(case)
    speedups = _relative_speedups(case, local_size)
    if speedups is None:
        return
    for dimension in case.benchmark.dimensions:
        known = {factor: value for (along, factor), value in speedups.items() if along == dimension}
        if known:
            curve = dict(sorted(known.items()))
            yield Curve(name, case.device, dimension, local_size, curve, best_factor_of(curve))


def _own_local_size(case: _Case) -> LocalSize:
    preset = case.benchmark.presets.get(case.rows[0].subject.preset)
    measured = dict.fromkeys(row.candidate.local_size for row in case.rows)
    if preset is not None and preset.local_size in measured:
        return preset.local_size
    if len(measured) > 1:
        raise InvalidInputError(
            f"{case.benchmark.name} was measured at several local sizes, none of which is its own: "
            f"{', '.join(map(shape, measured))}"
        )
    return next(iter(measured))


def _relative_speedups(case: _Case, local_size: LocalSize) -> dict[tuple[int, int], float] | None:
    """The speed-ups by dimension and factor over the uncoarsened launch; None where that has none."""
    definitions = case.benchmark.own_definitions
    wanted = [
        row
        for row in sorted(case.rows, key=lambda row: row.started_at)
        if row.candidate.local_size == local_size and row.candidate.definitions == definitions
    ]
    origin = next((row for row in reversed(wanted) if not row.candidate.coarsenings), None)
    if origin is None or origin.invalidity is not Invalidity.CORRECT or (own := _value(origin)) is None:
        return None
    # What an earlier run timed against another baseline does not compare.
    values = ((_place(row.candidate), _value(row)) for row in wanted if row.baseline == origin.baseline)
    return {place: _over(value, own) for place, value in values if place is not None and value is not None}


def _value(row: Measurement) -> float | None:
    """The speed-up over the baseline of all comparisons, 0 for what was given up, None for what could not run."""
    if row.invalidity is Invalidity.TIMEOUT:
        return 0.0
    gain = speedup_of(row, interval=False)
    return gain.ratio if gain else None


def _over(value: float, baseline: float) -> float:
    return value / baseline if value > 0 else GIVEN_UP_SPEEDUP


def _place(candidate: Candidate) -> tuple[int, int] | None:
    """The dimension and factor of a coarsening along one dimension with stride 1; None of any other."""
    if len(candidate.coarsenings) != 1 or candidate.coarsenings[0].stride != 1:
        return None
    return candidate.coarsenings[0].dimension, candidate.coarsenings[0].factor
