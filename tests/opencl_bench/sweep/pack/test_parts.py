"""Packs that are run in parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.run_pack import main
from coarsen.tuning.records.measurement import Invalidity
from tests.opencl_bench.sweep.pack.small_pack import make_pack, run


def test_parts_are_the_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_pack(tmp_path / "pack", "reduce", "mvCoal", "launch-0-24")
    names = []
    for part in ("1/2", "2/2"):
        output = tmp_path / f"{part[0]}.jsonl"
        finished = run(tmp_path / "pack", output, "--no-confirmation", "--part", part)
        assert finished.returncode == 0, finished.stderr
        rows = read_lines(output)
        assert {row.invalidity for row in rows} <= {Invalidity.CORRECT, Invalidity.CONSTRAINTS}
        names.append({row.subject.benchmark for row in rows})
    assert names == [{"reduce", "launch-0-24"}, {"mvCoal"}]
    with pytest.raises(SystemExit):
        main([str(tmp_path / "pack"), "--part", "3/2"])
    assert "argument --part: give K/N, such as 1/2, not '3/2'" in capsys.readouterr().err
