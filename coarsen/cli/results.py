"""`coarsen results`: what is in the store of measurements, into files and out of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.groups import Group
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format, counted, print_json, print_line
from coarsen.cli.stores import check_packages, existing_store
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.records.measurement import Measurement
    from coarsen.opencl_bench.results.store.database import Store

NAMED_KEYS = 4
NEEDED_PACKAGES = ("sqlalchemy", "pandas", "pyarrow")

BenchmarkName = Annotated[
    str | None, typer.Option("-b", "--benchmark", metavar="NAME", help="Only rows of this benchmark.")
]
DevicePart = Annotated[
    str | None,
    typer.Option("-d", "--device", metavar="NAME", help="Only rows of devices with this in their name."),
]
PresetName = Annotated[str | None, typer.Option("--preset", metavar="NAME", help="Only rows of this preset.")]
KeyPrefix = Annotated[
    str,
    typer.Argument(metavar="KEY", help="The row's key, or as much of it as tells it apart.", show_default=False),
]
ExportFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The file to write: .json (the format T4), .parquet or .csv.", show_default=False
    ),
]
IsCompact = Annotated[
    bool,
    typer.Option(
        "--compact",
        help="A Parquet file without what is found again, and without the sums and host times beside spans.",
    ),
]
ImportFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE", help="Results: .json (T4), .parquet, .csv, or a pack's .jsonl.", show_default=False
    ),
]
OtherStore = Annotated[
    str,
    typer.Argument(
        metavar="OTHER-STORE", help="The store to copy from: an SQLite file or a URL.", show_default=False
    ),
]


def ls(
    benchmark: BenchmarkName = None,
    device: DevicePart = None,
    preset: PresetName = None,
    store: StoreUrl = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """List what is stored for each device, benchmark and preset.

    How many rows there are, how many failed and how, and the best configuration with its speed-up over the best
    uncoarsened one; `coarsen results show KEY` shows that row in full, with the lines to paste. Of a kernel that
    was edited, only the rows of the version that was measured last count.

    Example: coarsen results ls --device intel
    """
    with _existing(store) as opened:
        from coarsen.cli.history import without_history
        from coarsen.cli.results_text import print_summaries, summaries_as_data
        from coarsen.opencl_bench.results.best import summaries

        found = summaries(without_history(_rows(opened, benchmark, device, preset)))
        if output_format is Format.JSON:
            print_json(summaries_as_data(found, opened.location))
        else:
            print_summaries(found, opened.location)


def show(key: KeyPrefix, store: StoreUrl = None, output_format: OutputFormat = Format.TABLE) -> None:
    """Show one row in full.

    Example: coarsen results show 3f29a1
    """
    with _existing(store) as opened:
        from coarsen.cli.results_text import print_measurement
        from coarsen.opencl_bench.records.measurement_json import measurement_to_json

        row = _row_called(opened, key)
        if output_format is Format.JSON:
            print_json(measurement_to_json(row))
        else:
            print_measurement(row)


def export(
    file: ExportFile,
    benchmark: BenchmarkName = None,
    device: DevicePart = None,
    preset: PresetName = None,
    store: StoreUrl = None,
    compact: IsCompact = False,
) -> None:
    """Write rows to a file: T4, Parquet or CSV, as its name says.

    Nothing is lost in any of them: `coarsen results import` reads them back. Only --compact leaves something out.

    Example: coarsen results export results.parquet --benchmark sgemm
    """
    if compact and file.suffix.lower() != ".parquet":
        raise InvalidInputError(f"{file}: a compact file is a table whose name ends in .parquet")
    with _existing(store) as opened:
        from coarsen.opencl_bench.results.exchange.files import write_results
        from coarsen.opencl_bench.results.exchange.tables import write_compact_table

        rows = list(_rows(opened, benchmark, device, preset))
        if not rows:
            raise InvalidInputError(f"there is no such row in {opened.location}; nothing was written")
        (write_compact_table if compact else write_results)(rows, file)
    print_line(f"{counted(len(rows), 'row')} in {file}")


def import_(files: ImportFiles, store: StoreUrl = None) -> None:
    """Copy the rows of files into the store.

    A row that is there already is left as it is. Nothing is copied if any of the files can't be read.

    Example: coarsen results import results.jsonl --store measurements.sqlite
    """
    check_packages(NEEDED_PACKAGES)
    from coarsen.opencl_bench.results.exchange.files import read_results
    from coarsen.opencl_bench.results.store.database import open_store

    read = [(file, read_results(file)) for file in files]
    with open_store(store) as opened:
        for file, rows in read:
            print_line(_copied(str(file), len(rows), opened.add_all(rows)))
        print_line(f"The rows are in {opened.location}")


def merge(other: OtherStore, store: StoreUrl = None) -> None:
    """Copy the rows of another store into the store.

    A row that is there already is left as it is; the other store isn't changed.

    Example: coarsen results merge other.sqlite
    """
    with _existing(other) as source:
        from coarsen.opencl_bench.results.store.database import open_store

        with open_store(store) as opened:
            if opened.location == source.location:
                raise InvalidInputError(f"{opened.location} can't be merged with itself")
            print_line(_copied(source.location, source.count(), opened.add_all(source.measurements())))
            print_line(f"The rows are in {opened.location}")


results = Group(
    "List, show, export, import and merge stored measurements.",
    MappingProxyType({"ls": ls, "show": show, "export": export, "import": import_, "merge": merge}),
)


def _existing(text: str | None) -> Store:
    return existing_store(text, NEEDED_PACKAGES)


def _rows(store: Store, benchmark: str | None, device: str | None, preset: str | None) -> Iterator[Measurement]:
    from coarsen.opencl_bench.results.store.database import Filter

    return store.measurements(Filter(benchmark=benchmark, device=device, preset=preset))


def _row_called(store: Store, prefix: str) -> Measurement:
    """The one row whose key begins so. Raises InvalidInputError where there is none, or more than one."""
    from coarsen.opencl_bench.results.store.database import Filter

    chosen = Filter(key_prefix=prefix)
    count = store.count(chosen)
    if count == 0:
        raise InvalidInputError(f"no row's key begins with '{prefix}' in {store.location}")
    found = [row for row, _ in zip(store.measurements(chosen), range(NAMED_KEYS), strict=False)]
    if count > 1:
        from coarsen.cli.results_text import KEY_DIGITS

        names = ", ".join(row.key[: max(KEY_DIGITS, len(prefix) + 4)] for row in found)
        more = f" and {count - len(found)} more" if count > len(found) else ""
        raise InvalidInputError(f"the keys of {count} rows begin with '{prefix}': {names}{more}")
    return found[0]


def _copied(source: str, rows: int, new: int) -> str:
    return f"{source}: {counted(rows, 'row')}, {new} new, {rows - new} there already"
