"""The committed sweeps are whole, can be read, and say what their README says."""

from __future__ import annotations

import functools
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.results.exchange.tables import read_table, write_table
from coarsen.opencl_bench.results.frames import CONFIGURATION, best_rows, frame, geometric_mean
from coarsen.opencl_bench.results.rows import CLEAR_GAIN, is_helped
from coarsen.opencl_bench.results.summaries import summaries
from coarsen.opencl_bench.workloads.lookup import SUITE

DATA = Path(__file__).parents[3] / "opencl_bench" / "data"
README = (DATA / "README.md").read_text(encoding="utf-8")
SWEEPS = [("intel", "opencl_c"), ("pocl", "opencl_c"), ("h200", "opencl_c"), ("h200", "ptx")]
# What the README calls the sweeps: in the tables of all, and above the table of each one's best configurations.
NAMES = ["Intel", "PoCL", "H200, OpenCL", "H200, PTX"]
HEADINGS = ["Intel's CPU runtime", "PoCL", "NVIDIA H200, OpenCL C", "NVIDIA H200, PTX"]
REFUSED = {"blackscholes", "mriQ", "sobel"}
every_sweep = pytest.mark.parametrize(("name", "form"), SWEEPS)


@functools.cache
def rows_of(name: str, form: str) -> list[Measurement]:
    return [row for row in read_table(DATA / f"{name}.parquet") if row.environment.form == form]


@functools.cache
def frame_of(name: str, form: str) -> pd.DataFrame:
    rows = rows_of(name, form)
    return frame(rows).assign(same=[row.candidate == row.baseline for row in rows])


@functools.cache
def best_of(name: str, form: str) -> pd.DataFrame:
    return best_rows(frame_of(name, form))


def table_below(text: str) -> list[list[str]]:
    """The cells of the README's first table after a text, without its head."""
    lines = README[README.index(text) :].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    last = next((number for number in range(first, len(lines)) if not lines[number]), len(lines))
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines[first + 2 : last]]


@every_sweep
def test_every_kernel_has_a_best_configuration_or_a_reason(name: str, form: str) -> None:
    found = {summary.case.benchmark: summary for summary in summaries(rows_of(name, form))}
    assert set(found) == set(SUITE)
    refused = {kernel for kernel, summary in found.items() if summary.best is None}
    assert refused == (REFUSED if form == "ptx" else set())
    assert all(found[kernel].failures.get(Invalidity.COMPILE) for kernel in refused)


@every_sweep
def test_no_row_is_there_twice_and_no_result_was_wrong(name: str, form: str) -> None:
    rows = rows_of(name, form)
    assert len({row.key for row in rows}) == len(rows)
    assert not [row for row in rows if row.invalidity is Invalidity.CORRECTNESS]
    assert all(row.reason for row in rows if row.invalidity is not Invalidity.CORRECT)


@every_sweep
def test_every_best_configuration_was_confirmed(name: str, form: str) -> None:
    assert set(best_of(name, form)["role"]) == {Role.CONFIRMATION.value}


@pytest.mark.parametrize(("line", "sweep"), list(enumerate(SWEEPS)))
def test_the_readme_says_how_much_is_won(line: int, sweep: tuple[str, str]) -> None:
    file, *_, count, mean, helped, clearly = table_below("# Our own measurements")[line]
    best = best_of(*sweep)
    assert file == f"`{sweep[0]}.parquet`"
    assert (int(count), float(mean)) == (len(rows_of(*sweep)), round(geometric_mean(best).item(), 2))
    assert helped == f"{is_helped(best).sum()} of {len(best)}"
    assert int(clearly) == is_helped(best, CLEAR_GAIN).sum()


def test_the_readme_says_what_most_kernels_gain_on_intel() -> None:
    assert "half of the kernels gain less than 1.38" in " ".join(README.split())
    gains = best_of(*SWEEPS[0])["speedup"].sort_values().reset_index(drop=True)
    assert (gains < 1.38).sum() == 9
    assert sorted(best_of(*SWEEPS[0]).nlargest(3, "speedup")["benchmark"]) == ["binarySearch", "reduce", "sgemm"]


@pytest.mark.parametrize(("line", "sweep"), list(enumerate(SWEEPS)))
def test_the_readme_says_what_the_same_against_itself_came_to(line: int, sweep: tuple[str, str]) -> None:
    rows = frame_of(*sweep)
    same = rows[rows["same"] & rows["speedup"].notna()]
    low, high = same["speedup"].min(), same["speedup"].max()
    assert table_below("**The same against itself.**")[line] == [
        *(NAMES[line], str(len(same)), str((~same["tie"]).sum()), f"{low:.2f} … {high:.2f}"),
    ]


@pytest.mark.parametrize(("line", "sweep"), list(enumerate(SWEEPS)))
def test_the_readme_says_what_measuring_again_came_to(line: int, sweep: tuple[str, str]) -> None:
    rows = frame_of(*sweep)
    compared = rows[(rows["role"] == Role.COMPARISON) & rows["speedup"].notna()]
    twice = best_of(*sweep).merge(compared, on=["benchmark", *CONFIGURATION], suffixes=("", "_first"))
    within = twice["speedup"].between(twice["low_first"], twice["high_first"]).sum()
    change = twice["speedup"] / twice["speedup_first"]
    baselines = compared.groupby("benchmark")["baseline_median_ns"]
    changing = (baselines.max() > 1.25 * baselines.min()).sum()
    assert table_below("**The same once more.**")[line] == [
        *(NAMES[line], str(len(twice)), str(within), f"{change.min():.2f} … {change.max():.2f}", str(changing)),
    ]


@pytest.mark.parametrize(("line", "sweep"), list(enumerate(SWEEPS)))
def test_the_readme_says_what_failed(line: int, sweep: tuple[str, str]) -> None:
    rows = rows_of(*sweep)
    endings = Counter(row.invalidity for row in rows)

    def kernels(ending: Invalidity) -> str:
        counts = Counter(row.subject.benchmark for row in rows if row.invalidity is ending)
        listed = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        parts = ", ".join(f"{count} of {kernel}" for kernel, count in listed)
        return f"{counts.total()}: {parts}" if parts else "0"

    assert table_below("## What failed, and why")[line] == [
        *(NAMES[line], str(len(rows)), str(endings[Invalidity.CORRECT]), str(endings[Invalidity.CONSTRAINTS])),
        *(kernels(Invalidity.TIMEOUT), kernels(Invalidity.COMPILE)),
    ]
    assert endings.keys() <= {*Invalidity} - {Invalidity.RUNTIME, Invalidity.CORRECTNESS}
    # Else it was killed.
    assert all(row.reason.startswith("a run took") for row in rows if row.invalidity is Invalidity.TIMEOUT)


@pytest.mark.parametrize(("heading", "sweep"), list(zip(HEADINGS, SWEEPS, strict=True)))
def test_the_readme_says_which_configurations_are_best(heading: str, sweep: tuple[str, str]) -> None:
    known = {row.benchmark: row for row in best_of(*sweep).itertuples()}
    assert table_below(f"### {heading}\n") == [
        best_line(kernel, known.get(kernel)) for kernel in sorted(SUITE, key=str.casefold)
    ]


def best_line(kernel: str, row: pd.Series | None) -> list[str]:
    """A line of the README's tables of best configurations."""
    if row is None:
        return [kernel, "refused", "", ""]
    stride = f", stride {row.stride}" if row.stride not in ("", "1") else ""
    coarsening = f"{row.factors} along {row.dimension}{stride}" if row.factors else "uncoarsened"
    interval = f"{row.speedup:.2f} ({row.low:.2f}–{row.high:.2f})"
    configuration = f"{coarsening}; {row.local_size}"
    return [kernel, row.baseline_local_size, configuration, interval + (", tie" if row.tie else "")]


def test_the_readme_names_the_bests_that_are_none() -> None:
    slower = [(sweep, row.benchmark) for sweep in SWEEPS for row in best_of(*sweep).itertuples() if row.high < 1]
    assert slower == [(SWEEPS[1], "binarySearch"), (SWEEPS[1], "nbody")]
    assert re.search(r"interval lies below 1 \(binarySearch and nbody on PoCL\)", README)


def test_the_readme_names_the_gain_that_is_less_sure() -> None:
    rows = frame_of(*SWEEPS[0])
    again = best_of(*SWEEPS[0]).set_index("benchmark")["speedup"]["mvUncoal"]
    first = rows.loc[(rows["benchmark"] == "mvUncoal") & (rows["role"] == Role.COMPARISON), "speedup"].max()
    assert f"({first:.2f} at first, then {again:.2f})" in " ".join(README.split())


@every_sweep
def test_the_files_survive_csv(name: str, form: str, tmp_path: Path) -> None:
    write_table(rows_of(name, form), tmp_path / "rows.csv")
    assert read_table(tmp_path / "rows.csv") == rows_of(name, form)


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 3 << 20
