"""Versions that differ in a macro, and in nothing that a device is given, are one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.measuring import without_repeated
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, tune_over_inputs
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import Measurement, Method
from coarsen.tuning.store.database import open_store
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

# What one way computes in addition is gone once the code is in normal form.
KERNEL = """\
#pragma coarsen range 1,2,1
#define WAY 1
#pragma coarsen input length = count
kernel void twice(global float *values, int count)
{
    int item = get_global_id(0);
#if WAY == 2
    int unused = item * count;
#endif
    if (item < count)
        values[item] *= 2.0f;
}
"""
DESCRIPTION = """\
file = "twice.cl"
kernel = "twice"
outputs = ["values"]
arguments = [
    { name = "values", buffer = "float", elements = "count", values = "uniform(1, 2)" },
    { name = "count", scalar = "int", value = "count" },
]
[ndrange]
global_size = ["(count // 64 + 1) * 64"]
local_size = [16]
[inputs]
ranges = { count = [50, 700] }
count = 2
[sizes.test]
count = 90
"""


@pytest.fixture
def described(tmp_path: Path) -> Path:
    (tmp_path / "twice.cl").write_text(KERNEL)
    path = tmp_path / "twice.toml"
    path.write_text(DESCRIPTION)
    list_inputs(path)
    return path


def way(number: int, factor: int = 2) -> Variant:
    return Variant((16,), (Coarsening(factor),), definitions=(("WAY", str(number)),))


def rows(hashes: dict[Variant, tuple[str, ...]]) -> Iterator[Measurement]:
    for version, of_inputs in hashes.items():
        for number, each in enumerate(of_inputs):
            yield some_measurement(preset=f"input-{number:03}", candidate=version, baseline=way(1), code_hash=each)


def kept(described: Path, hashes: dict[Variant, tuple[str, ...]]) -> list[Variant]:
    return [*without_repeated(tuple(hashes), rows(hashes), read_benchmark(described))]


def test_one_of_the_same_code_stays(described: Path) -> None:
    one, other = "a" * 64, "b" * 64
    assert kept(described, {way(1): (one, one), way(2): (one, one)}) == [way(1)]
    assert kept(described, {way(1): (one, one), way(2): (one, other)}) == [way(1), way(2)]
    assert kept(described, {way(1): (one, one), way(2, 4): (one, one)}) == [way(1), way(2, 4)]


def test_what_was_not_compiled_is_no_other_one(described: Path) -> None:
    assert kept(described, {way(1): ("", ""), way(2): ("", "")}) == [way(1), way(2)]


def test_versions_of_other_launches_stay(described: Path) -> None:
    described.write_text(DESCRIPTION.replace('["(count // 64 + 1) * 64"]', '["(count // 64 + WAY) * 64"]'))
    list_inputs(described)
    assert kept(described, {way(1): ("a" * 64,), way(2): ("a" * 64,)}) == [way(1), way(2)]


@pytest.mark.compiled_devices
def test_tuning_chooses_among_different_codes(described: Path, device: DeviceDescription, tmp_path: Path) -> None:
    settings = OverInputs(
        space=Space(factors=(1, 2), strides=(1,), arrays=()), method=Method(repetitions=1, minimum_repetitions=1)
    )
    with open_store(str(tmp_path / "store.sqlite")) as store:
        tuned = tune_over_inputs(described, device, store, settings)
    coarsened = [version for version in tuned.times.versions if version.is_coarsened]
    assert coarsened
    assert len({replace(version, definitions=()) for version in coarsened}) == len(coarsened)
