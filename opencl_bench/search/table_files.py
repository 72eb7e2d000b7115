"""Files as tables of searched spaces: other tuners' results, and stored sweeps of this program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Measurement
from coarsen.opencl_bench.results.exchange.t4 import is_foreign
from coarsen.opencl_bench.results.results import read_results
from coarsen.opencl_bench.results.shipped import shipped_files
from coarsen.opencl_bench.search.foreign_tables import foreign_table, read_spaces
from coarsen.opencl_bench.search.sweep_tables import sweep_tables
from coarsen.opencl_bench.search.tables import Table


@dataclass(frozen=True, slots=True)
class TableFiles:
    """What tables are read from.

    Attributes:
        files: T4 files of other tuners (.json, .json.gz), and results of this program (.parquet, .csv, .json,
            .jsonl, or the name of a sweep that comes with the package).
        spaces: T1 files, each the space of the T4 files that have its parameters.
        shared: the parameters of other tuners' spaces that other axes depend on.
        benchmarks: of stored sweeps, the kernels; all if empty.
    """

    files: Sequence[Path]
    spaces: Sequence[Path] = ()
    shared: Sequence[str] = ()
    benchmarks: Sequence[str] = ()


def read_tables(wanted: TableFiles) -> list[Table]:
    """Read the tables of files, in the order of the files, those of stored sweeps last.

    Raises:
        InvalidInputError: a file can't be read or has no space; an option that fits none of the files.
    """
    shipped = shipped_files()
    # A folder of that name, a cache of PoCL's for example, is no file of results.
    paths = [shipped.get(str(path), path) if not path.exists() or path.is_dir() else path for path in wanted.files]
    foreign = [path for path in paths if _is_foreign(path)]
    own = [path for path in paths if path not in foreign]
    _check_options(wanted, foreign, own)
    spaces = read_spaces(wanted.spaces)
    tables = [foreign_table(path, spaces, wanted.shared) for path in foreign]
    found = [*tables, *(sweep_tables(_measurements(own, wanted.benchmarks)) if own else ())]
    if not found:
        raise InvalidInputError("no kernel of these sweeps has two configurations with a time")
    return found


def _is_foreign(path: Path) -> bool:
    return path.suffix == ".gz" or (path.suffix.lower() == ".json" and is_foreign(path))


def _check_options(wanted: TableFiles, foreign: Sequence[Path], own: Sequence[Path]) -> None:
    if not foreign and (wanted.spaces or wanted.shared):
        raise InvalidInputError("a space and shared parameters are for T4 files of other tuners; there is none")
    if not own and wanted.benchmarks:
        raise InvalidInputError("benchmarks are chosen from stored sweeps; there is none")


def _measurements(files: Iterable[Path], benchmarks: Sequence[str]) -> Sequence[Measurement]:
    return read_results(*files).only(benchmarks=benchmarks).measurements
