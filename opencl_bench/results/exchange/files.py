"""Results in a file of any of the formats, which the file's name tells; Parquet tables."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet

from coarsen.base.files import read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.lines import read_lines, write_lines
from coarsen.opencl_bench.results.frames import frame
from coarsen.tuning.records.measurement import Environment, Measurement, Method, Subject, timed_seconds_of
from coarsen.tuning.records.measurement_json import ADDED_LATER as FIELDS_ADDED_LATER
from coarsen.tuning.records.measurement_json import BESIDE, key_of_json, measurement_from_json, measurement_to_json
from coarsen.variant.coarsening import Level

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Row = dict[str, Any]
TEXT, WHOLE = pa.string(), pa.int64()
# The fields' types, as they are annotated.
TYPES = {
    **dict.fromkeys(("str", "Form", "Role", "Invalidity", "CheckedAgainst", "Clock"), TEXT),
    "int": WHOLE,
    "float": pa.float64(),
    "bool": pa.bool_(),
    "tuple[str, ...]": pa.list_(TEXT),
    "tuple[int, ...]": pa.list_(WHOLE),
    "tuple[tuple[str, str], ...]": pa.map_(TEXT, TEXT),
    "tuple[tuple[str, int], ...]": pa.map_(TEXT, WHOLE),
}
CANDIDATE_TYPES = {
    "local_size": pa.list_(WHOLE),
    "coarsenings": pa.list_(pa.list_(WHOLE)),
    "definitions": pa.map_(TEXT, TEXT),
    "levels": pa.list_(TEXT),
    "transforms": pa.map_(TEXT, TEXT),
    "any_size": pa.bool_(),
    "arrays": pa.map_(TEXT, TEXT),
}
# The maps that are JSON objects; the others are lists of pairs, whose order counts.
MAPS = ("definitions", "transforms", "arrays")
# What tables of old do not have, and null stands for there: rows from before these were part of a measurement.
ADDED_LATER = ("levels", "transforms", "any_size", "arrays", *FIELDS_ADDED_LATER)
# What compact files leave out: what is computed from the other columns, and then what is not read back.
COMPUTED = ("key", "timed_seconds")
LEFT_OUT = (*COMPUTED, *BESIDE)
# Stored byte by byte, the high ones of all together: they are alike, and then take next to nothing.
_SPLIT = ("nanoseconds.list.element", "baseline_nanoseconds.list.element", "measure_seconds")
_STRONGEST = 19
# The fields that have fields of their own, and what those columns' names begin with.
PARTS: Mapping[str, tuple[type[DataclassInstance], str]] = MappingProxyType(
    {"subject": (Subject, ""), "environment": (Environment, ""), "method": (Method, "method_")}
)
CANDIDATES = MappingProxyType({"candidate": "", "baseline": "baseline_"})
NULLABLE = ("baseline",)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its type, and in which part of a measurement its field stands, if any."""

    name: str
    type: pa.DataType
    part: str = ""
    field: str = ""

    @property
    def source(self) -> str:
        """The field's name in its object."""
        return self.field or self.name


def _columns() -> Iterator[Column]:
    yield Column("key", TEXT)
    for field in fields(Measurement):
        if field.name in PARTS:
            part, prefix = PARTS[field.name]
            for inner in fields(part):
                yield Column(prefix + inner.name, TYPES[str(inner.type)], field.name, inner.name)
        elif field.name in CANDIDATES:
            for name, type_ in CANDIDATE_TYPES.items():
                yield Column(CANDIDATES[field.name] + name, type_, field.name, name)
        else:
            yield Column(field.name, TYPES[str(field.type)])


COLUMNS = tuple(_columns())
SCHEMA = pa.schema([pa.field(column.name, column.type) for column in COLUMNS])


def write_table(measurements: Iterable[Measurement], path: Path) -> None:
    """Write a Parquet table with a row per measurement, in their order.

    Raises:
        InvalidInputError: the file can't be written.
    """
    replace_file(_parquet(_arrow_table(measurements), compression="zstd"), path)


def write_compact_table(measurements: Iterable[Measurement], path: Path) -> None:
    """Write a compact Parquet file, with a row per measurement in their order.

    Raises:
        InvalidInputError: the file can't be written.
    """
    rows = list(measurements)
    are_sums = all(
        row.timed_seconds == timed_seconds_of(row.nanoseconds, row.baseline_nanoseconds) for row in rows
    )
    left_out = [name for name in LEFT_OUT if are_sums or name != "timed_seconds"]
    table = _arrow_table(rows).drop_columns(left_out)
    leaves = pyarrow.parquet.ParquetFile(io.BytesIO(_parquet(table.schema.empty_table()))).schema
    names = [leaves.column(number).path for number in range(len(leaves))]
    compact = {
        "compression": "zstd",
        "compression_level": _STRONGEST,
        "use_dictionary": [name for name in names if name not in _SPLIT],
        "column_encoding": dict.fromkeys(_SPLIT, "BYTE_STREAM_SPLIT"),
    }
    replace_file(_parquet(table, **compact), path)


def read_table(path: Path) -> list[Measurement]:
    """Return the measurements in a table that `write_table` wrote, equal to those written.

    Raises:
        InvalidInputError: the file can't be read, is damaged, lacks a column or has a wrong value.
    """
    data = read_file(path)
    try:
        return [_measurement(row, number) for number, row in enumerate(_rows(data), 1)]
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from None


def _row(measurement: Measurement) -> Row:
    value = measurement_to_json(measurement)
    value |= {name: variant_cells(value[name]) for name in CANDIDATES}
    owners = {column.name: value[column.part] if column.part else value for column in COLUMNS}
    return {
        column.name: None if owners[column.name] is None else owners[column.name][column.source]
        for column in COLUMNS
    }


def _measurement(row: Row, number: int) -> Measurement:
    value: dict[str, Any] = {}
    for column in COLUMNS:
        owner = value.setdefault(column.part, {}) if column.part else value
        if row.get(column.name) is not None or column.part:
            owner[column.source] = row[column.name]
    for part in NULLABLE:
        if all(entry is None for entry in value[part].values()):
            value[part] = None
    try:
        value |= {name: variant_value(value[name]) for name in CANDIDATES}
        return measurement_from_json(_with_computed(value, [name for name in COMPUTED if name not in row]))
    except InvalidInputError as error:
        raise InvalidInputError(f"row {number}: {error}") from None


def _with_computed(value: dict[str, Any], lacking: Sequence[str]) -> dict[str, Any]:
    """The value with what a compact file leaves out; the key is that of all else."""
    if "timed_seconds" in lacking:
        times = (value.get(name) or () for name in ("nanoseconds", "baseline_nanoseconds"))
        value["timed_seconds"] = timed_seconds_of(*times)
    if "key" in lacking:
        value["key"] = key_of_json(value)
    return value


def _parquet(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401 (PyArrow's)
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer, **options)
    return buffer.getvalue()


def _arrow_table(measurements: Iterable[Measurement]) -> pa.Table:
    rows = [
        {column.name: _arrow_value(row[column.name], column) for column in COLUMNS}
        for row in map(_row, measurements)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def _rows(data: bytes) -> Iterator[Row]:
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(data))
        there = [each for each in COLUMNS if each.name in table.column_names or each.name not in COMPUTED]
        arrays = {column.name: _array(table, column) for column in there}
        rows: list[Row] = pa.table(arrays).to_pylist()
    except (pa.ArrowException, KeyError, OSError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InvalidInputError(f"not a Parquet table of measurements: {reason}") from None
    return ({column.name: _json_value(row[column.name], column) for column in there} for row in rows)


def _array(table: pa.Table, column: Column) -> pa.ChunkedArray:
    """A column of a table; nulls where the table is too old to have it."""
    if column.name in table.column_names:
        return table[column.name].cast(column.type)
    if column.source not in ADDED_LATER:
        raise InvalidInputError(f"not a table of measurements: there is no column '{column.name}'")
    return pa.nulls(table.num_rows, column.type)


def _arrow_value(value: Any, column: Column) -> Any:  # noqa: ANN401
    """A value of a measurement's JSON as Arrow takes it: a map as a list of pairs, each a tuple."""
    if value is None or not pa.types.is_map(column.type):
        return value
    return list(value.items()) if isinstance(value, dict) else [tuple(pair) for pair in value]


def _json_value(value: Any, column: Column) -> Any:  # noqa: ANN401
    """The reverse of `_arrow_value`."""
    if value is None or not pa.types.is_map(column.type):
        return value
    return dict(value) if column.source in MAPS else [list(pair) for pair in value]


# A variant's JSON as the cells of a table, and back.
#
#     {"coarsenings": [[4, 0, 1], [2, 0, 1, "group"]], "transforms": {…}, "arrays": {"bodies": {"layout": "soa"}}}
#         ⇄ coarsenings [[4, 0, 1], [2, 0, 1]], levels ["item", "group"],
#           transforms {"fast_path": "auto", …: "true"}, arrays {"bodies": '{"layout": "soa"}'}
#
# Cells are null where there is nothing, and where a table is too old to have the column.

_FLAGS = {"true": True, "false": False}


def variant_cells(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Spread the JSON of a variant over cells; None where there is no variant."""
    if value is None:
        return None
    transforms = value.get("transforms")
    return {
        "local_size": value["local_size"],
        "coarsenings": [coarsening[:3] for coarsening in value["coarsenings"]],
        "definitions": value["definitions"],
        "levels": [
            coarsening[3] if len(coarsening) > 3 else Level.ITEM.value for coarsening in value["coarsenings"]
        ],
        "transforms": transforms
        and {
            name: str(entry).lower() if isinstance(entry, bool) else str(entry)
            for name, entry in transforms.items()
        },
        "any_size": value.get("any_size", False),
        "arrays": {name: json.dumps(plan, sort_keys=True) for name, plan in value["arrays"].items()}
        if "arrays" in value
        else None,
    }


def variant_value(cells: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Put the JSON of a variant together again. Raises InvalidInputError where the cells contradict each other."""
    if cells is None:
        return None
    coarsenings, levels, transforms = (cells[name] for name in ("coarsenings", "levels", "transforms"))
    if not isinstance(coarsenings, list) or (levels is not None and len(levels) != len(coarsenings)):
        raise InvalidInputError("there must be as many levels as coarsenings")
    value: dict[str, Any] = {name: cells[name] for name in ("local_size", "coarsenings", "definitions")}
    if levels is not None:
        value["coarsenings"] = [
            entry if level == Level.ITEM else [*entry, level]
            for entry, level in zip(coarsenings, levels, strict=True)
        ]
    if transforms:
        value["transforms"] = {name: _FLAGS.get(entry, entry) for name, entry in transforms.items()}
    if cells["any_size"]:
        value["any_size"] = cells["any_size"]
    if cells["arrays"]:
        value["arrays"] = {name: _plan(text) for name, text in cells["arrays"].items()}
    return value


def _plan(text: object) -> object:
    """The JSON of one array's plan."""
    try:
        return json.loads(str(text))
    except (ValueError, RecursionError):
        raise InvalidInputError(f"not the plan of an array: {ascii(text)[:80]}") from None


# What makes a spreadsheet compute a cell; an apostrophe keeps it from that.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv(measurements: Iterable[Measurement], path: Path) -> None:
    """Write the columns of `Results.frame` as CSV; an apostrophe precedes what a spreadsheet would compute.

    Raises:
        InvalidInputError: the file can't be written.
    """
    rows = frame(measurements)
    texts = rows.select_dtypes(exclude=["number", "bool"]).columns
    rows[texts] = rows[texts].map(lambda text: f"'{text}" if text.startswith(FORMULA_STARTS) else text)
    replace_file(rows.to_csv(index=False).encode(), path)


Action = TypeVar("Action")
READERS: Mapping[str, Callable[[Path], list[Measurement]]] = MappingProxyType(
    {".parquet": read_table, ".jsonl": read_lines}
)
WRITERS: Mapping[str, Callable[[Iterable[Measurement], Path], None]] = MappingProxyType(
    {".parquet": write_table, ".jsonl": write_lines, ".csv": write_csv}
)


def read_results(path: Path) -> list[Measurement]:
    """Return the measurements in a table (.parquet) or lines of JSON (.jsonl).

    Raises:
        InvalidInputError: another suffix; the file can't be read or is damaged. The message names the file.
    """
    return _by_suffix(path, READERS)(path)


def write_results(measurements: Iterable[Measurement], path: Path) -> None:
    """Write measurements as a table (.parquet), lines of JSON (.jsonl) or for a spreadsheet (.csv), in one step.

    Raises:
        InvalidInputError: another suffix; the file can't be written.
    """
    _by_suffix(path, WRITERS)(measurements, path)


def _by_suffix(path: Path, actions: Mapping[str, Action]) -> Action:
    action = actions.get(path.suffix.lower())
    if action is None:
        *others, last = actions
        raise InvalidInputError(f"{path}: the name of a results file ends in {', '.join(others)} or {last}")
    return action
