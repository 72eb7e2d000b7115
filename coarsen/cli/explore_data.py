"""The measurements that `coarsen explore` is asked for: from a store or a file, filtered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.history import without_history
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.exchange.files import read_results
from coarsen.opencl_bench.measurement import Measurement
from coarsen.opencl_bench.store.database import open_existing_store
from coarsen.opencl_bench.store.filters import Filter

# More names are of no use in a line of text.
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which measurements are meant; an empty field lets all through.

    `devices` are parts of names (of the device, its platform, vendor or platform version) in any case, one of
    which must match; `benchmarks` are whole names in any case.
    """

    devices: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    preset: str | None = None

    def lets_through(self, measurement: Measurement) -> bool:
        """Whether a measurement is meant."""
        place, subject = measurement.environment, measurement.subject
        names = "\n".join((place.device, place.platform, place.vendor, place.platform_version)).casefold()
        return (
            (not self.devices or any(part.casefold() in names for part in self.devices))
            and (not self.benchmarks or subject.benchmark.casefold() in map(str.casefold, self.benchmarks))
            and self.preset in (None, subject.preset)
        )


def chosen_measurements(store: str | None, files: Sequence[Path], wanted: Wanted) -> list[Measurement]:
    """The measurements in files, or else in a store, that are meant.

    Args:
        store: see `open_store`.
        files: .parquet, .csv, .json (T4) or .jsonl files; a row that is in several of them counts once.
        wanted: which of them.

    Raises:
        InvalidInputError: a file or the store can't be read; nothing in it is meant.
    """
    if files:
        rows = {row.key: row for path in files for row in read_results(path)}
        return _chosen(rows.values(), wanted, " and ".join(map(str, files)))
    with open_existing_store(store) as opened:
        return _chosen(opened.measurements(Filter()), wanted, opened.location)


def _chosen(measurements: Iterable[Measurement], wanted: Wanted, place: str) -> list[Measurement]:
    devices: set[str] = set()
    benchmarks: set[str] = set()
    presets: set[str] = set()
    chosen = []
    for measurement in measurements:
        devices.add(f"{measurement.environment.device} ({measurement.environment.platform})")
        benchmarks.add(measurement.subject.benchmark)
        presets.add(measurement.subject.preset)
        if wanted.lets_through(measurement):
            chosen.append(measurement)
    if not devices:
        raise InvalidInputError(f"{place} has no measurements; `coarsen bench` makes some")
    if not chosen:
        there = f"devices {_listed(devices)}; benchmarks {_listed(benchmarks)}; presets {_listed(presets)}"
        raise InvalidInputError(f"no measurement in {place} is of what was asked for; there are {there}")
    return without_history(chosen)


def _listed(names: set[str]) -> str:
    ordered = sorted(names, key=str.casefold)
    rest = f" and {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
    return ", ".join(ordered[:_LISTED]) + rest
