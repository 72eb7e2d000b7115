"""Measurements as they are looked at: read, filtered, as tables and curves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import Results, read_results, shipped_results, stored_results
from coarsen.opencl_bench.results.exchange.files import write_results
from coarsen.tuning.records.measurement import Measurement, Role
from coarsen.tuning.store.database import open_store
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import ENVIRONMENT, SUBJECT, some_measurement

GPU = replace(
    ENVIRONMENT, device="GeForce RTX 4090", platform="NVIDIA CUDA", vendor="NVIDIA", device_types=("gpu",)
)


def row(
    factor: int, benchmark: str = "sgemm", preset: str = "cpu", gpu: bool = False, version: str = "3f"
) -> Measurement:
    """A comparison that is as many times as fast as the baseline as its factor says."""
    return some_measurement(
        subject=replace(SUBJECT, benchmark=benchmark, preset=preset, ir_hash=version * 32),
        environment=GPU if gpu else ENVIRONMENT,
        role=Role.COMPARISON,
        candidate=Variant((16, 16), (Coarsening(factor, 0),) if factor > 1 else ()),
        baseline=Variant((16, 16)),
        nanoseconds=(1000,) * 3,
        baseline_nanoseconds=(1000 * factor,) * 3,
    )


ROWS = (row(1), row(4), row(1, "mt"), row(1, preset="test"), row(1, gpu=True), row(2, gpu=True))


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Measurements of two kernels, two presets and two devices, from a file."""
    return read_results(written(ROWS, tmp_path / "some.parquet"))


def written(rows: Sequence[Measurement], path: Path) -> Path:
    write_results(list(rows), path)
    return path


def test_what_there_is(results: Results) -> None:
    assert len(results) == len(ROWS)
    assert results.devices == (ENVIRONMENT.device, GPU.device)
    assert results.benchmarks == ("sgemm", "mt")


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ({}, 6),
        ({"devices": ["nvidia"]}, 2),
        ({"devices": ["GeForce", "xeon"]}, 6),
        ({"benchmarks": ["SGEMM"]}, 5),
        ({"benchmarks": ["sgemm", "mt"], "preset": "cpu"}, 5),
        ({"preset": "test"}, 1),
    ],
)
def test_only(results: Results, wanted: dict[str, object], left: int) -> None:
    assert len(results.only(**wanted)) == left  # type: ignore[arg-type]  # of several types


@pytest.mark.parametrize("wanted", [{"benchmarks": ["gemm"]}, {"devices": ["amd"]}, {"preset": "gpu"}])
def test_nothing_of_what_was_asked_for(results: Results, wanted: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match=r"benchmarks mt, sgemm; presets cpu, test$"):
        results.only(**wanted)  # type: ignore[arg-type]  # of several types


def test_tables(results: Results) -> None:
    best = results.only(preset="cpu").best().set_index(["benchmark", "label"])
    assert sorted(best["speedup"].dropna()) == [1.0, 2.0, 4.0]
    means = results.only(preset="cpu").geometric_means().set_index("label")
    # Of one kernel there is no mean.
    assert means["speedup"].dropna().tolist() == pytest.approx([2.0])
    assert list(results.frame()["key"]) == [each.key for each in results.measurements]


def test_a_row_of_several_files_counts_once(tmp_path: Path) -> None:
    first, second = written(ROWS[:4], tmp_path / "a.parquet"), written(ROWS[2:], tmp_path / "b.jsonl")
    both = read_results(first, str(second))
    assert sorted(each.key for each in both.measurements) == sorted(each.key for each in ROWS)
    assert both.place == f"{first} and {second}"


def test_earlier_versions_of_a_kernel_are_kept_apart(tmp_path: Path) -> None:
    old = [replace(row(1, version="aa"), started_at="2020-01-01T00:00:00+00:00")]
    found = read_results(written([*old, *ROWS[:2]], tmp_path / "some.parquet"))
    assert (len(found), found.earlier) == (2, tuple(old))
    assert found.only(benchmarks=["sgemm"]).earlier == tuple(old)


def test_curves_of_a_device_that_is_not_known(results: Results) -> None:
    on_cpu = results.only(preset="cpu", benchmarks=["sgemm"])
    known = on_cpu.curves()
    assert [curve.place for curve in known.curves] == [("sgemm", "intel", 0)]
    assert known.notes == ("no model is for the device GeForce RTX 4090 (NVIDIA CUDA)",)


def test_a_store(tmp_path: Path) -> None:
    place = tmp_path / "store.sqlite"
    with pytest.raises(InvalidInputError, match=re.escape(str(place))):
        stored_results(str(place))
    with open_store(str(place)) as store:
        store.add_all(ROWS[:1])
    assert stored_results(str(place)).measurements == ROWS[:1]
    assert len(stored_results(place)) == 1


def test_a_file_without_measurements(tmp_path: Path) -> None:
    empty = tmp_path / "empty.parquet"
    empty.touch()
    with pytest.raises(InvalidInputError, match=re.escape(str(empty))):
        read_results(empty)


def test_nothing_named() -> None:
    with pytest.raises(InvalidInputError, match=r"^name at least one file of results$"):
        read_results()
    with pytest.raises(InvalidInputError, match=r"^name at least one sweep; there are h200, inputs_intel, "):
        shipped_results()


def test_what_comes_with_the_package() -> None:
    found = shipped_results("pocl")
    assert len(found.benchmarks) == 17
    assert len(shipped_results("pocl", "h200").devices) == 2
    with pytest.raises(
        InvalidInputError,
        match=r"no sweep 'poccl' comes with the package \(did you mean pocl\?\); there are h200, inputs_intel, ",
    ):
        shipped_results("poccl")
