"""The committed results of tuning are whole, and the README beside the code says what they say."""

from __future__ import annotations

import csv
import statistics

import pytest

from coarsen.opencl_bench.workloads.lookup import SUITE
from tests.opencl_bench.results.test_data import DATA
from tests.opencl_bench.workloads.test_further import FURTHER

ROOT = DATA.parents[1]
Row = dict[str, str]


def rows_of(device: str, kernels: str) -> list[Row]:
    """The rows of a device's kernels, of the seventeen or of the ten."""
    names = set(SUITE) if kernels == "the seventeen" else set(FURTHER)
    with (DATA / "tuned.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["device"] == device and row["kernel"] in names]


def mean(rows: list[Row], column: str) -> str:
    return f"{statistics.geometric_mean(float(row[column]) for row in rows):.2f}"


@pytest.mark.parametrize(
    ("named", "kernels", "count"),
    [
        ("Intel", "the seventeen", 17),
        ("Intel", "the ten", 10),
        ("PoCL", "the seventeen", 17),
        ("PoCL", "the ten", 10),
        ("H200", "the seventeen", 17),
    ],
)
def test_the_table_follows_from_the_rows(named: str, kernels: str, count: int) -> None:
    rows = rows_of(named.lower(), kernels)
    assert len(rows) == count
    seconds = [float(row["seconds"]) for row in rows]
    cells = (
        kernels,
        mean(rows, "over_own"),
        f"{min(float(row['over_own']) for row in rows):.3f}",
        mean(rows, "over_local_size"),
        mean(rows, "of_best_known"),
        f"{statistics.median(seconds):.0f}, {max(seconds):.0f}",
    )
    lines = (ROOT / "opencl_bench" / "README.md").read_text().splitlines()
    device = ""
    for line in lines:
        found = [cell.strip() for cell in line.strip().strip("|").split("|")]
        device = found[0] or device
        if device == named and tuple(found[1:]) == cells:
            return
    pytest.fail(f"no line has {named}: {cells}")
