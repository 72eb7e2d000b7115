"""What is learned from is what a launch is chosen by, and what is wrong is never shipped, however fast it is."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.models.inputs.times import VersionTimes
from coarsen.opencl_bench.inputs.described import described_points, described_versions
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, listed_presets, tune_over_inputs, tuned_file
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.store.database import open_store
from coarsen.variant.variant import Variant
from tests.devices.described_devices import TAHITI
from tests.dispatch.files import chooser

KERNEL = """\
#define patient 0
#define hasty 1
#pragma coarsen select IMPL patient,hasty
#pragma coarsen input octaves = log2(count / 3)
#pragma coarsen input share = count / (count + 7)
kernel void sum(global float *sums, global const float *values, int count)
{
    int item = get_global_id(0);
    float total = 0.0f;
#if IMPL == patient
    for (int i = 0; i < count; i++)
        total += values[i];
#else
    total = values[0];
#endif
    sums[item] = total;
}
"""
DESCRIPTION = """\
file = "sum.cl"
kernel = "sum"
outputs = ["sums"]
roundings = "count"
arguments = [
    { name = "sums", buffer = "float", elements = "64", values = "unwritten" },
    { name = "values", buffer = "float", elements = "count", values = "uniform(1, 2)" },
    { name = "count", scalar = "int", value = "count" },
]
[ndrange]
global_size = ["64"]
local_size = [16]
[inputs]
ranges = { count = [50, 5000] }
count = 5
[sizes.test]
count = 90
"""
PATIENT, HASTY = (Variant((16,), definitions=(("IMPL", number),)) for number in "01")


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The description of a kernel one of whose implementations is fast and wrong."""
    (tmp_path / "sum.cl").write_text(KERNEL)
    path = tmp_path / "sum.toml"
    path.write_text(DESCRIPTION)
    list_inputs(path)
    return path


def test_features_of_the_tuning_are_those_of_a_launch_to_the_last_bit(described: Path) -> None:
    description, benchmark = read_description(described), read_benchmark(described)
    presets = listed_presets(description, None)
    points = described_points(description, benchmark, presets)
    times = VersionTimes(points, (PATIENT, HASTY), np.ones((len(points), 2)), 0)
    file = replace(tuned_file(description, TAHITI, times), versions=tuned_versions(described))
    for preset, point in zip(presets, points, strict=True):
        count = benchmark.preset(preset).size["count"]
        for name, value in point.features.items():
            exactly = chooser(replace(file, tree=Split(name, value, Leaf(0), Leaf(1))))
            below = chooser(replace(file, tree=Split(name, math.nextafter(value, -math.inf), Leaf(0), Leaf(1))))
            assert (exactly({"count": count}), below({"count": count})) == (0, 1)


def tuned_versions(described: Path) -> tuple[TunedVersion, ...]:
    """Both versions as a tuned file has them."""
    return described_versions(read_description(described), (PATIENT, HASTY))


@pytest.mark.compiled_devices
def test_a_fast_version_with_wrong_results_is_in_no_file(described: Path, device: DeviceDescription) -> None:
    method = Method(repetitions=1, minimum_repetitions=1)
    settings = OverInputs(inputs=2, space=Space(factors=(1,), strides=(1,)), method=method)
    with open_store(str(described.with_suffix(".sqlite"))) as store:
        tuned = tune_over_inputs(described, device, store, settings)
    assert [*tuned.wrong] == [HASTY] and "input-00" in tuned.wrong[HASTY]
    assert [version.variant for version in tuned.file.versions] == [PATIENT]
    assert b'"IMPL": "1"' not in tuned.file.to_bytes()
