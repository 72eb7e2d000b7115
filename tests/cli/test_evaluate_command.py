"""`coarsen evaluate`: its tables, its JSON, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.opencl_bench.results.exchange.files import write_results
from tests.opencl_bench.results.test_measured_curves import row

Run = Callable[..., Any]
RUNTIMES = """\
kernel,factor,fermi_ns,cypress_ns
sgemm,1,800,800
sgemm,2,400,400
sgemm,4,200,
nbody,1,100,100
nbody,2,80,125
spmv,1,100,100
spmv,2,200,200
spmv,4,1000,1000
mt,1,100,100
mt,2,80,80
mtLocal,1,100,100
mtLocal,2,100,80
"""
BEST = """\
kernel,device,predicted_factor,best_factor
sgemm,kepler,8,16
nbody,kepler,2,2
spmv,kepler,1,1
"""
SIMPLE = ("--model", "never", "--model", "unique", "--model", "oracle")


@pytest.fixture
def runtimes(tmp_path: Path) -> Path:
    """A table of runtimes of five kernels on two devices."""
    path = tmp_path / "runtimes.csv"
    path.write_text(RUNTIMES)
    return path


@pytest.fixture
def best(tmp_path: Path) -> Path:
    """A table of best factors of three kernels on another device."""
    path = tmp_path / "best.csv"
    path.write_text(BEST)
    return path


def rows_of(text: str, heading: str) -> dict[str, list[str]]:
    """The cells of the first table after a line that begins so, by their first cell."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.startswith(heading))
    next(lines)
    rows: dict[str, list[str]] = {}
    for line in lines:
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        if len(cells) < 2:
            break
        rows[cells[0]] = cells[1:]
    return rows


def test_the_scores_of_each_device_and_of_all(runtimes: Path, run: Run) -> None:
    outcome = run("evaluate", "--data", runtimes, *SIMPLE)
    assert outcome.code == 0
    assert outcome.out.splitlines()[0].startswith("Each kernel was predicted by models that had not seen it")
    fermi = rows_of(outcome.out, "fermi: 5 kernels")
    # (4 · 1.25 · 1 · 1.25 · 1) to the power of one fifth.
    assert fermi["oracle"][0].startswith("1.443 (1.")
    assert fermi["never"][:3] == ["1.000", "69 %", "0 %"]
    # Without sgemm or spmv, it is factor 2 or 4 that is best for the others.
    assert fermi["unique"][-2:] == ["1", "0.10 spmv"]
    assert set(rows_of(outcome.out, "all 2 devices: 10 cases")) == {"never", "unique", "oracle"}
    assert max(map(len, outcome.out.splitlines())) <= 100


def test_numbers_for_programs(runtimes: Path, run: Run) -> None:
    found = json.loads(run("evaluate", "--data", runtimes, *SIMPLE, "-f", "json").out)
    assert (found["methods"], found["dimension"], found["unseen"]) == (["never", "unique", "oracle"], 0, False)
    fermi = found["devices"]["fermi"]
    assert fermi["measured"] is True
    assert fermi["speedups"]["oracle"]["geometric_mean"] == pytest.approx((4 * 1.25 * 1.25) ** 0.2)
    assert fermi["hits"]["oracle"]["exact"] == 5
    sgemm = next(entry for entry in fermi["kernels"] if entry["kernel"] == "sgemm")
    assert (sgemm["best_factor"], sgemm["best_speedup"]) == (4, pytest.approx(4.0))
    assert sgemm["speedup"] == pytest.approx({"2": 2.0, "4": 4.0})
    assert sgemm["choices"]["never"] == [{"seed": 0, "factor": 1, "ran": 1, "speedup": 1.0}]
    assert found["all_measured"]["oracle"]["cases"] == 10


def test_a_kernel_of_which_the_best_factor_alone_is_known_has_no_speedup(runtimes: Path, run: Run) -> None:
    also = runtimes.with_name("also.csv")
    also.write_text("kernel,device,best_factor\nsobel,fermi,4\n")
    outcome = run("evaluate", "--data", runtimes, "--data", also, *SIMPLE, "-f", "json")
    kernels = {each["kernel"]: each for each in json.loads(outcome.out)["devices"]["fermi"]["kernels"]}
    chosen = kernels["sobel"]["choices"]["never"][0]
    assert (kernels["sobel"]["best_factor"], kernels["sobel"]["best_speedup"]) == (4, None)
    assert (chosen["factor"], chosen["ran"], chosen["speedup"]) == (1, None, None)
    assert kernels["sgemm"]["choices"]["never"][0]["speedup"] == 1.0


def test_details(runtimes: Path, run: Run) -> None:
    outcome = run("evaluate", "--data", runtimes, *SIMPLE, "--details", "--device", "cypress")
    details = rows_of(outcome.out, "kernel")
    assert "fermi" not in outcome.out
    rest = outcome.out[outcome.out.index("kernel   best") :]
    lines = {line.split()[0]: line.split()[1:] for line in rest.splitlines() if line}
    assert lines["sgemm"][:4] == ["2:", "2.00", "1:", "1.00"]
    assert lines["spmv"][:4] == ["1:", "1.00", "1:", "1.00"]
    assert details


def test_best_factors_print_hits(best: Path, run: Run) -> None:
    outcome = run("evaluate", "--data", best, *SIMPLE, "--model", "published", "--details")
    hits = rows_of(outcome.out, "kepler (best factors alone): 3 kernels")
    assert hits["oracle"][:2] == ["3/3", "3/3"]
    assert hits["published"][:3] == ["2/3", "3/3", "0.33 (0.00–1.00)"]
    assert hits["never"][:2] == ["1/3", "2/3"]
    assert "sgemm   16    1" in outcome.out
    assert "Speed-ups" not in outcome.out


def test_several_files(runtimes: Path, best: Path, run: Run) -> None:
    outcome = run("evaluate", "--data", runtimes, "--data", best, *SIMPLE, "-f", "json")
    devices = json.loads(outcome.out)["devices"]
    assert {name: entry["measured"] for name, entry in devices.items()} == {
        "fermi": True,
        "cypress": True,
        "kepler": False,
    }


def test_the_projects_own_measurements(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "rows.parquet"
    write_results([row(1.0), row(1.5, 2), row(1.2, 2, 1), row(1.8, 4, 1)], path)
    along = {}
    for dimension in (0, 1):
        out = run("evaluate", "--data", path, "--model", "oracle", "--dim", dimension, "-f", "json").out
        along[dimension] = json.loads(out)["devices"]["intel"]["speedups"]["oracle"]["geometric_mean"]
    assert along == {0: pytest.approx(1.5), 1: pytest.approx(1.8)}


def test_a_model_fitted_anew_with_several_seeds(runtimes: Path, run: Run) -> None:
    outcome = run("evaluate", "--data", runtimes, "--device", "fermi", "--model", "cascade", "--seeds", 2)
    assert outcome.code == 0
    assert "cascade: geometric mean " in outcome.out and " over 2 seeds, standard deviation " in outcome.out


def test_unseen_data_is_predicted_from_the_training_files(runtimes: Path, tmp_path: Path, run: Run) -> None:
    other = tmp_path / "other.csv"
    other.write_text("kernel,factor,fermi_ns\nreduce,1,100\nreduce,2,50\nsobel,1,100\nsobel,2,50\n")
    words = ("evaluate", "--data", runtimes, "--device", "fermi", "--model", "unique", "-f", "json")
    seen = json.loads(run(*words).out)
    unseen = json.loads(run(*words, "--unseen", "--training", other).out)

    def factors(found: dict[str, Any]) -> set[int]:
        kernels = found["devices"]["fermi"]["kernels"]
        return {entry["choices"]["unique"][0]["factor"] for entry in kernels}

    assert factors(unseen) == {2} != factors(seen)
    assert unseen["further_training"] == {"curves": 2, "kernels": 2}
    assert seen["further_training"] == {"curves": 0, "kernels": 0}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "best"), "no method 'best'; there are never, unique"),
        (("--device", "tahiti"), "the data has nothing of a device 'tahiti'; it has fermi, cypress"),
        (("--dim", "1"), "no kernel of the data was coarsened along dimension 1"),
        (("--dim", "3"), "the dimension"),
        (("--training", "x.csv"), "--training is for --unseen"),
        (("--seeds", "0"), "invalid value for '--seeds'"),
        (("--kernels", "nowhere"), "--kernels nowhere: there is no such folder"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], message: str, runtimes: Path, run: Run) -> None:
    simple = () if "best" in words else SIMPLE
    outcome = run("evaluate", "--data", runtimes, *simple, *words, "-q")
    assert outcome.code == 2
    assert message in outcome.error.casefold() or message in outcome.error


def test_a_wrong_table_is_one_line(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "table.csv"
    path.write_text("kernel,factor,fermi_ns\nsgemm,1,100\nsgemm,2,quick\n")
    outcome = run("evaluate", "--data", path, *SIMPLE)
    assert outcome.code == 2
    assert outcome.error == f"{path}, line 3: the fermi_ns 'quick' is no time above 0"


def test_a_kernel_that_nobody_knows_is_named(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "table.csv"
    path.write_text("kernel,factor,fermi_ns\nmine,1,100\nmine,2,50\n")
    outcome = run("evaluate", "--data", path, *SIMPLE, "-q")
    assert (outcome.code, outcome.error) == (2, "the kernel 'mine' is not in the suite, so it has no features")


def test_a_device_that_nobody_knows_needs_no_figures(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "table.csv"
    path.write_text("kernel,factor,mine_ns\nsgemm,1,100\nsgemm,2,50\nmt,1,100\nmt,2,50\n")
    # Its name may be written in capitals.
    out = run("evaluate", "--data", path, "-q", *SIMPLE, "--device", "MINE").out
    assert out.splitlines()[2] == "mine: 2 kernels"


def test_training_files_that_hold_the_data_are_no_other_kernels(runtimes: Path, run: Run) -> None:
    words = ("evaluate", "--data", runtimes, "-m", "unique", "--unseen", "--training")
    assert run(*words, runtimes).out.splitlines()[0] == (
        "Nothing of this data was learned from; 10 curves of 5 kernels were, but never those of the predicted "
        "kernel and its family."
    )


def test_the_legend_fits_a_narrow_terminal(runtimes: Path, run: Run) -> None:
    lines = run("evaluate", "--data", runtimes, "-m", "oracle").out.splitlines()
    assert max(map(len, lines[lines.index("") :])) <= 80


def test_two_devices_that_differ_in_capitals_are_two(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "table.csv"
    path.write_text("kernel,factor,Gpu_ns,gpu_ns\nsgemm,1,100,100\nsgemm,2,50,25\n")
    for name in ("Gpu", "gpu"):
        out = run("evaluate", "--data", path, "-m", "oracle", "--device", name, "-f", "json").out
        assert list(json.loads(out)["devices"]) == [name]
