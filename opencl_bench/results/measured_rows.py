"""Measured rows of a file, a store, or a sweep that comes with the package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from coarsen.tuning.records.measurement import Measurement

_STORE_SUFFIXES = (".sqlite", ".sqlite3", ".db")


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
    if not source.lower().endswith(_STORE_SUFFIXES):
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
