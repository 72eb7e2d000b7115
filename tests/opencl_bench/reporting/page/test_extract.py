"""What the page says is what the results, the model and the pipeline say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import coarsen
from coarsen.base import processes
from coarsen.opencl_bench import Results, find_benchmark
from coarsen.opencl_bench.reporting.page.code import CHANGED, MOST_LINES, OTHER, SAME
from coarsen.opencl_bench.reporting.page.content import Report
from coarsen.opencl_bench.reporting.page.extract import report_of
from coarsen.opencl_bench.reporting.page.page import line_look
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Role
from coarsen.variant.coarsening import Coarsening
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


def test_code_is_that_which_was_measured_or_is_said_not_to_be(report: Report) -> None:
    best = next(pair for pair in section_of(report, "spmv").pairs if POCL_SLUG in pair.places)
    same = next(pair for pair in section_of(report, "sobel").pairs if OPENCL_SLUG in pair.places)
    assert SAME in same.remarks and OTHER not in same.remarks
    # Ids with a stride were written with a remainder then.
    assert OTHER in best.remarks and SAME not in best.remarks
    assert best.configuration == f"{Coarsening(8, 0, 32)}, replication alone"
    assert best.before is not None
    marked = coarsen.explain(find_benchmark("spmv").kernel_file, dim=0)
    assert best.before.lines == marked.lines
    assert {"head", "region", "divergent", "uniform"} <= {line_look(line.marks) for line in best.before.lines}
    assert best.before.legend == marked.legend
    assert 0 < len(best.lines) <= MOST_LINES


def test_remarks_are_honest(report: Report) -> None:
    pocl = next(place for place in report.places if place.slug == POCL_SLUG)
    assert any("replication alone" in remark for remark in pocl.remarks)
    assert not any("Not verified" in remark for place in report.places for remark in place.remarks)


def test_other_code_and_another_kernel_are_told() -> None:
    """The sample's hashes are of nothing."""
    report = report_of(Results(tuple(two_devices()), "here"))
    sgemm = section_of(report, "sgemm")
    assert sgemm.source_note == CHANGED
    assert {remark for pair in sgemm.pairs for remark in pair.remarks} == {OTHER}
    nbody = next(place for place in report.places if place.slug == POCL_SLUG)
    assert any(remark.endswith("independent reference: nbody") for remark in nbody.remarks)
    assert any("not timed again" in remark for remark in nbody.remarks)


@pytest.mark.parametrize("first", [OPENCL_SLUG, POCL_SLUG])
def test_a_version_that_only_one_device_had_is_told(results: Results, first: str) -> None:
    """Whichever device comes first."""
    spmv = results.only(benchmarks=["spmv"]).measurements
    ordered = sorted(spmv, key=lambda row: ("H200" in row.environment.device) != (first == OPENCL_SLUG))
    old = [replace(row, subject=replace(row.subject, ir_hash="0" * 64)) for row in ordered[:3]]
    kept = [row for row in ordered[3:] if row.environment != ordered[0].environment]
    (kernel,) = report_of(Results((*old, *kept), "here")).kernels
    assert kernel.source_note == CHANGED


def test_a_kernel_that_is_not_known() -> None:
    rows = [compared(factor, 100 // factor, benchmark="mine", **POCL) for factor in (1, 2)]
    (kernel,) = report_of(Results(tuple(rows), "here")).kernels
    assert "'mine' is not in the suite" in kernel.source_note
    assert kernel.source_note.endswith("--kernels names the folder that has its description (NAME.toml)")
    assert (kernel.pairs, kernel.original) == ((), None)


DESCRIPTION = """\
file = "mine.cl"
kernel = "mine"
outputs = ["out"]
build_options = ["-cl-std=CL2.0"]
[ndrange]
global_size = ["n"]
local_size = [64]
[sizes.test]
n = 256
[[arguments]]
name = "out"
buffer = "int"
elements = "n"
"""


@pytest.mark.parametrize(
    ("value", "refusal"), [("get_local_id(0)", ""), ("work_group_all(get_local_id(0) > 3)", "[collective]")]
)
def test_a_kernel_that_a_folder_describes(value: str, refusal: str, tmp_path: Path) -> None:
    text = f"kernel void mine(global int *out) {{\n    out[get_global_id(0)] = {value};\n}}\n"
    (tmp_path / "mine.cl").write_text(text)
    (tmp_path / "mine.toml").write_text(DESCRIPTION)
    rows = [compared(factor, 100 // factor, benchmark="mine", **POCL) for factor in (1, 2)]
    (kernel,) = report_of(Results(tuple(rows), "here"), tmp_path).kernels
    assert kernel.source_note == CHANGED
    assert kernel.pairs[0].refusal.endswith(refusal)
    assert bool(kernel.pairs[0].refusal) == (kernel.pairs[0].before is None) == bool(refusal)


def test_the_source_of_a_kernel_that_nothing_coarsens() -> None:
    rows = [compared(factor, 100 * factor, benchmark="mvCoal", **POCL) for factor in (1, 2)]
    (kernel,) = report_of(Results(tuple(rows), "here")).kernels
    assert kernel.pairs == ()
    assert kernel.original is not None
    assert "divergent" in {line_look(line.marks) for line in kernel.original.lines}


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
