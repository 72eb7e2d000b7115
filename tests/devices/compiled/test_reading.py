"""Facts of real compilations, in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.devices.compiled import reading
from coarsen.devices.compiled.build import ProgramText
from coarsen.devices.compiled.reading import Reading, read_compiled_facts
from coarsen.devices.discovery import DeviceDescription
from coarsen.models.compiled.facts import CompiledFacts

SCALE = ProgramText("scale", "kernel void scale(global float *v, float by) { v[get_global_id(0)] *= by; }")
# Its work-items can't be told apart from a vector's: an atomic operation on one place.
COUNT = ProgramText(
    "count",
    "kernel void count(global int *v) { if (v[get_global_id(0)] > 3) atomic_inc(v); }",
)
TILE = ProgramText(
    "tile",
    """kernel void tile(global float *v) {
    local float t[100];
    t[get_local_id(0)] = v[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    v[get_global_id(0)] = t[99 - get_local_id(0)];
}""",
)
WRONG = ProgramText("scale", "kernel void scale(global float *v) { v[0] = nothing; }")
ABSENT = ProgramText("other", SCALE.source)
LOOP = ProgramText(
    "loop",
    """kernel void loop(global int *restrict v, global const int *restrict w, int a, int n) {
    int sum = 0;
    for (int k = 0; k < n; ++k)
        sum += w[get_global_id(0) * n + k] * a;
    v[get_global_id(0)] = sum;
}""",
)


@pytest.mark.compiled_devices
def test_a_device_tells_what_it_compiled(device: DeviceDescription) -> None:
    scale, wrong, tile, absent, count, loop = read_compiled_facts(
        device, [SCALE, WRONG, TILE, ABSENT, COUNT, LOOP]
    )
    assert wrong.facts is None and "nothing" in wrong.failure and "\n" not in wrong.failure
    assert absent.facts is None and absent.failure
    assert (
        scale.facts is not None and tile.facts is not None and count.facts is not None and loop.facts is not None
    )
    assert tile.facts.local_bytes == 400
    assert scale.facts.group_multiple and scale.facts.largest_group
    if "cpu" in device.device_types:
        assert scale.facts.item_lanes and scale.facts.item_lanes > 1
        assert scale.facts.loop_lanes == 1 and scale.facts.vectorised == "work-items"
        assert count.facts.item_lanes == 1
        assert loop.facts.loop_lanes and (loop.facts.loop_lanes > 1 or not device.is_called("pocl"))
        for facts in (scale.facts, count.facts):
            assert facts.code_bytes and facts.instructions and facts.instructions < facts.code_bytes
        assert count.facts.operation_bytes and scale.facts.operation_bytes
        assert count.facts.operation_bytes < scale.facts.operation_bytes


def test_where_there_is_no_reader_opencl_s_own_facts_stay(working_devices: tuple[DeviceDescription, ...]) -> None:
    found = [device for device in working_devices if device.is_called("oclgrind")]
    for device in found:
        (tile,) = read_compiled_facts(device, [TILE])
        assert tile.facts is not None
        assert (tile.facts.local_bytes, tile.facts.item_lanes, tile.facts.code_bytes) == (400, None, None)


def test_nothing_is_started_for_nothing(
    working_devices: tuple[DeviceDescription, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_PROBE", "no.such.module")
    assert read_compiled_facts(working_devices[0], []) == []


def probe_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Put a module in the probe's place that reads the request and runs some code."""
    lines = [
        "import json, os, sys, time",
        "request = json.loads(sys.stdin.read())",
        "names = [program['kernel'] for program in request['programs']]",
        "from coarsen.codec import encoded",
        "from coarsen.devices.compiled.reading import Reading",
        "from coarsen.models.compiled.facts import CompiledFacts",
        "line = json.dumps(encoded(Reading(CompiledFacts(registers=7))))",
        code,
    ]
    (tmp_path / "planted_probe.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(reading, "_PROBE", "planted_probe")


DIES = """
for name in names:
    if name == 'crash':
        os.abort()
    print('a driver says something', flush=True)
    print(line, flush=True)
"""
HANGS = DIES.replace("os.abort()", "time.sleep(60)")
SEVEN = Reading(CompiledFacts(registers=7))


def test_a_compiler_that_crashes_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, working_devices: tuple[DeviceDescription, ...]
) -> None:
    probe_that(tmp_path, monkeypatch, DIES)
    programs = [ProgramText(name, "") for name in ("a", "crash", "b", "c", "crash")]
    crashed = Reading(failure="its compiler crashed")
    assert read_compiled_facts(working_devices[0], programs) == [SEVEN, crashed, SEVEN, SEVEN, crashed]


def test_a_compiler_that_hangs_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, working_devices: tuple[DeviceDescription, ...]
) -> None:
    probe_that(tmp_path, monkeypatch, HANGS)
    programs = [ProgramText(name, "") for name in ("a", "crash", "b")]
    found = read_compiled_facts(working_devices[0], programs, starting_seconds=1, seconds_each=0)
    assert found[1] == Reading(failure="its compiler took too long")
    assert {found[0], found[2]} <= {SEVEN, found[1]}, "on a busy machine the others may be late too"


def test_a_process_that_can_not_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, working_devices: tuple[DeviceDescription, ...]
) -> None:
    probe_that(tmp_path, monkeypatch, "raise ValueError('no device')")
    (found,) = read_compiled_facts(working_devices[0], [SCALE])
    assert found == Reading(failure="it was not compiled: ValueError: no device")


def test_what_a_driver_prints_between_programs_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, working_devices: tuple[DeviceDescription, ...]
) -> None:
    planted = """
import os, sys
from coarsen.devices.compiled import probe
from coarsen.devices.compiled.reading import Reading

def readings(request, printed):
    for program in request.programs:
        os.write(1, b"half a line of a driver")
        yield Reading(failure=program.kernel)

probe._readings = readings
sys.exit(probe.main())
"""
    (tmp_path / "planted_probe.py").write_text(planted)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(reading, "_PROBE", "planted_probe")
    found = read_compiled_facts(working_devices[0], [ProgramText("a", ""), ProgramText("b", "")])
    assert [each.failure for each in found] == ["a", "b"]
