"""Code that is built ahead, and packs that are run in parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.run_pack import main
from coarsen.opencl_bench.sweep.pack.running import Builders
from coarsen.tuning.processes.measuring_process import machine_to_json
from coarsen.tuning.records.code import Code
from coarsen.tuning.records.measurement import Invalidity
from tests.opencl_bench.sweep.pack.small_pack import DEVICE, make_pack, run

SOURCE = "kernel void copy(global int *to) { to[get_global_id(0)] = 1; }"


def test_a_build_gives_a_binary_and_a_failure_none() -> None:
    right, wrong = Code("opencl_c", "copy", SOURCE), Code("opencl_c", "copy", "kernel void copy(")
    codes = {code.hash: code for code in (right, wrong)}
    with Builders(2, machine_to_json(find_device(DEVICE)), 60.0) as builders:
        builders.begin(list(codes), codes.__getitem__)
        builders.wait()
        assert builders.binary(right.hash) and builders.binary(wrong.hash) is None
        assert builders.binary("another") is None
    with Builders(1, {"kind": "opencl", "device": {}}, 60.0) as builders:
        builders.begin([right.hash], codes.__getitem__)
        assert builders.binary(right.hash) is None, "a process that dies is no reason to stop"


def test_parts_are_the_whole_and_builders_change_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_pack(tmp_path / "pack", "reduce", "mvCoal", "launch-0-24")
    names = []
    for part in ("1/2", "2/2"):
        output = tmp_path / f"{part[0]}.jsonl"
        finished = run(tmp_path / "pack", output, "--no-confirmation", "--part", part, "--builders", "2")
        assert finished.returncode == 0, finished.stderr
        assert "kernels before anything is measured" in finished.stdout
        rows = read_lines(output)
        assert {row.invalidity for row in rows} <= {Invalidity.CORRECT, Invalidity.CONSTRAINTS}
        names.append({row.subject.benchmark for row in rows})
    assert names == [{"reduce", "launch-0-24"}, {"mvCoal"}]
    with pytest.raises(SystemExit):
        main([str(tmp_path / "pack"), "--part", "3/2"])
    assert "argument --part: invalid _part value: '3/2'" in capsys.readouterr().err
