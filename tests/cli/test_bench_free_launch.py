"""`coarsen bench` and `coarsen bench pack` with kernels of free launch and their design."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.results.exchange.tables import read_table
from coarsen.opencl_bench.run_pack import main as run_pack
from coarsen.opencl_bench.sweep.grid_design import GridDesign
from coarsen.opencl_bench.sweep.points import limits_of
from coarsen.opencl_bench.workloads.free_launch import free_launch_benchmark
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant_json import variant_to_json
from tests.cli.conftest import Run

DESIGN = ("--free-launch", "14-14", "--design", "sparse", "--quick", "--no-confirmation")
CONFIGURATIONS = 10


def test_the_design_is_measured_and_not_measured_again(tmp_path: Path, run: Run) -> None:
    words = ("bench", "-d", "intel", *DESIGN, "-f", "json", "-q", "--store", tmp_path / "store")
    done = run(*words, "-o", tmp_path / "rows.parquet")
    assert (done.code, done.err) == (0, "")
    (sweep,) = json.loads(done.out)["sweeps"]
    local_sizes = free_launch_benchmark("launch-0-14").local_sizes
    assert (sweep["benchmark"], sweep["rows"]) == ("launch-0-14", 2 * len(local_sizes) + CONFIGURATIONS)
    rows = read_table(tmp_path / "rows.parquet")
    assert {row.subject.preset for row in rows} == {"few"} and {row.invalidity.value for row in rows} == {
        "correct"
    }
    originals = [row for row in rows if not row.candidate.is_coarsened and row.role.value == "comparison"]
    assert {row.candidate.local_size for row in originals} == set(local_sizes)
    # The results at the kernel's own local size are the measure of those at all others.
    against = {row.candidate.local_size: row.oracle.value for row in originals}
    assert against.pop(local_sizes[0]) == "nothing" and set(against.values()) == {"uncoarsened"}
    assert {row.method.compile_seconds for row in rows} == {20.0}
    assert [sweep["measured"] for sweep in json.loads(run(*words).out)["sweeps"]] == [0]


def test_a_pack_has_the_sizes_of_gpus(tmp_path: Path, run: Run) -> None:
    done = run("bench", "pack", "--free-launch", "11-12", *DESIGN[2:5], "-o", tmp_path / "pack", "-q")
    assert (done.code, done.err) == (0, "")
    plan = json.loads((tmp_path / "pack" / "plan.json").read_text())
    assert [(each["benchmark"], each["preset"]) for each in plan["sweeps"]] == [
        ("launch-0-11", "gpu_caches"),
        ("launch-0-12", "few"),
    ]
    assert {len(each["candidates"]) for each in plan["sweeps"]} == {4 + CONFIGURATIONS}
    assert not (tmp_path / "pack" / "unfinished").exists()


def test_a_pack_for_cpus_has_theirs(tmp_path: Path, run: Run) -> None:
    words = ("--free-launch", "11-11", *DESIGN[2:5], "--device-kind", "cpu")
    assert run("bench", "pack", *words, "-o", tmp_path / "pack", "-q").code == 0
    (sweep,) = json.loads((tmp_path / "pack" / "plan.json").read_text())["sweeps"]
    assert sweep["preset"] == "caches"
    coarsened = [each["candidate"] for each in sweep["candidates"] if each["candidate"]["coarsenings"]]
    assert {each["transforms"]["device_kind"] for each in coarsened} == {"cpu"}


def test_the_grid_is_measured_and_not_measured_again(tmp_path: Path, run: Run) -> None:
    design = ("launch-0-13", "--preset", "test", "--design", "grid", "--quick", "--no-confirmation")
    words = ("bench", "-d", "intel", *design, "-f", "json", "-q", "--store", tmp_path / "store")
    done = run(*words, "-o", tmp_path / "rows.parquet")
    assert (done.code, done.err) == (0, "")
    rows = read_table(tmp_path / "rows.parquet")
    compared = [row.candidate for row in rows if row.role.value == "comparison"]
    benchmark, place = free_launch_benchmark("launch-0-13"), find_device("intel")
    space = GridDesign().space(benchmark, "test", DeviceKind.CPU, limits_of(place))
    assert compared == list(space.variants or ())
    assert {row.invalidity.value for row in rows} == {"correct"}
    assert [sweep["measured"] for sweep in json.loads(run(*words).out)["sweeps"]] == [0]


def test_a_pack_of_the_grid_is_run(tmp_path: Path, run: Run) -> None:
    design = ("launch-0-13", "--preset", "test", "--design", "grid", "--quick", "--device-kind", "cpu")
    assert run("bench", "pack", *design, "-o", tmp_path / "pack", "-q").code == 0
    (sweep,) = json.loads((tmp_path / "pack" / "plan.json").read_text())["sweeps"]
    assert [each["candidate"] for each in sweep["candidates"]] == sweep["space"]["variants"]
    words = (str(tmp_path / "pack"), "-o", str(tmp_path / "rows.jsonl"), "--device", "intel", "--no-confirmation")
    assert run_pack([*words]) == 0
    rows = read_lines(tmp_path / "rows.jsonl")
    compared = [variant_to_json(row.candidate) for row in rows if row.role.value == "comparison"]
    assert compared == sweep["space"]["variants"]


@pytest.mark.parametrize("command", [("bench", "-d", "intel"), ("bench", "pack")])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--free-launch", "3"), "--free-launch takes the first and the last number, 0-99, not '3'"),
        (("--free-launch", "5-3"), "--free-launch takes the first and the last number, 0-99, not '5-3'"),
        (("mt", "--design", "sparse"), "mt: the sparse design is for kernels called launch-SEED-NUMBER"),
        ((*DESIGN[:4], "--factors", "2"), "--design sparse says what is measured: leave out --preset and"),
        ((*DESIGN[:4], "--preset", "few"), "--design sparse says what is measured: leave out --preset and"),
        ((*DESIGN[:3], "grid", "--factors", "2"), "--design grid says what is measured: leave out the options of"),
        (("launch-1",), "no benchmark 'launch-1'; a kernel of free launch is called launch-SEED-NUMBER"),
        (
            ("launch-0-1", "--preset", "paper"),
            "launch-0-1: no preset 'paper'; there are test, few, caches",
        ),
    ],
)
def test_refusals(
    command: tuple[str, ...], words: tuple[str, ...], message: str, tmp_path: Path, run: Run
) -> None:
    where = ("-o", tmp_path / "pack") if "pack" in command else ("--store", tmp_path / "store")
    done = run(*command, *words, *where)
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_a_pack_of_the_grid_is_for_a_kind_of_device(tmp_path: Path, run: Run) -> None:
    done = run("bench", "pack", "launch-0-13", "--preset", "few", "--design", "grid", "-o", tmp_path / "pack")
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith("the grid is that of a CPU or a GPU")
    assert done.error.endswith("--device-kind tells a pack")
    assert list(tmp_path.iterdir()) == []
