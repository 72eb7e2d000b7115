"""Curves from measurements, one per kernel, device and dimension.

A curve is of the kernel's own local size (that of its preset; of a kernel that has none, the only one measured),
with stride 1, over the same local size uncoarsened: what a user who changes nothing else gets. Both are taken
from the comparisons, where each was timed against the same baseline. A configuration that could not run is
missing; one that was given up, since it took more than ten times the best so far, has `GIVEN_UP_SPEEDUP`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import known_descriptor
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.models.examples import Curve, best_factor_of
from coarsen.opencl_bench.results.best import seconds_of
from coarsen.opencl_bench.results.curves import CurveData, read_table
from coarsen.opencl_bench.results.measured_rows import read_rows, shipped_files
from coarsen.opencl_bench.results.versions import Shown, at, newest_versions, shown_presets
from coarsen.opencl_bench.workloads.lookup import find_measured
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.records.code import FORMS
from coarsen.tuning.records.measurement import Environment, Measurement, Role
from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import DEFAULT
from coarsen.variant.variant import Variant, shape


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
) -> CurveData:
    """Return the curves of measurements; those on devices that have no name in `device_descriptors` are left out.

    Args:
        measurements: of any kernels, devices and roles. Of a kernel that was edited, the newest version counts;
            of a device that was given several forms of code, OpenCL C; of several drivers, the latest run;
            of several presets, the newest.
        preset: only those at this preset.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.

    Raises:
        InvalidInputError: a kernel that is not known, or was measured at several local sizes.
    """
    rows, history = newest_versions(row for row in measurements if preset in (None, row.subject.preset))
    groups: defaultdict[tuple[str, str], list[Measurement]] = defaultdict(list)
    others: set[str] = set()
    for row in rows:
        known = known_descriptor(row.environment.device, row.environment.platform)
        if known is None:
            others.add(f"{row.environment.device} ({row.environment.platform})")
        elif row.role is Role.COMPARISON:
            groups[row.subject.benchmark, known.name].append(row)
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
        *(
            f"{case.benchmark.name} on {case.device} was not measured both uncoarsened and coarsened at its own "
            "local size"
            for case, curves in found
            if not curves
        ),
    ]
    return CurveData(tuple(curve for _, curves in found for curve in curves), {}, tuple(notes))


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
    """Yield the curve of each dimension along which nothing but the factor changes; none without factor 1."""
    local_size = _own_local_size(case)
    rows = sorted(case.rows, key=lambda row: seconds_of(row.started_at))
    launch = local_size, case.benchmark.own_definitions
    own = [row for row in rows if (row.candidate.local_size, row.candidate.definitions) == launch]
    origin = next((row for row in reversed(own) if row.candidate.is_original), None)
    over = speedup_of(origin, interval=False) if origin else None
    if origin is None or over is None:
        return
    # What an earlier run timed against another baseline does not compare.
    known = _of_newest_transforms(
        {row.candidate: row for row in own if _is_alone(row.candidate) and row.baseline == origin.baseline}
    )
    for dimension in sorted({variant.coarsenings[0].dimension for variant in known}):
        along = [row for variant, row in known.items() if variant.coarsenings[0].dimension == dimension]
        values = {row.candidate.factor: _value(row, over.ratio) for row in along}
        curve = {factor: value for factor, value in sorted(values.items()) if value is not None}
        if curve and dimension in case.benchmark.dimensions:
            yield Curve(case.benchmark.name, case.device, dimension, local_size, curve, best_factor_of(curve))


def _value(row: Measurement, over: float) -> float | None:
    """The speed-up over the launch uncoarsened; what was given up has a small one, what could not run has none."""
    if row.is_given_up_as_slow:
        return GIVEN_UP_SPEEDUP
    gain = speedup_of(row, interval=False)
    return gain.ratio / over if gain and gain.ratio > 0 else None


def _is_alone(candidate: Variant) -> bool:
    """Return True if work-items along one dimension are coarsened, with stride 1, and nothing else is changed."""
    coarsenings = candidate.coarsenings
    is_plain = not (candidate.transforms.assuming or candidate.arrays)
    if candidate.any_size or not is_plain or len(coarsenings) != 1:
        return False
    return coarsenings[0].level is Level.ITEM and coarsenings[0].stride == 1 and coarsenings[0].factor > 1


def _of_newest_transforms(rows: dict[Variant, Measurement]) -> dict[Variant, Measurement]:
    """The rows with one choice of transforms: the default one, or else that of the last row."""
    known = [candidate.transforms for candidate in reversed(rows)]
    usual = (transforms for transforms in known if replace(transforms, device_kind=DEFAULT.device_kind) == DEFAULT)
    chosen = next(usual, known[0] if known else None)
    return {candidate: row for candidate, row in rows.items() if candidate.transforms == chosen}


def _own_local_size(case: _Case) -> LocalSize:
    """The preset's, or else the only one that was measured. Raises InvalidInputError where that are several."""
    measured = dict.fromkeys(row.candidate.local_size for row in case.rows)
    preset = case.benchmark.presets.get(case.rows[0].subject.preset)
    if preset is not None and preset.local_size in measured:
        return preset.local_size
    if len(measured) > 1:
        raise InvalidInputError(
            f"{case.benchmark.name} was measured at several local sizes, none of which is its own: "
            f"{', '.join(map(shape, measured))}"
        )
    return next(iter(measured))


# Curves from files, whose kind the name and the first line tell.
#
# kind                                                                 read by
# -------------------------------------------------------------------  ----------------
# a table of runtimes (.csv): kernel,factor,DEVICE_ns,...              `curve_tables`
# a table of best factors (.csv): kernel,device,best_factor,...        `curve_tables`
# results (.parquet, .json, .jsonl), or a store of them                `measured_curves`
# the name of a sweep that comes with the package                      `measured_curves`


def read_curves(source: str, preset: str | None = None, kernels: Path | None = None) -> CurveData:
    """Return the curves of a file or store.

    Args:
        source: a CSV table of runtimes or best factors; a file of results; a store (an SQLite file or a URL); the
            name of a sweep that comes with the package, `synthetic_intel` for example.
        preset: of results, those at this preset only; some must be.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.

    Raises:
        InvalidInputError: it can't be read, or has no curve. The message names it, and the line where it can.
    """
    source = str(shipped_files().get(source, source))
    if source.lower().endswith(".csv"):
        data = read_table(Path(source))
    else:
        rows = read_rows(source)
        _check_preset(source, preset, rows)
        data = curves_of_results(rows, preset, kernels)
    if not data.curves:
        reasons = "".join(f"; {note}" for note in data.notes)
        raise InvalidInputError(f"{source}: no kernel was measured uncoarsened and coarsened{reasons}")
    return data


def _check_preset(source: str, preset: str | None, rows: Sequence[Measurement]) -> None:
    presets = dict.fromkeys(row.subject.preset for row in rows)
    if preset is not None and presets and preset not in presets:
        raise InvalidInputError(
            f"{source}: nothing was measured at preset '{preset}'; there is: {', '.join(presets)}"
        )
