"""What the study of compiled facts says of rows whose connections are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from coarsen.devices.compiled.build import ProgramText
from coarsen.devices.compiled.reading import Reading
from coarsen.devices.discovery import DeviceDescription
from coarsen.models.compiled.facts import CompiledFacts
from coarsen.models.compiled.inputs import CHANGED_FACTS
from coarsen.opencl_bench.results.shipped import shipped_files
from coarsen.opencl_bench.studies import compiled_facts
from coarsen.opencl_bench.studies.compiled_changes import ChangedRow, measured
from coarsen.opencl_bench.studies.compiled_directions import LOSS, Direction, directions
from coarsen.opencl_bench.studies.compiled_facts import WORK, FactRow, fact_rows, main
from coarsen.runtime import compiled_variants


def row(kernel: int, factor: int, gain: float, **changes: float | None) -> ChangedRow:
    return ChangedRow(f"k{kernel}", 0, factor, gain, {**dict.fromkeys(CHANGED_FACTS, None), **changes})


def found(rows: Sequence[ChangedRow], fact: str) -> FactRow:
    return next(each for each in fact_rows(rows, seed=1) if each.fact == fact)


def test_a_fact_that_decides_is_told_from_one_that_follows_the_factor() -> None:
    # The gain falls with the factor and with the lanes; the size of the code follows the factor alone.
    rows = [
        row(kernel, 2**step, -step - kernel / 10, item_lanes=-kernel / 10, code_bytes=step)
        for kernel in range(12)
        for step in (1, 2, 3)
    ]
    lanes, code = found(rows, "item_lanes"), found(rows, "code_bytes")
    assert lanes.at_one_factor == pytest.approx(1)
    assert code.correlation is not None and code.correlation < -0.8
    assert code.at_one_factor is None, "at one factor it is constant"
    factor = found(rows, "factor")
    assert factor.correlation == pytest.approx(code.correlation)
    assert lanes.low is not None and lanes.high is not None and lanes.correlation is not None
    assert lanes.low <= lanes.correlation <= lanes.high
    assert (lanes.rows, lanes.changed) == (36, 33)


def test_losses_are_told_by_the_larger_change() -> None:
    rows = [row(n, 2, LOSS - 1 if n < 5 else 1.0, spilled_bytes=10.0 if n < 5 else 0.0) for n in range(10)]
    assert found(rows, "spilled_bytes").tells_losses == 1
    same = [row(n, 2, LOSS - 1 if n < 5 else 1.0, spilled_bytes=0.0) for n in range(10)]
    assert found(same, "spilled_bytes").tells_losses == 0.5
    assert found([row(n, 2, 1.0, spilled_bytes=0.0) for n in range(10)], "spilled_bytes").tells_losses is None


def test_what_is_not_known_is_left_out() -> None:
    rows = [row(n, 2, n, registers=float(n) if n % 2 else None) for n in range(20)]
    registers = found(rows, "registers")
    assert registers.rows == 10 and registers.correlation == pytest.approx(1)
    assert found(rows, "occupancy") == FactRow("occupancy", 0, 0, None, None, None, None, None)


def test_work_of_an_item_counts_lanes_and_factor() -> None:
    rows = [row(n, 4, n, weighted_instructions=5.0 + n, item_lanes=1.0) for n in range(10)]
    assert found(rows, WORK).correlation == pytest.approx(1)
    assert found([row(1, 4, 1.0, weighted_instructions=5.0)], WORK).rows == 0


def test_rows_are_grouped_by_the_direction_of_a_change() -> None:
    rows = [
        row(1, 2, 1.0, gathers=-2.0, scatters=0.0),
        row(1, 4, -1.0, gathers=1.0, scatters=0.0),
        row(2, 4, -3.0, gathers=3.0, scatters=0.0),
        row(2, 2, 0.0, gathers=0.0),
    ]
    assert directions(rows) == [
        Direction("gathers", "fell", 1, 1, 2.0, 0.0),
        Direction("gathers", "same", 1, 1, 1.0, 0.0),
        Direction("gathers", "rose", 2, 2, 0.25, 1.0),
    ], "scatters never change"


def test_a_drawn_kernel_has_all_of_its_rows() -> None:
    drawn = measured(shipped_files()["synthetic_pocl"], 2, seed=3)
    assert len(drawn) == 2
    for name, rows in drawn.items():
        assert name.startswith("synthetic-")
        assert all(len(each.candidate.coarsenings) == 1 and each.baseline for each in rows)
        assert len({each.candidate for each in rows}) == len(rows)


def test_the_study_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def read(device: DeviceDescription, programs: Sequence[ProgramText]) -> list[Reading]:
        return [Reading(CompiledFacts(code_bytes=len(program.source))) for program in programs]

    monkeypatch.setattr(compiled_variants, "read_compiled_facts", read)
    monkeypatch.setattr(compiled_facts, "_RESAMPLES", 5)
    assert main(["intel", "--kernels", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "2 kernels" in lines[0]
    assert [line.split()[0] for line in lines[2:4]] == ["factor", "item_lanes"]
    assert main(["intel", "--kernels", "1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["rows"] and data["directions"] == [] and len(data["facts"]) == len(CHANGED_FACTS) + 2


def test_a_file_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = {"synthetic_intel": tmp_path / "none.parquet"}
    monkeypatch.setattr(compiled_facts, "shipped_files", lambda: missing)
    assert main(["intel"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
