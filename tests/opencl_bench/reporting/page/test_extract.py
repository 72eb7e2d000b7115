"""What the page says is what the results, the model and the pipeline say."""

from __future__ import annotations

from collections import Counter

import pytest

from coarsen.base import processes
from coarsen.opencl_bench import Results
from coarsen.opencl_bench.reporting.page.content import Report
from coarsen.opencl_bench.reporting.page.extract import report_of
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Role
from tests.opencl_bench.reporting.figures.samples import POCL
from tests.opencl_bench.reporting.figures.sweeps import compared, two_devices
from tests.opencl_bench.reporting.page.conftest import section_of

POCL_SLUG, OPENCL_SLUG, PTX_SLUG = "amd-epyc-pocl", "nvidia-h200-opencl", "nvidia-h200-ptx"


def test_devices_at_their_own_presets(report: Report, results: Results) -> None:
    assert [(place.slug, place.preset) for place in report.places] == [
        (POCL_SLUG, "cpu"),
        (OPENCL_SLUG, "gpu"),
        (PTX_SLUG, "gpu"),
    ]
    assert report.rows == len(results) == sum(sum(place.endings.values()) for place in report.places)
    for place in report.places:
        own = [row for row in results.measurements if row.subject.preset == place.preset]
        assert Counter(row.invalidity.value for row in own)["correct"] >= place.endings["correct"] > 0
    assert {place.measured for place in report.places} == {1, 2}  # sobel has no PTX form


def test_the_page_names_no_folders_of_its_maker(report: Report) -> None:
    assert report.origin == "pocl.parquet and h200.parquet"


def test_a_device_that_is_given_two_forms_of_code_is_one_device(report: Report) -> None:
    assert (report.devices, len(report.places)) == (2, 3)


def test_in_several_processes_the_same(report: Report, results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FEW", 1)
    assert report_of(results, processes=2) == report


def test_the_best_are_those_of_the_results(report: Report, results: Results) -> None:
    table = results.only(preset="cpu").best().set_index("benchmark")
    for name in ("sobel", "spmv"):
        best = next(each for each in section_of(report, name).best if each.place == POCL_SLUG)
        row = table.loc[name]
        assert best.speedup is not None
        assert (best.speedup.ratio, best.speedup.low, best.speedup.high) == (row.speedup, row.low, row.high)
        assert (best.configuration, best.baseline, best.failed) == (row.configuration, row.baseline, row.failed)
        assert best.is_confirmed


def test_curves_are_drawn_of_each_preset_and_their_points_listed(report: Report, results: Results) -> None:
    spmv = section_of(report, "spmv")
    pictures = [(picture.places, picture.text.startswith("At the baseline")) for picture in spmv.pictures]
    places = ((POCL_SLUG,), (OPENCL_SLUG, PTX_SLUG))
    assert pictures == [(own, is_baseline) for own in places for is_baseline in (False, True)]
    assert all(picture.content.startswith(b"\x89PNG") for picture in spmv.pictures)
    row = results.only(preset="cpu", benchmarks=["spmv"]).best().iloc[0]
    (best,) = (point for point in spmv.points if point.place == POCL_SLUG and point.is_best)
    assert best.speedup is not None
    assert (best.factor, best.speedup.ratio, best.words) == (row.factor, row.speedup, row.configuration)


def test_a_factor_without_a_time_says_why() -> None:
    rows = (compared(1, 100, **POCL), compared(2, 50, **POCL), compared(4, 0, **POCL))
    (kernel,) = report_of(Results(rows, "here")).kernels
    assert [(point.factor, point.speedup is None) for point in kernel.points] == [
        (1, False),
        (2, False),
        (4, True),
    ]
    assert kernel.points[2].words == "1 failed, 0 left out"


def test_failures_are_grouped_by_reason(report: Report, results: Results) -> None:
    failures = next(each for each in section_of(report, "sobel").failures if each.place == PTX_SLUG)
    assert {group.ending for group in failures.tried} == {"not compiled"}
    rows = results.only(devices=["NVIDIA CUDA driver"], benchmarks=["sobel"]).measurements
    stored = {str(row.candidate) for row in rows if row.invalidity is Invalidity.COMPILE}
    assert {text for group in failures.tried for text in group.configurations} == stored
    excluded = sum(row.invalidity is Invalidity.CONSTRAINTS for row in rows)
    assert sum(len(group.configurations) for group in failures.excluded) == excluded


def test_remarks_are_honest(report: Report) -> None:
    pocl = next(place for place in report.places if place.slug == POCL_SLUG)
    assert any("replication alone" in remark for remark in pocl.remarks)
    assert not any("Not verified" in remark for place in report.places for remark in place.remarks)


def test_what_was_not_verified_is_told() -> None:
    report = report_of(Results(tuple(two_devices()), "here"))
    nbody = next(place for place in report.places if place.slug == POCL_SLUG)
    assert any(remark.endswith("independent reference: nbody") for remark in nbody.remarks)
    assert any("not timed again" in remark for remark in nbody.remarks)


def test_one_device_at_two_presets() -> None:
    rows = [compared(factor, 100 // factor, preset=preset) for factor in (1, 2) for preset in ("cpu", "test")]
    report = report_of(Results(tuple(rows), "here"))
    assert len({place.name for place in report.places}) == 2
    assert [place.name.rpartition(", ")[2] for place in report.places] == ["preset cpu", "preset test"]


def test_kernels_are_in_the_order_of_their_numbers() -> None:
    names = ("k-10", "K-9", "a", "k-9b")
    rows = [compared(1, 100, benchmark=name) for name in names]
    report = report_of(Results(tuple(rows), "here"))
    assert [kernel.name for kernel in report.kernels] == ["a", "K-9", "k-9b", "k-10"]


def test_nothing_compared_yet() -> None:
    rows = [compared(1, 100, role=Role.SELECTION, oracle=CheckedAgainst.NOTHING)]
    report = report_of(Results(tuple(rows), "here"))
    assert not report.kernels[0].pictures and not report.kernels[0].points
    assert report.places[0].speedup is None
