"""Curves from measurements, one per kernel, device and dimension.

A curve is of the kernel's own local size (that of its preset; of a kernel that has none, the only one measured),
with stride 1, over the same local size uncoarsened: what a user who changes nothing else gets. Both are taken
from the comparisons, where each was timed against the same baseline. A configuration that could not run is
missing; one that was given up, since it took more than ten times the best so far, has `GIVEN_UP_SPEEDUP`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, known_descriptor
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.models.examples import best_factor_of
from coarsen.opencl_bench.results.best import seconds_of
from coarsen.opencl_bench.results.curves import Curve, CurveData, read_table
from coarsen.opencl_bench.results.measured_rows import read_rows, shipped_files
from coarsen.opencl_bench.results.versions import Shown, at, newest_versions, shown_presets
from coarsen.opencl_bench.workloads.lookup import find_measured
from coarsen.tuning.engine.speedups import relative_speedup, speedup_of
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.code import FORMS
from coarsen.tuning.records.measurement import Environment, Measurement, Role
from coarsen.tuning.workload.benchmark import Benchmark, Definitions, LocalSize
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


# Curves along which nothing but the factor changes: a kernel's own launch, over the same launch uncoarsened.
#
# comparisons of one kernel at one place ─▶ own local size, stride 1 ─▶ rows that one baseline makes comparable
#
# All were timed against the baseline of the sweep, so a speed-up here is a ratio of two ratios.


@dataclass(frozen=True, slots=True)
class OwnLaunch:
    """The launch that a kernel's description gives; where none is known, the baseline's, and not `is_own`."""

    local_size: LocalSize
    is_own: bool


@dataclass(frozen=True, slots=True)
class OwnRows:
    """The rows of a kernel's own launch along a dimension.

    Attributes:
        launch: of all of them; `definitions` are its `-D` values.
        dimension: of the NDRange.
        origin: the launch uncoarsened, which has a time.
        rows: work-items coarsened along the dimension alone, with stride 1 and one choice of transforms without
            wide accesses, by rising factors; failed ones are among them.
    """

    launch: OwnLaunch
    definitions: Definitions
    dimension: int
    origin: Measurement
    rows: tuple[Measurement, ...]

    def speedup(self, row: Measurement, interval: bool = True) -> Speedup | None:
        """Return the speed-up of one of the rows over the launch uncoarsened; None where it has no time."""
        known = speedup_of(row, interval=False) is not None
        return relative_speedup(row, self.origin, interval) if known else None


def own_rows(benchmark: Benchmark | None, measurements: Iterable[Measurement]) -> tuple[OwnRows, ...]:
    """Return the rows of a kernel's own launch for each dimension that was coarsened; none without factor 1.

    Args:
        benchmark: the kernel, None where it is not known.
        measurements: of this kernel at one place and preset, of any role.
    """
    compared = [row for row in measurements if row.role is Role.COMPARISON]
    rows = sorted(compared, key=lambda row: seconds_of(row.started_at))
    if not rows:
        return ()
    launch, definitions = _own_launch(benchmark, rows), _own_definitions(benchmark, rows)
    own = [row for row in rows if _is_of(row.candidate, launch, definitions)]
    origin = next((row for row in reversed(own) if row.candidate.is_original), None)
    if origin is None or speedup_of(origin, interval=False) is None:
        return ()
    # What an earlier run timed against another baseline does not compare.
    known = _of_newest_transforms(
        {row.candidate: row for row in own if _is_alone(row.candidate) and row.baseline == origin.baseline}
    )
    dimensions = sorted({candidate.coarsenings[0].dimension for candidate in known})
    return tuple(
        OwnRows(launch, definitions, dimension, origin, _along(dimension, known.values()))
        for dimension in dimensions
    )


def _is_of(candidate: Variant, launch: OwnLaunch, definitions: Definitions) -> bool:
    return (candidate.local_size, candidate.definitions) == (launch.local_size, definitions)


def _along(dimension: int, rows: Iterable[Measurement]) -> tuple[Measurement, ...]:
    own = [row for row in rows if row.candidate.coarsenings[0].dimension == dimension]
    return tuple(sorted(own, key=lambda row: row.candidate.factor))


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


def _own_launch(benchmark: Benchmark | None, rows: Sequence[Measurement]) -> OwnLaunch:
    measured = dict.fromkeys(row.candidate.local_size for row in rows)
    preset = benchmark.presets.get(rows[0].subject.preset) if benchmark else None
    if preset is not None and preset.local_size in measured:
        return OwnLaunch(preset.local_size, True)
    baselines = Counter(row.baseline.local_size for row in rows if row.baseline is not None)
    return OwnLaunch(baselines.most_common(1)[0][0] if baselines else next(iter(measured)), False)


def _own_definitions(benchmark: Benchmark | None, rows: Sequence[Measurement]) -> Definitions:
    measured = dict.fromkeys(row.candidate.definitions for row in rows)
    own = benchmark.own_definitions if benchmark else ()
    return own if own in measured else next(iter(measured))


# Curves from files, whose kind the name and the first line tell.
#
# kind                                                                 read by
# -------------------------------------------------------------------  ----------------
# a table of runtimes (.csv): kernel,factor,DEVICE_ns,...              `curve_tables`
# a table of best factors (.csv): kernel,device,best_factor,...        `curve_tables`
# results (.parquet, .json, .csv, .jsonl), or a store of them          `measured_curves`
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
    data = read_table(Path(source)) if source.lower().endswith(".csv") else None
    if data is None:
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
