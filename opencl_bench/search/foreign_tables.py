"""Brute-forced spaces of other tuners as tables: results in the format T4, and the space they are of in T1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.results.exchange.foreign_t4 import ForeignResult, read_foreign_t4
from coarsen.opencl_bench.results.exchange.t1 import T1Space, read_t1
from coarsen.opencl_bench.results.exchange.t1_conditions import Value
from coarsen.opencl_bench.search.spaces import ENUMERABLE, Axis
from coarsen.opencl_bench.search.tables import Row, Table, table_of, words

_ENDINGS = (".json.gz", ".json", "_T4")


def foreign_table(results_file: Path, spaces: Sequence[T1Space] = (), shared: Iterable[str] = ()) -> Table:
    """Read the table of a brute-forced space.

    Without a space whose parameters are those of the results, every value that occurs is one of the axes, and the
    first result is the default.

    Args:
        results_file: T4 (.json or .json.gz).
        spaces: the one that has the parameters of the results is theirs.
        shared: the names of the parameters that other axes depend on; all others are independent.

    Raises:
        InvalidInputError: a file that can't be read or is malformed, a result that contradicts its space, no
            parameter of a name.
    """
    # Configurations that were ruled out before they were tried are no part of the space.
    results = [each for each in read_foreign_t4(results_file) if each.invalidity is not Invalidity.CONSTRAINTS]
    name = name_of(results_file)
    if not results:
        raise InvalidInputError(f"{results_file}: it has no results")
    names = list(results[0].configuration)
    if any(result.configuration.keys() != set(names) for result in results):
        raise InvalidInputError(f"{results_file}: its results differ in their parameters")
    unknown = sorted(set(shared) - set(names))
    if unknown:
        raise InvalidInputError(f"{name} has no parameter '{unknown[0]}' to be shared; it has {', '.join(names)}")
    space = next((each for each in spaces if {own.name for own in each.parameters} == set(names)), None)
    rows: list[Row] = [(result.configuration, result.time, result.seconds) for result in results]
    wanted = frozenset(shared)
    if space is None:
        remarks = ["no space was given for it: what the results have is taken for all that is valid"]
        return table_of(name, _axes_of(results, wanted), rows, results[0].configuration, remarks)
    _check_conditions(name, space, results)
    axes = [Axis(each.name, each.values, each.name in wanted) for each in space.parameters]
    default = {each.name: each.values[0] if each.default is None else each.default for each in space.parameters}
    return table_of(name, axes, rows, default, _missing(space, len(results)))


def read_spaces(files: Iterable[Path]) -> tuple[T1Space, ...]:
    """Read T1 files. Raises InvalidInputError where one can't be read."""
    return tuple(map(read_t1, files))


def name_of(results_file: Path) -> str:
    """Return the name of a table: the file's, without what says that it is one."""
    name = results_file.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name.replace("_", " ") or results_file.name


def _axes_of(results: Sequence[ForeignResult], shared: frozenset[str]) -> list[Axis]:
    """The axes with the values that occur, in the order in which they do."""
    values: dict[str, dict[Value, None]] = {}
    for result in results:
        for parameter, value in result.configuration.items():
            values.setdefault(parameter, {})[value] = None
    return [Axis(parameter, tuple(own), parameter in shared) for parameter, own in values.items()]


def _check_conditions(name: str, space: T1Space, results: Iterable[ForeignResult]) -> None:
    for result in results:
        if not space.meets_conditions(result.configuration):
            raise InvalidInputError(
                f"{name}: {words(result.configuration)} has a result, but breaks the conditions of its space"
            )


def _missing(space: T1Space, results: int) -> list[str]:
    """Say how many valid configurations have no result, where they can be counted."""
    if math.prod(len(parameter.values) for parameter in space.parameters) > ENUMERABLE:
        return ["its valid configurations were too many to be counted: some may have no result"]
    missing = sum(map(space.meets_conditions, _configurations(space))) - results
    return [f"{missing} valid configurations have no result, and are left out"] if missing else []


def _configurations(space: T1Space) -> Iterable[Mapping[str, Value]]:
    names = [parameter.name for parameter in space.parameters]
    every = itertools.product(*(parameter.values for parameter in space.parameters))
    return (dict(zip(names, values, strict=True)) for values in every)
