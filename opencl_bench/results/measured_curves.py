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
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.models.examples import best_factor_of
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.records.code import FORMS
from coarsen.opencl_bench.records.measurement import Environment, Measurement, Role
from coarsen.opencl_bench.results.curves import Curve, CurveData
from coarsen.opencl_bench.results.own_launch import OwnRows, own_rows
from coarsen.opencl_bench.results.presets import Shown, at, shown_presets
from coarsen.opencl_bench.results.versions import newest_versions
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.kernel_source import find_measured
from coarsen.variant.variant import shape


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
    """Return the curves of measurements; those on devices that have no name in `device_descriptors` are left out.

    Args:
        measurements: of any kernels, devices and roles. Of a kernel that was edited, the newest version counts;
            of a device that was given several forms of code, OpenCL C; of several drivers, the latest run;
            of several presets, the newest.
        preset: only those at this preset.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        unknown_as: a name of `device_descriptors`, as which those on other devices count instead.

    Raises:
        InvalidInputError: a kernel that is not known, or was measured at several local sizes; no
            device of the name, or several that count as it.
    """
    if unknown_as is not None and unknown_as not in DEVICE_DESCRIPTORS:
        hint = did_you_mean(unknown_as, DEVICE_DESCRIPTORS)
        raise InvalidInputError(
            f"no device '{unknown_as}' is known{hint}; there are {', '.join(DEVICE_DESCRIPTORS)}"
        )
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
    shown = shown_presets((place, at(row)) for place, found in groups.items() for row in found)
    newest = {
        place: [row for row in found if row.subject.preset == shown[place].preset]
        for place, found in groups.items()
    }
    cases = [_case(kernel, device, found, kernels) for (kernel, device), found in newest.items()]
    found = [(case, list(_curves(case))) for case in cases]
    notes = [
        *([f"rows of earlier versions of a kernel left out: {history}"] if history else []),
        *(_other_presets(place, choice) for place, choice in shown.items() if choice.others),
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


def _other_presets(place: tuple[str, str], shown: Shown) -> str:
    kernel, device = place
    left = ", ".join(shown.others)
    return f"{kernel} on {device}: taken at preset {shown.preset}, the newest, not at {left} (--preset chooses)"


def _case(kernel: str, device: str, rows: Sequence[Measurement], kernels: Path | None) -> _Case:
    best = min(FORMS.index(row.environment.form) for row in rows)
    in_form = [row for row in rows if row.environment.form == FORMS[best]]
    latest = max(in_form, key=lambda row: row.started_at)
    kept = [row for row in in_form if _where(row) == _where(latest)]
    return _Case(find_measured(kernel, kernels), device, tuple(kept))


def _where(row: Measurement) -> tuple[Environment, bool]:
    return row.environment, row.method.cold_cache


def _curves(case: _Case) -> Iterator[Curve]:
    _check_local_size(case)
    for own in own_rows(case.benchmark, case.rows):
        if own.definitions != case.benchmark.own_definitions or own.dimension not in case.benchmark.dimensions:
            continue
        values = ((row.candidate.factor, _value(own, row)) for row in own.rows)
        curve = {factor: value for factor, value in values if value is not None}
        if curve:
            name, local_size = case.benchmark.name, own.launch.local_size
            yield Curve(name, case.device, own.dimension, local_size, curve, best_factor_of(curve))


def _check_local_size(case: _Case) -> None:
    """Refuse to take one of several local sizes for the kernel's own."""
    measured = dict.fromkeys(row.candidate.local_size for row in case.rows)
    preset = case.benchmark.presets.get(case.rows[0].subject.preset)
    if len(measured) > 1 and (preset is None or preset.local_size not in measured):
        raise InvalidInputError(
            f"{case.benchmark.name} was measured at several local sizes, none of which is its own: "
            f"{', '.join(map(shape, measured))}"
        )


def _value(own: OwnRows, row: Measurement) -> float | None:
    """The speed-up over the launch uncoarsened; what was given up has a small one, what could not run has none."""
    if row.is_given_up_as_slow:
        return GIVEN_UP_SPEEDUP
    gain = own.speedup(row, interval=False)
    return gain.ratio if gain and gain.ratio > 0 else None
