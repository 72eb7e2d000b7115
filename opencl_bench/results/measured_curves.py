"""Curves of speed-ups, one per kernel, device and dimension: from measurements, and from tables.

A curve is of the kernel's own local size (that of its preset; of a kernel that has none, the only one measured),
with stride 1, over the same local size uncoarsened: what a user who changes nothing else gets. Both are taken
from the comparisons, where each was timed against the same baseline. A configuration that could not run is
missing; one that was given up, since it took more than ten times the best so far, has `GIVEN_UP_SPEEDUP`.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

from coarsen.base.files import read_file
from coarsen.base.processes import mapped
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.features import FACTORS, FeatureTable, feature_table
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.device_descriptors import known_descriptor
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.models.examples import Curve, CurveKey, Example, best_factor_of, family_of
from coarsen.opencl_bench.results.best import Shown, at, newest_versions, seconds_of, shown_presets
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
    measurements: Sequence[Measurement], preset: str | None = None, kernels: Path | None = None
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


# Curves from a table (.csv) of runtimes or of best factors, from results, a store, or a sweep of the package.


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


# Curves from tables of runtimes (kernel,factor,DEVICE_ns,...) or best factors (kernel,device,best_factor,...).


@dataclass(frozen=True)
class CurveData:
    """The curves of a file, the factors that its authors predicted by kernel and device, and remarks on it."""

    curves: tuple[Curve, ...]
    predicted: Mapping[tuple[str, str], int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def predicted_on(self, device: str) -> dict[str, int]:
        """Return the factors that the authors predicted on a device, by kernel."""
        return {kernel: factor for (kernel, place), factor in self.predicted.items() if place == device}


def merged(parts: Sequence[CurveData]) -> CurveData:
    """Return the curves of several files as one.

    Of a kernel that one file has the curve of and another the best factor, the curve is taken.

    Raises:
        InvalidInputError: two files have the same curve.
    """
    curves: dict[CurveKey, Curve] = {}
    for curve in (curve for part in parts for curve in part.curves):
        known = curves.get(curve.place)
        if known is not None and bool(known.speedup) == bool(curve.speedup):
            raise InvalidInputError(f"{curve.kernel} on {curve.device} is in the data twice")
        if known is None or curve.speedup:
            curves[curve.place] = curve
    predicted = {place: factor for part in parts for place, factor in part.predicted.items()}
    return CurveData(tuple(curves.values()), predicted, tuple(note for part in parts for note in part.notes))


_UNIT = "_ns"
# A picosecond and thirty years: the ratio of two times stays a number that has a logarithm.
_SHORTEST, _LONGEST = 1e-3, 1e18
_BEST_COLUMNS = ("kernel", "device", "best_factor")
_PREDICTED = "predicted_factor"


@dataclass(frozen=True)
class _TableRow:
    """A row's cells by column, and how a message calls it: the file and the row's line in it."""

    place: str
    cells: Mapping[str, str]

    def text(self, column: str) -> str:
        """Return a cell that must not be empty."""
        if not self.cells[column]:
            raise InvalidInputError(f"{self.place}: the column '{column}' is empty")
        return self.cells[column]

    def factor(self, column: str) -> int:
        """Return a coarsening factor."""
        text = self.cells[column]
        if text not in map(str, FACTORS):
            known = ", ".join(map(str, FACTORS))
            raise InvalidInputError(f"{self.place}: the {column} '{text[:30]}' is none of {known}")
        return int(text)

    def nanoseconds(self, column: str) -> float | None:
        """Return a runtime, None where the cell is empty: the configuration could not run."""
        text = self.cells[column]
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not _SHORTEST <= value <= _LONGEST:
            raise InvalidInputError(f"{self.place}: the {column} '{text[:30]}' is no time above 0")
        return value


def read_table(path: Path) -> CurveData:
    """Return the curves of a table of runtimes or of best factors.

    Raises:
        InvalidInputError: the file can't be read, its columns are those of no table, or a row is wrong. The
            message names file and line.
    """
    try:
        text = read_file(path).decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        columns = tuple(column.strip() for column in next(reader, []))
        rows = [_row(path, columns, cells, reader.line_num) for cells in reader if cells]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path}: can't be read: {error}") from None
    if not rows:
        raise InvalidInputError(f"{path}: the table has no rows")
    for column in columns:
        if columns.count(column) > 1:
            raise InvalidInputError(f"{path}: the column '{column}' is there twice")
    if {*_BEST_COLUMNS} <= {*columns}:
        return _best_factors(path, columns, rows)
    if {"kernel", "factor"} < {*columns}:
        return _runtimes(path, columns, rows)
    raise InvalidInputError(
        f"{path}: the columns are neither those of runtimes (kernel,factor,DEVICE{_UNIT}), nor of best factors "
        f"({','.join(_BEST_COLUMNS)})"
    )


def _row(path: Path, columns: Sequence[str], cells: Sequence[str], line: int) -> _TableRow:
    place = f"{path}, line {line}"
    if len(cells) != len(columns):
        raise InvalidInputError(f"{place}: {len(cells)} cells under {len(columns)} columns")
    return _TableRow(place, {column: cell.strip() for column, cell in zip(columns, cells, strict=True)})


def _runtimes(path: Path, columns: Sequence[str], rows: Sequence[_TableRow]) -> CurveData:
    timed = [column for column in columns if column not in ("kernel", "factor")]
    for column in timed:
        if not column.removesuffix(_UNIT) or not column.endswith(_UNIT):
            raise InvalidInputError(f"{path}: the column '{column}' is no device's: DEVICE{_UNIT}")
    times: dict[tuple[str, str], dict[int, float | None]] = {}
    for row in rows:
        kernel, factor = row.text("kernel"), row.factor("factor")
        for column in timed:
            known = times.setdefault((kernel, column.removesuffix(_UNIT)), {})
            if factor in known:
                raise InvalidInputError(f"{row.place}: factor {factor} of {kernel} is there twice")
            known[factor] = row.nanoseconds(column)
    return CurveData(tuple(_curves_of_times(path, times)))


def _curves_of_times(path: Path, times: Mapping[tuple[str, str], Mapping[int, float | None]]) -> Iterator[Curve]:
    for (kernel, device), known in times.items():
        measured = {factor: time for factor, time in sorted(known.items()) if time is not None}
        if not measured:
            continue
        if 1 not in measured:
            raise InvalidInputError(f"{path}: {kernel} has no time at factor 1 on {device}")
        speedup = {factor: measured[1] / time for factor, time in measured.items() if factor > 1}
        if speedup:
            yield Curve(kernel, device, 0, None, speedup, best_factor_of(speedup))


def _best_factors(path: Path, columns: Sequence[str], rows: Sequence[_TableRow]) -> CurveData:
    for column in columns:
        if column not in (*_BEST_COLUMNS, _PREDICTED):
            raise InvalidInputError(f"{path}: a table of best factors has no column '{column}'")
    curves: dict[tuple[str, str], Curve] = {}
    predicted: dict[tuple[str, str], int] = {}
    for row in rows:
        place = row.text("kernel"), row.text("device")
        if place in curves:
            raise InvalidInputError(f"{row.place}: {place[0]} on {place[1]} is there twice")
        curves[place] = Curve(*place, 0, None, {}, row.factor("best_factor"))
        if _PREDICTED in columns:
            predicted[place] = row.factor(_PREDICTED)
    return CurveData(tuple(curves.values()), predicted)


# From curves to what predictors learn from: each kernel is lowered once, and its features are computed.
#
# curves ─▶ kernels × dimensions ─▶ features, in several processes ─▶ Example

# A kernel by its name in the data, the folder that may describe it, the dimensions that are coarsened.
_Asked = tuple[str, Path | None, tuple[int, ...]]


@dataclass(frozen=True)
class Examples:
    """Examples, and which curves have none, since the kernel can't be coarsened that way."""

    examples: tuple[Example, ...]
    notes: tuple[str, ...]


def examples_of(curves: Sequence[Curve], kernels: Path | None = None, processes: int | None = None) -> Examples:
    """Return the curves with their kernels' features.

    Args:
        curves: of any kernels and devices.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        processes: how many compute features. None: as many as there are processors, but for a script just one;
            one that has its work under `if __name__ == "__main__":` may say more.

    Raises:
        InvalidInputError: a kernel that is not known, or does not compile; the message names it.
    """
    wanted: defaultdict[str, dict[int, None]] = defaultdict(dict)
    for curve in curves:
        wanted[curve.kernel][curve.dimension] = None
    asked = [(name, kernels, tuple(dimensions)) for name, dimensions in wanted.items()]
    known = dict(zip(wanted, mapped(_tables, asked, processes), strict=True))
    examples = [
        Example(**vars(curve), family=family, table=table)
        for curve in curves
        for family, tables in (known[curve.kernel],)
        if not isinstance(table := tables[curve.dimension], str)
    ]
    refusals = (text for _, tables in known.values() for text in tables.values() if isinstance(text, str))
    return Examples(tuple(examples), tuple(dict.fromkeys(refusals)))


def _tables(asked: _Asked) -> tuple[str, Mapping[int, FeatureTable | str]]:
    """The family, and along each dimension the features, or in one sentence why it can't be coarsened so."""
    name, folder, dimensions = asked
    benchmark = find_measured(name, folder)
    family = benchmark.family or family_of(name)
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    except RefusalError as refusal:
        return family, dict.fromkeys(dimensions, f"{name} can't be coarsened: {refusal}")
    return family, {dimension: _table(name, kernel, dimension) for dimension in dimensions}


def _table(name: str, kernel: Kernel, dimension: int) -> FeatureTable | str:
    try:
        return feature_table(kernel, dimension)
    except RefusalError as refusal:
        return f"{name} can't be coarsened along dimension {dimension}: {refusal}"


def read_rows(source: str) -> list[Measurement]:
    """Return the rows.

    Args:
        source: a file of results (.parquet, .jsonl), a store (.sqlite, .sqlite3, .db), or the name of
            a sweep that comes with the package, `synthetic_intel` for example.

    Raises:
        InvalidInputError: it can't be read.
    """
    source = str(shipped_files().get(source, source))
    # Imported late: they load PyArrow, which tables do without, and SQLAlchemy, which files do without.
    if not source.lower().endswith((".sqlite", ".sqlite3", ".db")):
        from coarsen.opencl_bench.results.exchange.files import read_results

        return read_results(Path(source))
    from coarsen.tuning.store.database import open_existing_store

    with open_existing_store(source) as store:
        return list(store.measurements())


def shipped_files() -> Mapping[str, Path]:
    """Return the files of the sweeps by their names, in alphabetical order."""
    # Found from the package: the folder may be installed elsewhere than this file.
    data = Path(str(resources.files("coarsen.opencl_bench"))) / "data"
    return {path.stem: path for path in sorted(data.glob("*.parquet"))}
