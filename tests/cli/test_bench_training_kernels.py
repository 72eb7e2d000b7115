"""`coarsen bench` with kernels of training; `--space grid`: all that a prediction considers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.results.exchange.files import read_table
from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.run_pack import main as run_pack
from coarsen.opencl_bench.sweep.grid_design import grid_space
from coarsen.opencl_bench.sweep.pack.writing import USUAL_LIMITS
from coarsen.opencl_bench.workloads.training_kernels import training_kernel
from coarsen.tuning.engine.plan import limits_of
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant_json import variant_to_json
from tests.cli.conftest import Run

_SPACE = ("factor=1,2", "stride=1", "dim=0", "local-size=64")
SMALL = ("--preset", "test", "--quick", *(word for value in _SPACE for word in ("--space", value)))
ON_INTEL = ("bench", "-d", "intel", *SMALL, "-f", "json", "-q")
# Both can have 64 work-items in a group.
KERNELS = ("launch-0-1", "launch-0-24")


def test_kernels_are_measured_with_and_without_confirmation(tmp_path: Path, run: Run) -> None:
    words = (*ON_INTEL, *KERNELS, "--store", tmp_path / "store", "-o", tmp_path / "rows.parquet")
    done = run(*words, "--no-confirmation")
    assert (done.code, done.err) == (0, "")
    sweeps = json.loads(done.out)["sweeps"]
    # A selection and two comparisons each.
    assert [(each["benchmark"], each["rows"]) for each in sweeps] == [(name, 3) for name in KERNELS]
    rows = read_table(tmp_path / "rows.parquet")
    assert {row.role.value for row in rows} == {"selection", "comparison"}
    assert {row.subject.kernel for row in rows} == {training_kernel(name).kernel for name in KERNELS}
    assert {row.oracle.value for row in rows if row.candidate.coarsenings} == {"uncoarsened"}

    confirmed = json.loads(run(*words).out)["sweeps"]
    assert [(each["rows"], each["measured"]) for each in confirmed] == [(9, 6), (9, 6)]
    assert {row.role.value for row in read_table(tmp_path / "rows.parquet")} >= {"confirmation"}


def test_a_pack_of_kernels_of_training(tmp_path: Path, run: Run) -> None:
    done = run("bench", *KERNELS, *SMALL, "--pack", tmp_path / "pack", "-q")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{tmp_path / 'pack'}: 2 sweeps, 4 configurations (0 of them not to be run)")
    plan = json.loads((tmp_path / "pack" / "plan.json").read_text())
    assert [sweep["benchmark"] for sweep in plan["sweeps"]] == [*KERNELS]
    codes = [json.loads(path.read_text())["content"] for path in (tmp_path / "pack" / "code").iterdir()]
    assert {training_kernel(name).source for name in KERNELS} <= set(codes)


def test_the_grid_is_measured_and_not_measured_again(tmp_path: Path, run: Run) -> None:
    design = ("launch-0-13", "--preset", "test", "--space", "grid", "--quick", "--no-confirmation")
    words = ("bench", "-d", "intel", *design, "-f", "json", "-q", "--store", tmp_path / "store")
    done = run(*words, "-o", tmp_path / "rows.parquet")
    assert (done.code, done.err) == (0, "")
    rows = read_table(tmp_path / "rows.parquet")
    compared = [row.candidate for row in rows if row.role.value == "comparison"]
    benchmark, place = training_kernel("launch-0-13"), find_device("intel")
    space = grid_space(benchmark, "test", DeviceKind.CPU, limits_of(place))
    assert compared == list(space.variants or ())
    assert {row.invalidity.value for row in rows} == {"correct"}
    assert [sweep["measured"] for sweep in json.loads(run(*words).out)["sweeps"]] == [0]


def test_a_pack_of_the_grid_is_run(tmp_path: Path, run: Run) -> None:
    design = ("launch-0-13", "--preset", "test", "--space", "grid", "--quick", "--device", "cpu")
    assert run("bench", *design, "--pack", tmp_path / "pack", "-q").code == 0
    (sweep,) = json.loads((tmp_path / "pack" / "plan.json").read_text())["sweeps"]
    space = grid_space(training_kernel("launch-0-13"), "test", DeviceKind.CPU, USUAL_LIMITS)
    grid = [variant_to_json(variant) for variant in space.variants or ()]
    assert grid
    assert [each["candidate"] for each in sweep["candidates"]] == grid
    words = (str(tmp_path / "pack"), "-o", str(tmp_path / "rows.jsonl"), "--device", "intel", "--no-confirmation")
    assert run_pack([*words]) == 0
    rows = read_lines(tmp_path / "rows.jsonl")
    assert [variant_to_json(row.candidate) for row in rows if row.role.value == "comparison"] == grid


def test_a_pack_of_the_grid_is_for_a_kind_of_device(tmp_path: Path, run: Run) -> None:
    done = run("bench", "launch-0-13", "--preset", "few", "--space", "grid", "--pack", tmp_path / "pack")
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith("the grid is that of a CPU or a GPU")
    assert done.error.endswith("--device cpu or gpu tells a pack")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("synthetic-0-1",), "no benchmark 'synthetic-0-1'; there are"),
        (("launch-1",), "no benchmark 'launch-1'; there are launch-0-0 to launch-0-999"),
        (
            ("launch-0-1", "--preset", "paper"),
            "launch-0-1: no preset 'paper'; there are test, few, caches",
        ),
    ],
)
def test_refusals(words: tuple[str, ...], message: str, tmp_path: Path, run: Run) -> None:
    done = run("bench", "-d", "intel", *words, "--store", tmp_path / "store")
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith(message)
    assert list(tmp_path.iterdir()) == []
