"""Packs run in processes of their own: rows arrive, failures are rows, nothing heavy is imported."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.run_pack import main
from coarsen.opencl_bench.sweep.pack import running
from coarsen.opencl_bench.sweep.pack.plan import Pack, code_to_file
from coarsen.tuning.engine import rows
from coarsen.tuning.engine.plan import Point, Space
from coarsen.tuning.engine.row_measurer import SweepContext
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Role
from tests.opencl_bench.sweep.pack.small_pack import DEVICE, command, make_pack, run
from tests.opencl_bench.sweep.pack.test_writing import SCALE, SCALE_FILE

# What a machine that only measures doesn't have.
ABSENT = (
    *("click", "llvmlite", "matplotlib", "networkx", "pandas", "pyarrow", "rich"),
    *("safetensors", "scipy", "sqlalchemy", "torch", "typer", "ziglang"),
)
BLOCKER = """\
import sys


class Blind:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.split(".")[0] in {absent!r} else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Blind(finder) for finder in sys.meta_path]
"""


def blocking(folder: Path, *absent: str) -> dict[str, str]:
    """An environment in which no Python process has these packages."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(BLOCKER.format(absent=absent))
    return {"PYTHONPATH": str(folder)}


def test_rows_of_a_run_without_any_heavy_package(small_pack: Path, tmp_path: Path) -> None:
    output = tmp_path / "results.jsonl"
    finished = run(small_pack, output, environment=blocking(tmp_path / "site", *ABSENT))
    assert finished.returncode == 0, finished.stderr
    rows = read_lines(output)
    assert {row.subject.benchmark for row in rows} == {"reduce", "mvCoal"}
    endings = Counter(row.invalidity for row in rows)
    assert set(endings) <= {Invalidity.CORRECT, Invalidity.CONSTRAINTS} and endings[Invalidity.CONSTRAINTS]
    assert {row.oracle for row in rows if row.invalidity is Invalidity.CORRECT} == {CheckedAgainst.REFERENCE}
    assert [row.role for row in rows[:2]] == [Role.SELECTION] * 2
    assert rows[-1].role is Role.CONFIRMATION
    names = [name for name, _ in rows[0].environment.versions]
    assert names == ["coarsen", "llvmlite", "pyopencl"]
    assert finished.stdout.count(" measured in ") == 2


def test_a_second_run_measures_nothing_again(small_pack: Path, tmp_path: Path) -> None:
    output = tmp_path / "results.jsonl"
    assert run(small_pack, output, "--benchmark", "reduce", "--no-confirmation").returncode == 0
    first = output.read_bytes()
    again = run(small_pack, output, "--benchmark", "reduce", "--no-confirmation")
    assert again.returncode == 0 and "; 0 measured in " in again.stdout
    assert output.read_bytes() == first


def test_a_drawn_kernel_whose_best_is_not_confirmed(tmp_path: Path) -> None:
    make_pack(tmp_path / "pack", "launch-0-1", space=Space((1, 2), (1,), local_sizes=((64,),)))
    output = tmp_path / "results.jsonl"
    finished = run(tmp_path / "pack", output, "--no-confirmation")
    assert finished.returncode == 0, finished.stderr
    rows = read_lines(output)
    assert [row.role for row in rows] == [Role.SELECTION, Role.COMPARISON, Role.COMPARISON]
    assert {row.invalidity for row in rows} == {Invalidity.CORRECT}
    assert {row.subject.benchmark for row in rows} == {"launch-0-1"}
    assert [row.oracle for row in rows if row.candidate.coarsenings] == [CheckedAgainst.UNCOARSENED]
    assert run(tmp_path / "pack", output).returncode == 0
    # Factor 2 and the kernel as it is, in each of three processes.
    assert [row.role for row in read_lines(output)[3:]] == [Role.CONFIRMATION] * 2 * 3


def test_killed_and_continued(small_pack: Path, tmp_path: Path) -> None:
    output = tmp_path / "results.jsonl"
    process = subprocess.Popen(command(small_pack, output), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (output.exists() and output.read_bytes().count(b"\n") >= 2):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with output.open("ab") as file:
        file.write(b'{"key": "a row that was being writ')
    kept = {row.key for row in read_lines(output)}
    finished = run(small_pack, output)
    assert finished.returncode == 0, finished.stderr
    rows = read_lines(output)
    assert kept < {row.key for row in rows}
    assert output.read_bytes().count(b"\n") == len(rows), "no row is there twice"
    assert finished.stdout.count(" over uncoarsened") == 2


def test_failures_are_rows(small_pack: Path, tmp_path: Path) -> None:
    """A candidate that was not compiled, one that the device's compiler refuses, one with wrong results."""
    pack = Path(shutil.copytree(small_pack, tmp_path / "pack"))
    plan = json.loads((pack / "plan.json").read_text())
    sweep = next(sweep for sweep in plan["sweeps"] if sweep["benchmark"] == "reduce")
    plan["sweeps"] = [sweep]
    coarsened = [c for c in sweep["candidates"] if c["candidate"]["coarsenings"] and c["code"]]
    coarsened[0] |= {"code": None, "invalidity": "compile", "failure": "refused here"}
    replaced = coarsened[1]["code"]
    coarsened[1]["code"] = _other_code(pack, replaced, "kernel void reduce( {")
    entries = [c for c in sweep["candidates"] if c["candidate"] == {**c["candidate"], "local_size": [128]}]
    wrong = next(c for c in entries if not c["candidate"]["coarsenings"])
    nothing = "kernel void reduce(global uint4 *a, global uint4 *b, local uint4 *c) { }"
    wrong["code"] = _other_code(pack, wrong["code"], nothing)
    (pack / "plan.json").write_text(json.dumps(plan))

    output = tmp_path / "results.jsonl"
    finished = run(pack, output, "--no-confirmation")
    assert finished.returncode == 0, finished.stderr
    rows = [row for row in read_lines(output) if row.role is Role.COMPARISON]
    reasons = {row.invalidity: row.reason for row in rows if row.invalidity is not Invalidity.CORRECT}
    compile_reasons = {row.reason for row in rows if row.invalidity is Invalidity.COMPILE}
    assert "refused here" in compile_reasons and len(compile_reasons) == 2
    assert "elements wrong" in reasons[Invalidity.CORRECTNESS]
    assert any(row.invalidity is Invalidity.CORRECT for row in rows)


def _other_code(pack: Path, replaced: str, content: str) -> str:
    """Put a code into a pack, with the options of another."""
    key, data = code_to_file(replace(Pack(pack).code(replaced), content=content))
    (pack / "code" / f"{key}.json").write_bytes(data)
    return key


def test_a_benchmark_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "scale.cl").write_text(SCALE)
    (tmp_path / "scale.toml").write_text(SCALE_FILE)
    make_pack(tmp_path / "pack", tmp_path / "scale.toml")
    site = blocking(tmp_path / "site", *ABSENT)
    finished = run(tmp_path / "pack", tmp_path / "results.jsonl", "--no-confirmation", environment=site)
    assert finished.returncode == 0, finished.stderr
    rows = read_lines(tmp_path / "results.jsonl")
    assert {row.oracle for row in rows if row.candidate.coarsenings and row.nanoseconds} == {
        CheckedAgainst.UNCOARSENED
    }


def test_bad_input_is_one_line(small_pack: Path, tmp_path: Path) -> None:
    output = tmp_path / "results.jsonl"
    for options, exit_code, message in (
        (("--device", "nonesuch"), 4, "no OpenCL device is called 'nonesuch'"),
        (("--form", "spirv"), 2, "the pack has no code of the form spirv"),
        (("--benchmark", "sgem"), 2, "the pack has no benchmark 'sgem'; it has mvCoal, reduce"),
    ):
        finished = run(small_pack, output, *options)
        assert finished.returncode == exit_code
        assert finished.stderr == f"error: {message}\n" or message in finished.stderr.splitlines()[-1]
        assert len(finished.stderr.splitlines()) == 1, finished.stderr
    assert run(tmp_path / "nowhere", output).stderr.startswith("error: ")


def test_a_pack_of_another_version_is_refused(small_pack: Path, tmp_path: Path) -> None:
    """Its rows would say that the other version made the inputs."""
    pack = Path(shutil.copytree(small_pack, tmp_path / "pack"))
    plan = json.loads((pack / "plan.json").read_text())
    plan["versions"] = [["coarsen", "0.0.1"]]
    (pack / "plan.json").write_text(json.dumps(plan))
    finished = run(pack, tmp_path / "results.jsonl")
    assert finished.returncode == 2
    assert finished.stderr.startswith("error: the pack was made by coarsen 0.0.1, and this is ")


def test_a_benchmark_that_was_changed_in_the_pack_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scale.cl").write_text(SCALE)
    (tmp_path / "scale.toml").write_text(SCALE_FILE)
    make_pack(tmp_path / "pack", tmp_path / "scale.toml")
    packed = tmp_path / "pack" / "benchmarks" / "0" / "scale.toml"
    packed.write_text(packed.read_text().replace("uniform(-1, 1)", "uniform(-1, 2)"))
    finished = run(tmp_path / "pack", tmp_path / "results.jsonl")
    assert (finished.returncode, finished.stderr) == (2, "error: scale is not what the pack was made with\n")


def test_a_full_disk_is_one_line(
    small_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("coarsen.opencl_bench.results.exchange.lines.os.fsync", fail)
    output = str(tmp_path / "results.jsonl")
    assert main([str(small_pack), "-o", output, "--device", DEVICE, "--benchmark", "reduce"]) == 2
    assert capsys.readouterr().err == f"error: {output}: can't be written: No space left on device\n"


def test_a_sweep_that_ends_in_an_internal_error_is_said(
    small_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the other one is run nevertheless."""
    measure_all = rows.measure_points

    def fail_once(context: SweepContext, space: Sequence[Point]) -> str:
        monkeypatch.setattr(running, "measure_points", measure_all)
        raise ZeroDivisionError("for the test")

    monkeypatch.setattr(running, "measure_points", fail_once)
    output = str(tmp_path / "results.jsonl")
    assert main([str(small_pack), "-o", output, "--device", DEVICE, "--no-confirmation"]) == 1
    printed = capsys.readouterr()
    bug = "error: reduce: this is a bug in coarsen: ZeroDivisionError: for the test"
    assert printed.err.startswith(f"{bug}; report it with this file: ") and printed.err.count("\n") == 1
    assert {row.subject.benchmark for row in read_lines(Path(output))} == {"mvCoal"}


def test_a_benchmark_that_nothing_runs_is_an_error(small_pack: Path, tmp_path: Path) -> None:
    pack = Path(shutil.copytree(small_pack, tmp_path / "pack"))
    plan = json.loads((pack / "plan.json").read_text())
    plan["sweeps"] = [sweep for sweep in plan["sweeps"] if sweep["benchmark"] == "reduce"]
    for candidate in plan["sweeps"][0]["candidates"]:
        if candidate["code"]:
            candidate["code"] = None
            candidate |= {"invalidity": "compile", "failure": "refused here"}
    (pack / "plan.json").write_text(json.dumps(plan))
    finished = run(pack, tmp_path / "results.jsonl")
    assert finished.returncode == 2
    assert finished.stderr.startswith("error: reduce: ") and len(finished.stderr.splitlines()) == 1
