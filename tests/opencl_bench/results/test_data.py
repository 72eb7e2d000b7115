"""The committed sweeps are whole, can be read, and say what their README says."""

from __future__ import annotations

import functools
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from coarsen.opencl_bench.results.best import BestRow, geometric_mean, summaries
from coarsen.opencl_bench.results.exchange.files import read_table
from coarsen.opencl_bench.results.frames import frame
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.measure.speedup import CLEAR_GAIN, Speedup
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.variant.variant import Variant, shape
from tests.opencl_bench.results.best_rows import best_rows

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
def best_of(name: str, form: str) -> dict[str, BestRow]:
    return {best.case.benchmark: best for best in best_rows(rows_of(name, form))}


def confirmed(name: str, form: str) -> pd.DataFrame:
    """The configuration of each kernel that was timed once more."""
    rows = frame_of(name, form)
    return rows[rows["role"] == Role.CONFIRMATION]


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
    rows = frame_of(name, form)
    compared = rows[(rows["role"] == Role.COMPARISON) & rows["speedup"].notna()]
    fastest = compared.loc[compared.groupby("benchmark")["speedup"].idxmax()]
    again = confirmed(name, form).set_index("benchmark")["configuration"]
    assert again.to_dict() == fastest.set_index("benchmark")["configuration"].to_dict()
    assert all(best.is_confirmed for best in best_of(name, form).values() if best.is_coarsened)


@pytest.mark.parametrize(("line", "sweep"), list(enumerate(SWEEPS)))
def test_the_readme_says_how_much_is_won(line: int, sweep: tuple[str, str]) -> None:
    file, *_, count, mean, helped, clearly = table_below("# Our own measurements")[line]
    best = best_of(*sweep)
    assert file == f"`{sweep[0]}.parquet`"
    assert (int(count), mean) == (len(rows_of(*sweep)), f"{geometric_mean(best.values()):.2f}")
    assert helped == f"{sum(each.is_coarsened for each in best.values())} of {len(best)}"
    assert int(clearly) == sum(each.speedup.low > CLEAR_GAIN for each in best.values())


def test_the_readme_says_what_most_kernels_gain_on_intel() -> None:
    assert "half of the kernels gain less than 1.38" in " ".join(README.split())
    gains = {kernel: best.speedup.ratio for kernel, best in best_of(*SWEEPS[0]).items()}
    assert sum(gain < 1.38 for gain in gains.values()) == 9
    assert sorted(sorted(gains, key=gains.__getitem__)[-3:]) == ["binarySearch", "reduce", "sgemm"]


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
    twice = confirmed(*sweep).merge(compared, on=["benchmark", "configuration"], suffixes=("", "_first"))
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
    known = best_of(*sweep)
    assert table_below(f"### {heading}\n") == [
        best_line(kernel, known.get(kernel)) for kernel in sorted(SUITE, key=str.casefold)
    ]


def best_line(kernel: str, best: BestRow | None) -> list[str]:
    """A line of the README's tables of best configurations."""
    if best is None:
        return [kernel, "refused", "", ""]
    baseline = shape(best.baseline.local_size)
    if best.is_coarsened:
        return [kernel, baseline, words(best.candidate), numbers(best.speedup)]
    again = best.challenger if best.challenger and best.challenger.role is Role.CONFIRMATION else None
    assert best.challenger_speedup is None or again is not None
    tried = f"; {words(again.candidate)} had {numbers(best.challenger_speedup)}" if again else ""
    return [kernel, baseline, "as it is", f"1.00{tried}"]


def words(candidate: Variant) -> str:
    (coarsening,) = candidate.coarsenings
    stride = f", stride {coarsening.stride}" if coarsening.stride > 1 else ""
    return f"{coarsening.factor} along {coarsening.dimension}{stride}; {shape(candidate.local_size)}"


def numbers(gain: Speedup | None) -> str:
    assert gain is not None
    return f"{gain.ratio:.2f} ({gain.low:.2f}–{gain.high:.2f})"


def test_the_readme_names_the_choices_that_were_noise() -> None:
    slower = [(sweep, row.benchmark) for sweep in SWEEPS for row in confirmed(*sweep).itertuples() if row.high < 1]
    assert slower == [(SWEEPS[1], "binarySearch"), (SWEEPS[1], "nbody")]
    assert re.search(r"interval even lies below 1 \(binarySearch and nbody on PoCL\)", " ".join(README.split()))


def test_the_readme_names_the_gain_that_is_less_sure() -> None:
    rows = frame_of(*SWEEPS[0])
    again = best_of(*SWEEPS[0])["mvUncoal"].speedup.ratio
    first = rows.loc[(rows["benchmark"] == "mvUncoal") & (rows["role"] == Role.COMPARISON), "speedup"].max()
    assert f"({first:.2f} at first, then {again:.2f})" in " ".join(README.split())


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 20 << 20
