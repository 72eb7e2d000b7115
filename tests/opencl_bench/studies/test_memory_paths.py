"""The study of memory paths: all ways read the same, and it runs on a device."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.calibration.device import ProbedDevice, Settings
from coarsen.opencl_bench.studies import memory_paths
from coarsen.opencl_bench.studies.memory_paths import GLOBAL, PATTERNS, Reads, measured_paths

FEW = Settings(repetitions=1, shortest_run=1e-6)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_ways_read_the_same(pattern: str, device: DeviceDescription) -> None:
    reads = Reads(ProbedDevice(device, FEW), pattern, 1 << 8)
    sums = {way: reads.sums(way) for way in reads.ways}
    assert {GLOBAL, "noncoherent", "constant"} <= sums.keys()
    assert all(np.array_equal(each, sums[GLOBAL]) for each in sums.values())
    assert sums[GLOBAL].any()
    reads.release()


def test_each_pattern_is_measured_through_each_memory(device: DeviceDescription) -> None:
    found = [*measured_paths(ProbedDevice(device, FEW), (1 << 8,))]
    assert {each.pattern for each in found} == PATTERNS.keys()
    assert all(each.time.value == 1 for each in found if each.way == GLOBAL)
    assert all(each.seconds > 0 for each in found)


def test_the_program_adds_lines(
    tmp_path: Path, device: DeviceDescription, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_paths, "QUICK_SIZES", (1 << 8,))
    file = tmp_path / "lines.jsonl"
    assert memory_paths.main(["--device", device.index, "--quick", "--json", str(file)]) == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert {line["pattern"] for line in lines} == PATTERNS.keys()
    assert "time over global" in capsys.readouterr().out
