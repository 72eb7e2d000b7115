"""The launch whose local size the driver chooses: measured where it is right, told, never shipped."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import JSON, TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import MOST_TIMES, Ending
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.evidence import LeftOpenTimes, evidence_of, worth_of_choice
from coarsen.opencl_bench.inputs.over_inputs import LeftOpen, OverInputs, left_open, tune_over_inputs
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import Invalidity, Method
from coarsen.tuning.store.database import open_store
from coarsen.variant.variant import Variant
from tests.opencl_bench.reporting.tuned_files import LENGTHS, SECONDS, tuned, tuned_over_shapes
from tests.opencl_bench.workloads.described.row_sums import write_sums

KERNEL = """\
#pragma coarsen input length = count
kernel void scale(global float *values, int count)
{
    int item = get_global_id(0);
    if (item < count)
        values[item] *= 2.0f;
}
"""
DESCRIPTION = """\
file = "scale.cl"
kernel = "scale"
outputs = ["values"]
arguments = [
    { name = "values", buffer = "float", elements = "count", values = "uniform(0, 1)" },
    { name = "count", scalar = "int", value = "count" },
]
[ndrange]
global_size = ["(count + 63) // 64 * 64"]
local_size = [64]
[inputs]
ranges = { count = [64, 5000] }
count = 2
[sizes.test]
count = 100
"""
DEFAULT = Variant((64,))


def described(folder: Path, kernel: str = KERNEL, description: str = DESCRIPTION) -> Path:
    (folder / "scale.cl").write_text(kernel)
    path = folder / "scale.toml"
    path.write_text(description)
    return path


def test_a_kernel_that_does_not_look_at_its_groups_has_the_baseline(tmp_path: Path) -> None:
    assert left_open(read_benchmark(described(tmp_path)), "test", DEFAULT) == LeftOpen(Variant(()))


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        ("int item", "values[0] = 1.0f; barrier(CLK_GLOBAL_MEM_FENCE); int item"),
        ("get_global_id(0)", "get_group_id(0) * 64 + get_local_id(0)"),
        ("kernel void", "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void"),
        ("int item", "local float tile[64]; tile[get_global_id(0) % 64] = 1.0f; int item"),
    ],
)
def test_a_kernel_that_looks_at_its_groups_has_none(tmp_path: Path, line: str, replacement: str) -> None:
    path = described(tmp_path, KERNEL.replace(line, replacement, 1))
    baseline = left_open(read_benchmark(path), "test", DEFAULT)
    assert baseline == LeftOpen(None, "it matters to scale which work-items are in one work-group")


def test_a_default_version_without_a_local_size_is_that_launch_itself(tmp_path: Path) -> None:
    path = described(tmp_path, description=DESCRIPTION.replace("[64]\n[inputs]", '"open"\n[inputs]'))
    assert "no local size of its own" in left_open(read_benchmark(path), "test", Variant(())).reason


def test_buffers_of_the_local_size_belong_to_it(tmp_path: Path) -> None:
    text = DESCRIPTION.replace('elements = "count"', 'elements = "count + local_size_0"')
    baseline = left_open(read_benchmark(described(tmp_path, description=text)), "test", DEFAULT)
    assert baseline == LeftOpen(None, "the buffers depend on the local size")


def test_every_kernel_that_the_default_launches_is_asked(tmp_path: Path) -> None:
    benchmark = read_benchmark(write_sums(tmp_path))
    macros = (("BLKSZ", "32"), ("IMPL", "1"), ("LU", "1"), ("PARTS", "2"))
    assert left_open(benchmark, "test", Variant((32,), definitions=macros)).variants == (
        Variant((), definitions=macros),
    )
    text = benchmark.source.replace(
        "int row = get_global_id(0);\n    float total = 0.0f;\n    for (int part",
        "int row = get_group_id(0);\n    float total = 0.0f;\n    for (int part",
    )
    assert text != benchmark.source
    changed = replace(benchmark, source_text=text)
    assert "it matters to finish" in left_open(changed, "test", Variant((32,), definitions=macros)).reason


@pytest.mark.compiled_devices
def test_it_is_measured_at_every_input_and_in_no_file(device: DeviceDescription, tmp_path: Path) -> None:
    path = described(tmp_path)
    list_inputs(path)
    settings = OverInputs(
        space=Space(factors=(1,), strides=(1,)), method=Method(repetitions=1, minimum_repetitions=1)
    )
    with open_store(str(path.with_suffix(".sqlite"))) as store:
        tuned_now = tune_over_inputs(path, device, store, settings)
        rows = [row for row in store.measurements() if row.candidate == Variant(())]
        assert tune_over_inputs(path, device, store, settings).measured == 0
    assert {row.subject.preset for row in rows} == {point.name for point in tuned_now.times.inputs}
    assert all(row.invalidity is Invalidity.CORRECT and row.baseline == DEFAULT for row in rows)
    assert Variant(()) not in tuned_now.times.versions and not tuned_now.wrong
    file = TunedFile.from_bytes(tuned_now.file.to_bytes())
    assert all(version.variant.local_size for version in file.versions)
    kept = evidence_of(file).left_open
    assert kept is not None and len(kept.seconds) == len(rows) and set(kept.endings) == {Ending.RAN}
    assert worth_of_choice(file).over_left_open is not None


def with_left_open(file: TunedFile, times: LeftOpenTimes) -> TunedFile:
    return replace(file, evidence={**file.evidence, "left_open": times.to_json()})


def test_choosing_is_compared_with_it() -> None:
    twice = tuple(2 * row[0] for row in SECONDS)
    file = with_left_open(tuned(), LeftOpenTimes(twice, (Ending.RAN,) * len(twice)))
    worth = worth_of_choice(file)
    assert worth.over_left_open == pytest.approx(2 * worth.over_default)
    assert evidence_of(TunedFile.from_bytes(file.to_bytes())).left_open == LeftOpenTimes(twice, (0,) * len(twice))


def test_where_it_fails_it_counts_as_a_version_does() -> None:
    seconds = (SECONDS[0][0], math.nan, math.nan, 1.0, 1.0)
    endings = (Ending.RAN, Ending.FELL_BACK, Ending.FAILED, Ending.RAN, Ending.RAN)
    file = with_left_open(tuned(), LeftOpenTimes(seconds, endings))
    kept = evidence_of(file)
    assert kept.left_open is not None
    played = kept.left_open.played(kept.times)
    assert played is not None
    best = np.nanmin(SECONDS[2])
    assert played.tolist() == pytest.approx([SECONDS[0][0], SECONDS[1][0], MOST_TIMES * best, 1.0, 1.0])


def test_why_it_was_not_measured_is_told() -> None:
    file = with_left_open(tuned_over_shapes(), LeftOpenTimes(reason="the buffers depend on the local size"))
    assert worth_of_choice(file).not_left_open == "the buffers depend on the local size"


def test_files_of_before_say_nothing_of_it() -> None:
    assert evidence_of(tuned()).left_open is None
    worth = worth_of_choice(tuned())
    assert (worth.over_left_open, worth.not_left_open) == (None, "")


@pytest.mark.parametrize(
    "value", [{"seconds": [1.0], "endings": [0]}, {"seconds": [], "endings": []}, {"endings": [9] * len(LENGTHS)}]
)
def test_times_of_other_inputs_are_refused(value: JSON) -> None:
    file = replace(tuned(), evidence={**tuned().evidence, "left_open": value})
    with pytest.raises(InvalidInputError, match="keeps no times of its tuning"):
        evidence_of(file)
