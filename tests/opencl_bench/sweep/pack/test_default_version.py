"""A pack says which version others are compared with: one that is wrong for one macro value is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.exchange.lines import read_lines
from coarsen.opencl_bench.sweep.pack.plan import plan_from_json
from coarsen.opencl_bench.sweep.pack.writing import PackPart, PackRequest, write_pack
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Role
from tests.opencl_bench.planted import DEFAULT, VERSIONS, version, written
from tests.opencl_bench.sweep.pack.small_pack import METHOD, run

PRESETS = ("small", "large")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    file = written(tmp_path)
    parts = tuple(PackPart(file, preset, Space(variants=VERSIONS[1:]), DEFAULT) for preset in PRESETS)
    write_pack(PackRequest(parts, method=METHOD), tmp_path / "pack")
    return tmp_path / "pack"


def test_a_macro_value_with_wrong_results(pack: Path, tmp_path: Path) -> None:
    finished = run(pack, tmp_path / "rows.jsonl")
    assert finished.returncode == 0, finished.stderr
    rows = read_lines(tmp_path / "rows.jsonl")
    assert {(row.role, row.baseline) for row in rows} == {(Role.COMPARISON, DEFAULT)}
    right, wrong = (Invalidity.CORRECT, CheckedAgainst.DEFAULT), (Invalidity.CORRECTNESS, CheckedAgainst.NOTHING)
    expected = dict.fromkeys(VERSIONS, right) | dict.fromkeys((version(4), version(4, 16, 2)), wrong)
    expected[DEFAULT] = (Invalidity.CORRECT, CheckedAgainst.NOTHING)
    for preset in PRESETS:
        own = [row for row in rows if row.subject.preset == preset]
        assert {row.candidate: (row.invalidity, row.oracle) for row in own} == expected


def test_a_default_version_that_is_not_there(pack: Path) -> None:
    plan = json.loads((pack / "plan.json").read_text())
    plan["sweeps"][0]["default"]["local_size"] = [8]
    with pytest.raises(InvalidInputError, match="has no default version"):
        plan_from_json(plan)
