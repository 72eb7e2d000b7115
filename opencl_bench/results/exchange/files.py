"""Results in a file of any of the formats, which the file's name tells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from coarsen.base.files import read_file, replace_file
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.results.exchange.tables import read_table, write_table
from coarsen.opencl_bench.results.frames import frame
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.records.measurement_json import measurement_from_json, measurement_to_json
from coarsen.variant.coarsening import DIMENSIONS, Coarsening, Level
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.placement import GLOBAL, NO_PAD, Place, PlaceChoice
from coarsen.variant.space import LAYOUT, MEMORY, ORDER, PAD
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import transforms_to_json

VERSION = "1.0.0"
EXTENSION = "coarsen"
NANOSECONDS, SECONDS = 1e-6, 1e3  # in milliseconds


def write_t4(measurements: Iterable[Measurement], path: Path) -> None:
    """Write a T4 file with a result per measurement, in their order, each on a line of its own.

    Raises:
        InvalidInputError: the file can't be written.
    """
    document = t4_document(measurements)
    results = ",\n".join(_line(result) for result in document.pop("results"))
    start = _line(document).removesuffix("}")
    replace_file(f'{start}, "results": [\n{results}\n]}}\n'.encode(), path)


def read_t4(path: Path) -> list[Measurement]:
    """Return the measurements in a T4 file that `write_t4` wrote, equal to those written.

    Raises:
        InvalidInputError: the file can't be read, is no T4 file, or is one of another program (see above).
    """
    data = read_file(path)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not a JSON file: {error}") from None
    results = document.get("results") if isinstance(document, dict) else None
    if not isinstance(results, list):
        raise InvalidInputError(f"{path}: not a T4 file: it has no list of results")
    return [_measurement(result, f"{path}: result {number}") for number, result in enumerate(results, 1)]


def t4_document(measurements: Iterable[Measurement]) -> dict[str, Any]:
    """Return the content of a T4 file, as JSON takes it.

    All configurations of a kernel have the same parameters: where some say how an array lies, the others do too.
    """
    known = list(measurements)
    arrays: dict[str, dict[str, None]] = {}
    for measurement in known:
        names = arrays.setdefault(measurement.subject.benchmark, {})
        names.update(dict.fromkeys(_array_parameters(measurement.candidate)))
    results = [_result(each, tuple(arrays[each.subject.benchmark])) for each in known]
    return {"schema_version": VERSION, "results": results}


def _result(measurement: Measurement, arrays: Sequence[str]) -> dict[str, Any]:
    """One result. `correctness` is 1 where the output was verified to be right, 0 where it wasn't."""
    return {
        "timestamp": measurement.started_at,
        "configuration": t4_configuration(measurement.candidate, arrays),
        "objectives": ["time"],
        "times": {
            "compilation_time": measurement.compile_seconds * SECONDS,
            "benchmark": measurement.measure_seconds * SECONDS,
            "runtimes": _milliseconds(measurement.nanoseconds),
        },
        "invalidity": measurement.invalidity.value,
        "correctness": int(measurement.invalidity is Invalidity.CORRECT),
        "measurements": list(_values(measurement)),
        EXTENSION: measurement_to_json(measurement),
    }


def t4_configuration(candidate: Variant, arrays: Sequence[str] = ()) -> dict[str, int | str]:
    """Return the values of the tunable parameters: three dimensions of each, 1 where there is none.

    Args:
        candidate: any.
        arrays: parameters of arrays (`layout_NAME`, `memory_NAME`, …) that are said, besides those that it needs.
    """
    parameters: dict[str, int | str] = {}
    chosen = {(coarsening.level, coarsening.dimension): coarsening for coarsening in candidate.coarsenings}
    for dimension, extent in enumerate((*candidate.local_size, 1, 1, 1)[:DIMENSIONS]):
        items = chosen.get((Level.ITEM, dimension), Coarsening(1))
        parameters[f"local_size_{dimension}"] = extent
        parameters[f"factor_{dimension}"] = items.factor
        parameters[f"stride_{dimension}"] = items.stride
        parameters[f"group_factor_{dimension}"] = chosen.get((Level.GROUP, dimension), Coarsening(1)).factor
    macros: dict[str, int | str] = {f"-D {name}": value for name, value in candidate.definitions}
    return parameters | _transforms(candidate) | macros | dict(_arrays(candidate, arrays))


def _arrays(candidate: Variant, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield how each array lies: layout, order of its dimensions, empty as written, its memory, its pad."""
    plans = {plan.argument: plan for plan in candidate.arrays}
    for parameter in sorted({*names, *_array_parameters(candidate)}):
        aspect, _, name = parameter.partition("_")
        yield parameter, _aspects(plans.get(name, ArrayPlan(name)))[f"{aspect}_"]


def _aspects(plan: ArrayPlan) -> dict[str, str]:
    """The values of what is said of an array, by the beginnings of their names."""
    shape = plan.shape if plan.place is Place.LOCAL else None
    return {
        LAYOUT: str(plan.layout),
        ORDER: str(plan.order) if plan.order else "",
        MEMORY: str(PlaceChoice(plan.place, shape)),
        PAD: str(plan.pad),
    }


def _array_parameters(candidate: Variant) -> Iterator[str]:
    """The names of the parameters that say how arrays lie, where otherwise than in the source."""
    for plan in candidate.arrays:
        if plan.moves_fields:
            yield from (f"{LAYOUT}{plan.argument}", f"{ORDER}{plan.argument}")
        if plan.place is not GLOBAL:
            yield f"{MEMORY}{plan.argument}"
        if plan.pad != NO_PAD:
            yield f"{PAD}{plan.argument}"


def _transforms(candidate: Variant) -> dict[str, int | str]:
    values = {**transforms_to_json(candidate.transforms), "any_size": candidate.any_size}
    del values["device_kind"]
    return {name: int(value) if isinstance(value, bool) else str(value) for name, value in values.items()}


def _values(measurement: Measurement) -> Iterable[dict[str, object]]:
    if measurement.invalidity is not Invalidity.CORRECT:
        yield {"name": "reason", "value": measurement.reason, "unit": ""}
        return
    time, baseline = median(measurement.nanoseconds), median(measurement.baseline_nanoseconds)
    yield {"name": "time", "value": time * NANOSECONDS, "unit": "ms"}
    yield {"name": "baseline_time", "value": baseline * NANOSECONDS, "unit": "ms"}
    yield {
        "name": "baseline_runtimes",
        "value": _milliseconds(measurement.baseline_nanoseconds),
        "unit": "ms",
    }
    if time > 0:
        yield {"name": "speedup", "value": baseline / time, "unit": ""}


def _milliseconds(nanoseconds: Iterable[int]) -> list[float]:
    return [duration * NANOSECONDS for duration in nanoseconds]


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _measurement(result: object, where: str) -> Measurement:
    if not isinstance(result, Mapping) or EXTENSION not in result:
        raise InvalidInputError(
            f"{where} is of another program: T4 alone says neither on which device nor against which baseline"
        )
    try:
        measurement = measurement_from_json(result[EXTENSION])
    except InvalidInputError as error:
        raise InvalidInputError(f"{where}: {error}") from None
    if result.get("invalidity") != measurement.invalidity:
        raise InvalidInputError(
            f"{where} is {result.get('invalidity')} by T4 and {measurement.invalidity} by its field '{EXTENSION}'"
        )
    return measurement


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
    {".json": read_t4, ".parquet": read_table, ".jsonl": read_lines}
)
WRITERS: Mapping[str, Callable[[Iterable[Measurement], Path], None]] = MappingProxyType(
    {".json": write_t4, ".parquet": write_table, ".csv": write_csv}
)


def read_results(path: Path) -> list[Measurement]:
    """Return the measurements in a T4 file (.json), a table (.parquet) or a pack's results (.jsonl).

    Raises:
        InvalidInputError: another suffix; the file can't be read or is damaged. The message names the file.
    """
    return _by_suffix(path, READERS)(path)


def write_results(measurements: Iterable[Measurement], path: Path) -> None:
    """Write measurements as T4 (.json), as a table (.parquet) or for a spreadsheet (.csv), in one step.

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
