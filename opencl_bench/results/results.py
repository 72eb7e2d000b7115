"""Measurements as they are looked at: read from files or a store, filtered, as frames and curves.

files, a store, what comes with the package ─▶ Results ─ only ─▶ Results ─▶ frames for tables and figures, curves
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.best import newest_versions
from coarsen.opencl_bench.results.exchange.files import read_results as read_file
from coarsen.tuning.records.measurement import Measurement

if TYPE_CHECKING:
    import pandas as pd

    from coarsen.opencl_bench.results.measured_curves import CurveData

# The most names in a line of text.
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Results:
    """Measurements, failed ones too, of which each kernel's newest version is kept.

    Args:
        measurements: in the order in which they were read.
        place: where they are from, for messages.
        earlier: rows of earlier versions of these kernels, which were left out.
    """

    measurements: tuple[Measurement, ...]
    place: str
    earlier: tuple[Measurement, ...] = ()

    def __len__(self) -> int:
        return len(self.measurements)

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices' names, in the order of the measurements."""
        return tuple(dict.fromkeys(row.environment.device for row in self.measurements))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks' names, in the order of the measurements."""
        return tuple(dict.fromkeys(row.subject.benchmark for row in self.measurements))

    def only(
        self, *, devices: Sequence[str] = (), benchmarks: Sequence[str] = (), preset: str | None = None
    ) -> Results:
        """Return the matching measurements; omitted arguments do not filter.

        Args:
            devices: parts of names (of the device, its platform, vendor or platform version) in any case, one of
                which must match.
            benchmarks: whole names in any case.
            preset: the sizes.

        Raises:
            InvalidInputError: none matches; the message lists what there is.
        """
        chosen, earlier = (
            tuple(row for row in rows if _lets_through(row, devices, benchmarks, preset))
            for rows in (self.measurements, self.earlier)
        )
        if not chosen:
            raise InvalidInputError(_nothing_of_it(self.measurements, self.place))
        return Results(chosen, self.place, earlier)

    def frame(self) -> pd.DataFrame:
        """Return one row per measurement with its speed-up and its 95 % bootstrap interval: what the figures take.

        Intervals take some milliseconds a row.

        Returns:
            The columns that the page on the results format lists; durations in nanoseconds, speed-ups as ratios.
        """
        # Imported late, like all modules that need pandas: measuring alone does without it.
        from coarsen.opencl_bench.results.frames import frame

        return frame(self.measurements)

    def best(self) -> pd.DataFrame:
        """Return the best configuration of each kernel on each device.

        The kernel as it is, at 1, if nothing is faster.

        Of a kernel that was measured at several presets the newest counts; `only` chooses another.

        Returns:
            A row for each kernel and device, with the columns `label` (the device's name), `benchmark`, `preset`,
            `key` (of the row), `baseline` (its local size), `configuration`, `factor`, `speedup` (times as fast as
            the best uncoarsened local size), `low` and `high` (its 95 % interval), `tie` (the interval
            holds 1), `confirmed` (timed once more, in new processes), `oracle`, and how many `configurations`
            there are, `measured`, `excluded` by the constraints and `failed`.
        """
        from coarsen.opencl_bench.results.rows import best_table, frame_with_intervals

        rows = frame_with_intervals(self.measurements, lambda rows: best_table(rows)["key"])
        return best_table(rows)

    def geometric_means(self) -> pd.DataFrame:
        """Return the geometric mean of each device's best speed-ups.

        Returns:
            A row for each device, with the columns `label`, `speedup` (NaN of fewer than two kernels), `measured`
            (kernels that the mean is of), `helped` (kernels whose best is coarsened, its interval above 1) and
            `kernels`.
        """
        from coarsen.opencl_bench.results.rows import geometric_means

        return geometric_means(self.best())

    def curves(self, kernels: Path | None = None) -> CurveData:
        """Return the curves that predictors learn from, one per kernel, device and dimension.

        Args:
            kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.

        Raises:
            InvalidInputError: a kernel that is not known, or was measured at several local sizes.
        """
        from coarsen.opencl_bench.results.measured_curves import curves_of_results

        return curves_of_results(self.measurements, None, kernels)


def read_results(*files: str | Path) -> Results:
    """Return the measurements in files; a row that is in several of them counts once.

    Args:
        files: .parquet or .jsonl (what running a pack wrote, too).

    Raises:
        InvalidInputError: no file is named, one can't be read, or none has a measurement.
    """
    if not files:
        raise InvalidInputError("name at least one file of results")
    paths = [Path(file) for file in files]
    rows = {row.key: row for path in paths for row in read_file(path)}
    return _results(rows.values(), " and ".join(map(str, paths)))


def stored_results(store: str | Path | None = None) -> Results:
    """Return the measurements in a store.

    Args:
        store: the path of an SQLite file. None: what the environment variable `COARSEN_STORE` says, or else the
            store in the user's data folder.

    Raises:
        InvalidInputError: there is no such store, it can't be read, or has no measurement.
    """
    # Imported late: it loads SQLAlchemy, which files do without.
    from coarsen.tuning.store.database import open_existing_store

    with open_existing_store(None if store is None else str(store)) as opened:
        return _results(opened.measurements(), opened.location)


def shipped_results(*names: str) -> Results:
    """Return the sweeps that come with the package: see `opencl_bench/data/README.md`.

    Args:
        names: of the sweeps, `intel`, `pocl` or `h200` of the seventeen kernels, `larger_intel` and so on of the
            same over the larger space (`larger_h200` has seven kernels), `synthetic_intel` and so on of the
            synthetic ones.

    Raises:
        InvalidInputError: no sweep is named, or there is none of a name; the message lists those that there are.
    """
    from coarsen.opencl_bench.results.measured_curves import shipped_files

    known = shipped_files()
    if not names:
        raise InvalidInputError(f"name at least one sweep; there are {', '.join(known)}")
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InvalidInputError(
                f"no sweep '{name}' comes with the package{hint}; there are {', '.join(known)}"
            )
    return read_results(*(known[name] for name in names))


def _results(measurements: Iterable[Measurement], place: str) -> Results:
    rows = tuple(measurements)
    if not rows:
        raise InvalidInputError(f"{place} has no measurements; `coarsen bench` makes some")
    newest, _ = newest_versions(rows)
    kept = {row.key for row in newest}
    return Results(tuple(newest), place, tuple(row for row in rows if row.key not in kept))


def _lets_through(
    measurement: Measurement, devices: Sequence[str], benchmarks: Sequence[str], preset: str | None
) -> bool:
    place, subject = measurement.environment, measurement.subject
    names = "\n".join((place.device, place.platform, place.vendor, place.platform_version)).casefold()
    return (
        (not devices or any(part.casefold() in names for part in devices))
        and (not benchmarks or subject.benchmark.casefold() in map(str.casefold, benchmarks))
        and preset in (None, subject.preset)
    )


def _nothing_of_it(measurements: Iterable[Measurement], place: str) -> str:
    rows = list(measurements)
    devices = {f"{row.environment.device} ({row.environment.platform})" for row in rows}
    benchmarks, presets = ({getattr(row.subject, name) for row in rows} for name in ("benchmark", "preset"))
    there = f"devices {_listed(devices)}; benchmarks {_listed(benchmarks)}; presets {_listed(presets)}"
    return f"no measurement in {place} is of what was asked for; there are {there}"


def _listed(names: set[str]) -> str:
    ordered = sorted(names, key=str.casefold)
    rest = f" and {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
    return ", ".join(ordered[:_LISTED]) + rest
