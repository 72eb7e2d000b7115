"""Which device a name means: one that is known, one of this machine, or none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.devices import targets
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.health import Health
from coarsen.devices.targets import Target, installed_device, target_of, target_of_installed
from coarsen.errors import DeviceError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from tests.devices.described_devices import TAHITI

NAVI = replace(TAHITI, name="Navi 31", index="0:1")


class Opened:
    """What OpenCL tells beyond a description."""

    native_vector_width_float = 1


def on_a_machine_with(monkeypatch: pytest.MonkeyPatch, *devices: DeviceDescription, works: bool = True) -> None:
    health = Health(works, "" if works else "its driver crashed", 1.0)
    for module in ("coarsen.devices.targets", "coarsen.devices.selection"):
        monkeypatch.setattr(f"{module}.discover_devices", lambda: devices)
        monkeypatch.setattr(f"{module}.check_health", lambda _: health)
    monkeypatch.setattr(targets, "open_device", lambda _: Opened())


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("tahiti", "tahiti"),
        (" TAHITI ", "tahiti"),
        ("Cypress", "cypress"),
        ("Tesla K20c", "kepler"),
        ("Tesla K40m", "kepler"),
        ("GeForce GTX 780 Ti", "kepler"),
        ("GeForce GTX 480", "fermi"),
        ("Tesla C2050 / C2070", "fermi"),
        ("NVIDIA H200", "h200"),
        ("pocl", "pocl"),
        ("intel", "intel"),
    ],
)
def test_known_devices_need_not_be_here(name: str, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine_with(monkeypatch)
    assert target_of(name) == Target(DEVICE_DESCRIPTORS[known])


@pytest.mark.parametrize("name", ["GeForce GTX 1080", "Tahitian", "", "0:0", "a.*"])
def test_what_is_called_so_by_nobody(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine_with(monkeypatch)
    with pytest.raises(DeviceError) as caught:
        target_of(name)
    hint = " (did you mean tahiti?)" if name == "Tahitian" else ""
    assert str(caught.value) == (
        f"'{name}' is neither a known device nor an OpenCL device of this machine{hint}; "
        "known: fermi, kepler, cypress, tahiti, h200, pocl, intel"
    )


def test_a_device_of_this_machine_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine_with(monkeypatch, TAHITI)
    expected = Target(DEVICE_DESCRIPTORS["tahiti"], TAHITI)
    assert target_of("0:0") == expected
    assert target_of("accelerated parallel") == expected
    assert str(expected) == "tahiti (AMD Radeon HD 7970)"


def test_a_device_of_this_machine_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine_with(monkeypatch, NAVI)
    found = target_of("navi")
    assert found.installed == NAVI
    assert (found.descriptor.name, found.descriptor.is_gpu) == ("Navi 31", True)
    assert found.descriptor.simd_width == DEVICE_DESCRIPTORS["tahiti"].simd_width
    assert str(found) == "Navi 31"


def test_the_devices_here_are_told_apart(working_devices: tuple[DeviceDescription, ...]) -> None:
    names = {"Portable Computing Language": "pocl", "Intel(R) OpenCL": "intel"}
    known = [device for device in working_devices if device.platform_name in names]
    assert known
    for device in known:
        assert target_of_installed(device).descriptor.name == names[device.platform_name]


def test_an_ambiguous_name_is_an_error_that_lists_them(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine_with(monkeypatch, NAVI, replace(NAVI, index="0:2"))
    with pytest.raises(DeviceError, match=r"^'navi' names several OpenCL devices: 0:1 Navi 31 \(.*, 0:2 Navi 31"):
        target_of("navi")


def test_where_something_can_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine_with(monkeypatch, NAVI, TAHITI)
    assert installed_device(target_of("tahiti"), "tahiti") == TAHITI
    assert installed_device(target_of("0:1"), "0:1") == NAVI
    with pytest.raises(DeviceError) as caught:
        installed_device(target_of("kepler"), "Kepler")
    assert str(caught.value) == (
        "Kepler is known by model only, so nothing can be measured on it; OpenCL devices of this machine: "
        f"{NAVI}, {TAHITI}"
    )
    on_a_machine_with(monkeypatch, TAHITI, works=False)
    with pytest.raises(DeviceError, match="does not work: its driver crashed"):
        installed_device(target_of("tahiti"), "tahiti")
