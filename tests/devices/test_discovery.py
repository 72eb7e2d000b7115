"""Descriptions of devices, health, and finding a device by name."""

from __future__ import annotations

import dataclasses
import logging
import subprocess
import sys
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices import discovery
from coarsen.devices.discovery import (
    DeviceDescription,
    Discovery,
    describe_device,
    discover_devices,
    found_again,
    open_device,
)
from coarsen.devices.health import Health, _first_complaint, _verdict, check_health
from coarsen.devices.selection import find_device, find_working_device, select_device
from coarsen.drop_in.program import Program
from coarsen.errors import DeviceError
from coarsen.variant.coarsening import Coarsening
from tests.devices.described_devices import TAHITI

TAHITI_LE = dataclasses.replace(TAHITI, index="0:1", name="Tahiti LE")
FERMI = dataclasses.replace(TAHITI, index="1:0", name="GTX 480", vendor="NVIDIA", platform_name="NVIDIA CUDA")
THREE = (TAHITI, TAHITI_LE, FERMI)


def works(device: DeviceDescription) -> bool:
    return True


@pytest.mark.parametrize(
    ("spec", "index"),
    [
        ("1:0", "1:0"),
        ("gtx", "1:0"),
        ("nvidia cuda", "1:0"),
        ("tahiti", "0:0"),
        ("Tahiti LE", "0:1"),
        (" Tahiti L ", "0:1"),
    ],
)
def test_a_device_is_found_by_index_or_part_of_its_name(spec: str, index: str) -> None:
    assert select_device(spec, THREE, works).index == index


def test_an_ambiguous_part_lists_the_matches() -> None:
    with pytest.raises(DeviceError) as caught:
        select_device("AMD", THREE, works)
    assert "0:0 Tahiti (" in str(caught.value) and "0:1 Tahiti LE (" in str(caught.value)
    assert "GTX" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_of_several_matches_the_only_one_that_works_is_meant() -> None:
    assert select_device("AMD", THREE, lambda device: device is TAHITI_LE) is TAHITI_LE
    with pytest.raises(DeviceError, match="names several"):
        select_device("AMD", THREE, lambda device: False)


INTEL = dataclasses.replace(
    TAHITI, index="0:0", name="Intel(R) Xeon(R)", vendor="Intel(R) Corporation", platform_name="Intel(R) OpenCL"
)
POCL = dataclasses.replace(
    INTEL,
    index="1:0",
    name="pthread-Intel(R) Xeon(R)",
    vendor="GenuineIntel",
    driver_version="3.0-rc2",
    platform_name="Portable Computing Language",
    platform_version="OpenCL 3.0 PoCL 3.0-rc2",
)
NEWER = dataclasses.replace(
    POCL, index="2:0", driver_version="3.1+debian", platform_version="OpenCL 3.0 PoCL 3.1+debian"
)


def test_a_runtimes_name_wins_over_a_processors() -> None:
    """PoCL on an Intel processor isn't what "intel" means."""
    assert select_device("intel", (NEWER, INTEL, POCL), works) is INTEL
    with pytest.raises(DeviceError, match="names several"):
        select_device("xeon", (NEWER, INTEL, POCL), works)


def test_the_newest_of_a_runtimes_versions_is_meant() -> None:
    assert select_device("pocl", (POCL, NEWER), works) is NEWER
    assert select_device("pocl", (POCL, NEWER), lambda device: device is POCL) is POCL
    assert select_device("3.0-rc2", (POCL, NEWER), works) is POCL
    with pytest.raises(DeviceError, match="names several"):
        select_device("AMD", (TAHITI, dataclasses.replace(TAHITI_LE, driver_version="1.0")), works)


@pytest.mark.parametrize("spec", ["voodoo", "7:0", "", "  ", "0:1:2"])
def test_an_unknown_name_lists_what_there_is(spec: str) -> None:
    with pytest.raises(DeviceError, match=r"there are: 0:0 Tahiti .*1:0 GTX 480"):
        select_device(spec, THREE, works)


def test_without_any_device_the_message_says_how_to_get_one() -> None:
    with pytest.raises(DeviceError, match=r"pip install 'coarsen\[cpu\]'"):
        select_device("anything", (), works)


def test_a_machine_without_drivers_has_no_devices() -> None:
    # The loader's own folder of drivers is named by PYOPENCL_HOME, which it reads at the first query.
    code = """
import os, pyopencl
os.environ["PYOPENCL_HOME"] = os.environ["OCL_ICD_VENDORS"] = "/nonexistent"
from coarsen.errors import DeviceError
from coarsen.devices.discovery import discover_devices
from coarsen.devices.selection import find_device, find_working_device
assert discover_devices() == ()
for find in (lambda: find_device("intel"), find_working_device):
    try:
        find()
    except DeviceError as error:
        print(error)
"""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert finished.stdout.count("pip install 'coarsen[cpu]'") == 2


def test_every_required_device_is_there_and_works(working_devices: tuple[DeviceDescription, ...]) -> None:
    assert working_devices
    found = find_working_device()
    assert found in working_devices
    # An interpreter is nobody's first choice.
    assert found.is_called("oclgrind") == all(device.is_called("oclgrind") for device in working_devices)


def test_a_description_says_what_the_device_says(device: DeviceDescription) -> None:
    opened = open_device(device)
    assert opened.name.strip() == device.name
    assert device.max_work_group_size == opened.max_work_group_size
    assert len(device.max_work_item_sizes) == opened.max_work_item_dimensions
    assert device.compute_units >= 1 and device.local_memory > 0 and device.global_memory > 0
    assert device.platform_name and device.driver_version
    assert describe_device(opened) == device
    assert find_device(device.index) == device


def test_intels_runtime_takes_spirv() -> None:
    assert find_device("Intel(R) OpenCL").takes_spirv


def test_opening_a_device_that_is_gone_is_a_device_error() -> None:
    with pytest.raises(DeviceError, match="any more"):
        open_device(dataclasses.replace(TAHITI, index="99:0"))


def test_a_working_device_is_healthy(device: DeviceDescription) -> None:
    health = check_health(device)
    assert health.works and health.reason == "" and health.milliseconds > 0
    assert check_health(device) is health, "a verdict is reached once per process"


def test_a_listed_device_that_builds_nothing_is_found_out() -> None:
    for device in discover_devices():
        health = check_health(device)
        assert health.works or (health.reason and "\n" not in health.reason)


def test_a_device_that_another_process_lacks_does_not_work() -> None:
    health = check_health(TAHITI)
    assert not health.works and "another process" in health.reason


@pytest.mark.parametrize(("load", "limit"), [(0.0, "0.01 s"), (2.5, "0.025 s")])
def test_a_time_limit_ends_the_check_later_on_a_busy_machine(
    working_devices: tuple[DeviceDescription, ...], monkeypatch: pytest.MonkeyPatch, load: float, limit: str
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    health = check_health.__wrapped__(working_devices[0], 0.01)
    assert not health.works and limit in health.reason


def test_a_crashing_driver_is_a_device_that_does_not_work() -> None:
    assert _verdict(-11, "", "") == Health(False, "its driver crashed (SIGSEGV)", 0.0)
    assert (
        _verdict(1, "", "Traceback\nImportError: no pyopencl").reason
        == "the test failed: ImportError: no pyopencl"
    )
    crashed_at_exit = 'driver chatter\n{"works": true, "reason": "", "milliseconds": 2.5}\n'
    assert _verdict(-6, crashed_at_exit, "") == Health(True, "", 2.5)


def test_the_reason_is_the_compilers_first_error() -> None:
    log = "clBuildProgram failed: X\n\nBuild on <device>:\n\nwarning: w\nerror: unknown target CPU 'generic'"
    assert _first_complaint(log + "\nerror: another") == "error: unknown target CPU 'generic'"
    assert _first_complaint("") == "the driver gave no reason"


def test_a_device_that_another_process_has_described_is_found_at_its_own_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discovery, "discover", lambda: Discovery(THREE, ()))
    assert found_again(dataclasses.replace(FERMI, index="0:0")) is FERMI
    assert found_again(TAHITI_LE) is TAHITI_LE
    with pytest.raises(DeviceError, match="in this process"):
        found_again(dataclasses.replace(TAHITI, driver_version="another"))


def test_of_equal_devices_the_one_at_the_same_index_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    twins = tuple(dataclasses.replace(TAHITI, index=f"0:{number}") for number in range(3))
    monkeypatch.setattr(discovery, "discover", lambda: Discovery(twins, ()))
    assert [found_again(twin) for twin in twins] == list(twins)


def test_a_sub_device_is_described_by_the_platform_and_driver_of_its_parent(device: DeviceDescription) -> None:
    whole = open_device(device)
    part = _part_of(whole)
    if part is None:
        return  # Oclgrind has none
    described = describe_device(part)
    assert dataclasses.replace(described, compute_units=device.compute_units) == device
    assert described.compute_units == 1
    assert found_again(described) == device


@pytest.mark.compiled_devices
def test_a_program_for_a_sub_device_is_coarsened(
    device: DeviceDescription, caplog: pytest.LogCaptureFixture
) -> None:
    part = _part_of(open_device(device))
    assert part is not None
    context = cl.Context([part])
    queue = cl.CommandQueue(context)
    numbers = np.arange(256, dtype=np.int32)
    values = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=numbers)
    source = "kernel void twice(global int *values) { values[get_global_id(0)] *= 2; }"
    predicted, asked = Program(context, source).build(), Program(context, source, factor=4).build()
    with caplog.at_level(logging.WARNING, "coarsen"):
        predicted.twice(queue, numbers.shape, (64,), values)
        asked.twice(queue, numbers.shape, (64,), values)
    result = np.empty_like(numbers)
    cl.enqueue_copy(queue, result, values)
    np.testing.assert_array_equal(result, numbers * 4)
    assert asked.twice.divided(part, numbers.shape, (64,)).coarsenings == (Coarsening(4),)
    assert not caplog.records


def _part_of(device: cl.Device) -> cl.Device | None:
    try:
        # PyOpenCL's annotation knows one form of properties, of which this is another.
        divide: Any = device.create_sub_devices
        part: cl.Device = divide([cl.device_partition_property.EQUALLY, 1])[0]
    except cl.Error:
        return None
    return part
