"""The best factors that a model learns from, read from a table with the columns of `data/README.md`."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS

PUBLISHED = Path(__file__).parent / "data" / "pact14_best_factors.csv"
CITATION = (
    "A. Magni, C. Dubach, M. O'Boyle: Automatic Optimization of Thread-Coarsening for Graphics Processors, "
    "PACT 2014, table 5"
)

# The GPUs that are known by their model only.
DEVICES: Mapping[str, str] = {
    "fermi": "NVIDIA GTX 480",
    "kepler": "NVIDIA Tesla K20c",
    "cypress": "AMD Radeon HD 5900",
    "tahiti": "AMD Radeon HD 7970",
}


@dataclass(frozen=True)
class BestFactors:
    """One device's best factor by kernel, and what the table's authors predicted."""

    device: str
    best: Mapping[str, int]
    published_prediction: Mapping[str, int]


def read_best_factors(device: str, path: Path = PUBLISHED) -> BestFactors:
    """Read a device's best factors.

    Raises:
        InvalidInputError: no such device, or the table can't be read.
    """
    rows = [row for row in _rows(path) if row["device"] == device]
    if not rows:
        known = ", ".join(sorted({row["device"] for row in _rows(path)}))
        raise InvalidInputError(f"{path.name} has no device '{device}'; it has: {known}")
    best = {row["kernel"]: _factor(row["best_factor"], path) for row in rows}
    predicted = {row["kernel"]: _factor(row["predicted_factor"], path) for row in rows}
    return BestFactors(device, best, predicted)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path}: can't be read ({error})") from None
    missing = {"kernel", "device", "predicted_factor", "best_factor"} - set(rows[0] if rows else ())
    if missing:
        raise InvalidInputError(f"{path}: lacks the columns {', '.join(sorted(missing))}")
    return rows


def _factor(text: str, path: Path) -> int:
    if text not in map(str, FACTORS):
        raise InvalidInputError(f"{path}: '{text}' is not one of the factors {', '.join(map(str, FACTORS))}")
    return int(text)
