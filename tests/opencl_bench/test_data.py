"""The committed sweeps are whole, can be read, and say what their README says."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from coarsen.opencl_bench.exchange.frames import best_rows, frame, geometric_mean
from coarsen.opencl_bench.exchange.summaries import summaries
from coarsen.opencl_bench.exchange.tables import read_table
from coarsen.opencl_bench.measurement import Invalidity, Measurement
from coarsen.opencl_bench.suite import SUITE

DATA = Path(__file__).parents[2] / "opencl_bench" / "data"
README = (DATA / "README.md").read_text(encoding="utf-8")
SWEEPS = [("intel", "opencl_c"), ("pocl", "opencl_c"), ("h200", "opencl_c"), ("h200", "ptx")]
REFUSED = {"blackscholes", "mriQ", "sobel"}


@functools.cache
def rows_of(name: str, form: str) -> list[Measurement]:
    return [row for row in read_table(DATA / f"{name}.parquet") if row.environment.form == form]


@pytest.mark.parametrize(("name", "form"), SWEEPS)
def test_every_kernel_has_a_best_configuration_or_a_reason(name: str, form: str) -> None:
    found = {summary.case.benchmark: summary for summary in summaries(rows_of(name, form))}
    assert set(found) == set(SUITE)
    refused = {kernel for kernel, summary in found.items() if summary.best is None}
    assert refused == (REFUSED if form == "ptx" else set())
    assert all(found[kernel].failures.get(Invalidity.COMPILE) for kernel in refused)


@pytest.mark.parametrize(("name", "form"), SWEEPS)
def test_no_row_is_there_twice_and_no_result_was_wrong(name: str, form: str) -> None:
    rows = rows_of(name, form)
    assert len({row.key for row in rows}) == len(rows)
    assert not [row for row in rows if row.invalidity is Invalidity.CORRECTNESS]
    assert all(row.reason for row in rows if row.invalidity is not Invalidity.CORRECT)


@pytest.mark.parametrize(("line", "sweep"), list(enumerate(SWEEPS)))
def test_the_readme_says_what_the_data_say(line: int, sweep: tuple[str, str]) -> None:
    name, form = sweep
    documented = [text for text in README.splitlines() if re.match(r"\| `\w+\.parquet`", text)][line]
    rows = rows_of(name, form)
    best = best_rows(frame(rows))
    (mean,) = geometric_mean(best)
    helped = int(((best["factor"] > 1) & (best["low"] > 1)).sum())
    file, *_, count, documented_mean, documented_help = [
        cell.strip() for cell in documented.strip("| ").split("|")
    ]
    assert file == f"`{name}.parquet`"
    assert (int(count), float(documented_mean)) == (len(rows), round(mean, 2))
    assert documented_help == f"{helped} of {len(best)}"


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 2 << 20
