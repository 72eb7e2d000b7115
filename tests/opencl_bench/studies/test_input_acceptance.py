"""The acceptance table from made-up stores: every criterion with its number, or that it is not measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Entrant
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role, timed_seconds_of
from coarsen.opencl_bench.results.exchange.tables import read_table, write_compact_table
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.studies.input_acceptance import device_criteria, main
from coarsen.opencl_bench.studies.input_confirmations import Planning, chosen_of_all, chosen_versions
from coarsen.opencl_bench.studies.input_judging import JudgedKernel, judged_kernels
from coarsen.opencl_bench.studies.input_paper import TABLE_I, paper_table
from coarsen.opencl_bench.studies.input_rows import DEVELOPMENT, of_rows
from coarsen.opencl_bench.studies.input_runs import KNOWN, read_runs
from coarsen.opencl_bench.workloads.lookup import adaptive, adaptive_kernel
from tests.opencl_bench.measurements import ENVIRONMENT
from tests.opencl_bench.studies.adaptive_rows import crossing, rows_of

NAME = "adaptive-dwtHaar1D"
KERNEL = adaptive_kernel(NAME)


@pytest.fixture(scope="module")
def first() -> tuple[Measurement, ...]:
    return tuple(rows_of(KERNEL, crossing))


@pytest.fixture(scope="module")
def both(first: tuple[Measurement, ...]) -> tuple[Measurement, ...]:
    """With second times: all by a tenth slower, the default too."""
    again = rows_of(KERNEL, lambda version, row: 1.1 * crossing(version, row), Role.CONFIRMATION)
    return (*first, *again)


@pytest.fixture(scope="module")
def judged(both: tuple[Measurement, ...]) -> JudgedKernel:
    (found,) = judged_kernels(of_rows(KERNEL, both))
    return found


def stored(rows: tuple[Measurement, ...], path: Path) -> str:
    with open_store(str(path)) as store:
        store.add_all(rows)
    return str(path)


def test_every_criterion_is_told_for_all_kernels_and_for_the_unseen_alone(
    both: tuple[Measurement, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text('{"criterion": "12a", "device": "intel", "value": 2.5}\n\n', encoding="utf-8")
    data = tmp_path / "data.json"
    store = stored(both, tmp_path / "store.sqlite")
    assert main([store, "--kernels", NAME, "--runs", str(runs), "--json", str(data)]) == 0
    told = capsys.readouterr().out
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in told.splitlines()}
    expected = (
        "1a 1b 1c 2 3 4a 4b 4c 5a 5b 6 7a 7b 7c 7d 7e 8a 8b 8c 9a 9b 9c 9d 9e 11 12a 12b 14 15a 17a 17b I I2"
    )
    assert set(expected.split()) <= lines.keys()
    assert "| all kernels | unseen alone |" in told
    # The kernel is none that the method was settled on: both columns are the same.
    assert lines["3"].endswith("| 1 dwtHaar1D: **no** | 1 dwtHaar1D: **no** |")
    assert "| 2.500: yes | 2.500: yes |" in lines["12a"]
    assert lines["12c"].count("not measured") == lines["15a"].count("not measured") == 2
    assert "| 2 | devices with the full grid | ≥ 2 | ≥ 3 | 1: **no** |" in told
    (device,) = json.loads(data.read_text(encoding="utf-8")).values()
    assert device["unseen alone"] == device["all kernels"]


def test_ratios_are_of_the_second_times(judged: JudgedKernel) -> None:
    found = {each.number: each for each in device_criteria([judged], ())}
    # The two inputs beside the change may be taken for the other half when they are held out.
    assert found["4a"].value is not None and found["4a"].value >= 3 ** (-2 / 14) - 1e-9
    assert found["8a"].value == pytest.approx(4 * found["4a"].value)
    assert found["1b"].value == 14 and found["11"].value is not None
    # All versions are tried on eight inputs: each row is half a second, each code one.
    assert 0 < judged.tuning_seconds <= 14 * 14 * 0.5 + 14


def test_without_second_times_there_is_no_result(
    first: tuple[Measurement, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([stored(first, tmp_path / "store.sqlite"), "--kernels", NAME]) == 1
    told = capsys.readouterr().out
    assert "choices are not timed again: run input_confirmations first" in told
    assert "share of the best version" not in told


def test_inputs_without_all_rows_are_left_out_and_that_is_told(both: tuple[Measurement, ...]) -> None:
    rows = [row for row in both if row.subject.preset != "input-003" or row.candidate == KERNEL.default]
    (judged,) = judged_kernels(of_rows(KERNEL, rows))
    assert judged.result is not None
    assert len(judged.stored.complete) == len(judged.result.outcome.inputs) == 13


def test_of_two_drivers_the_one_with_more_rows_counts_and_two_devices_stand_apart(
    both: tuple[Measurement, ...],
) -> None:
    older = replace(ENVIRONMENT, driver_version="2023")
    other = replace(ENVIRONMENT, device="NVIDIA H200", device_types=("gpu",))
    few = [replace(row, environment=older) for row in both[:20]]
    there = [replace(row, environment=other) for row in both]
    found = {each.environment: each for each in of_rows(KERNEL, [*few, *there, *both])}
    assert found.keys() == {ENVIRONMENT, other}
    assert found[other].is_gpu and found[other].study().settings.margin == 0.01


def test_what_failed_when_it_was_timed_again_is_judged_as_failed(both: tuple[Measurement, ...]) -> None:
    largest = max(KERNEL.listed, key=lambda preset: KERNEL.listed[preset]["length"])
    best = KERNEL.versions[2]
    broken = tuple(
        replace(row, invalidity=Invalidity.RUNTIME, nanoseconds=(), baseline_nanoseconds=())
        if (row.role, row.candidate, row.subject.preset) == (Role.CONFIRMATION, best, largest)
        else row
        for row in both
    )
    (judged,) = judged_kernels(of_rows(KERNEL, broken))
    assert judged.result is not None
    outcome = judged.result.outcome
    place = [point.name for point in outcome.inputs].index(largest)
    assert outcome.seconds[Entrant.TREE][place] == 4 * outcome.seconds[Entrant.BEST][place]


def test_the_paper_s_programs_all_have_a_kernel_here() -> None:
    assert {row.kernel for row in TABLE_I} <= adaptive().keys()
    assert sum(row.inputs for row in TABLE_I) == 92 and sum(row.iterations for row in TABLE_I) == 796
    assert set(DEVELOPMENT) <= adaptive().keys()


def test_the_paper_s_table_stands_beside(judged: JudgedKernel) -> None:
    told = [*paper_table([judged])]
    assert len(told) == 2 + len(TABLE_I) and all("not measured" in line for line in told[2:])
    like = replace(judged, stored=replace(judged.stored, kernel=adaptive_kernel("adaptive-reduction")))
    vars(like.stored)["times"] = judged.stored.times
    told = [*paper_table([like])]
    line = next(line for line in told if line.startswith("| reduction"))
    assert "| 15 | 80.0% | 75 | 29 | yes | 14 |" in line
    assert told[-1].startswith("- 1 of the seven, exact hits, lowest kernel: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", ":1: write"),
        ('{"criterion": "12a"}', ":1: write"),
        ("[]", ":1: write"),
        ('{"criterion": "12a", "device": "intel", "value": NaN}', ":1: write"),
        ('{"criterion": "12a", "device": " ", "value": 1}', ":1: write"),
    ],
)
def test_a_run_that_is_none_is_refused_with_its_line(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=message):
        read_runs([file])
    file.write_text('{"criterion": "99", "device": "intel", "value": 1}', encoding="utf-8")
    with pytest.raises(InvalidInputError, match=f"no criterion '99'; there are {next(iter(KNOWN))}"):
        read_runs([file])
    with pytest.raises(InvalidInputError, match=r"none\.jsonl"):
        read_runs([tmp_path / "none.jsonl"])


def test_a_kernel_without_rows_or_of_no_such_name_is_told(tmp_path: Path) -> None:
    store = stored((), tmp_path / "store.sqlite")
    assert main([store, "--kernels", NAME]) == 1
    with pytest.raises(InvalidInputError, match="no kernel 'adaptive-none'"):
        main([store, "--kernels", "adaptive-none"])


def test_nothing_judged_has_no_criteria(first: tuple[Measurement, ...]) -> None:
    (kernel,) = of_rows(KERNEL, first)
    assert [*device_criteria([JudgedKernel(kernel, None, None, "so")], ())] == []


def test_rows_that_were_a_compact_file_are_judged_alike(
    both: tuple[Measurement, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summed = [
        replace(row, timed_seconds=timed_seconds_of(row.nanoseconds, row.baseline_nanoseconds)) for row in both
    ]
    write_compact_table(summed, tmp_path / "rows.parquet")
    told = []
    for name, rows in (("first", both), ("again", tuple(read_table(tmp_path / "rows.parquet")))):
        searches = tmp_path / f"{name}.jsonl"
        store = stored(rows, tmp_path / f"{name}.sqlite")
        assert main([store, "--kernels", NAME, "--searches", str(searches)]) == 0
        told.append((capsys.readouterr().out, sorted(KeptSearches(searches).plans)))
    assert told[0] == told[1] and len(told[0][1]) == 1


def test_what_was_planned_in_other_processes_is_the_same(first: tuple[Measurement, ...], tmp_path: Path) -> None:
    store, searches = stored(first, tmp_path / "store.sqlite"), tmp_path / "searches.jsonl"
    planning = Planning(store, (ENVIRONMENT.platform, ENVIRONMENT.device), searches)
    names = [NAME, "adaptive-reduce"]
    found = chosen_of_all(planning, names, 2)
    (kernel,) = of_rows(KERNEL, first)
    assert found == {NAME: chosen_versions(kernel)} == chosen_of_all(planning, names, 1)
    assert len(KeptSearches(searches).plans) == 1
