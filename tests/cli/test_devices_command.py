"""`coarsen devices`, with and without --check: what it finds here, and what it says where it is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.cli import diagnosis
from coarsen.cli.devices import verdict_of
from coarsen.cli.diagnosis import Finding, Need
from coarsen.devices.discovery import DeviceDescription, Discovery, discover_devices
from coarsen.devices.health import Health, check_health
from coarsen.devices.selection import find_device
from coarsen.models import available_models
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS

Run = Callable[..., Any]
PLATFORMS = {"pocl": "Portable Computing Language", "intel": "Intel(R) OpenCL"}


def test_devices_are_listed_with_their_verdicts(run: Run) -> None:
    outcome = run("devices", "-f", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert [device["index"] for device in found["devices"]] == [d.index for d in discover_devices()]
    works = {device["index"] for device in found["devices"] if device["health"]["works"]}
    assert works == {device.index for device in discover_devices() if check_health(device).works}
    assert all(d["health"]["reason"] for d in found["devices"] if not d["health"]["works"])
    named = {device["platform_name"] for device in found["devices"]}
    here = {name for name, platform in PLATFORMS.items() if platform in named}
    assert here
    assert found["models"].keys() == DEVICE_DESCRIPTORS.keys() - here


def test_the_table_has_a_row_per_device(working_devices: tuple[DeviceDescription, ...], run: Run) -> None:
    outcome = run("devices")
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["index", "device", "platform", "driver", "units", "works"]
    for device in working_devices:
        row = next(line for line in lines if line.startswith(device.index))
        assert device.name in row and device.driver_version in row and row.endswith("  yes")
    assert "Known by model only:" in lines
    assert any(line.startswith("tahiti") and "HD 7970" in line for line in lines)


def test_devices_can_be_listed_without_a_check(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: DeviceDescription) -> Health:
        raise AssertionError("a kernel was to run")

    monkeypatch.setattr("coarsen.devices.health.check_health", never)
    outcome = run("devices", "--no-check")
    assert outcome.code == 0
    assert outcome.out.count("not checked") == len(discover_devices())


def test_no_device_that_works(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Health(False, "its driver crashed (SIGSEGV)", 0.0)
    monkeypatch.setattr("coarsen.devices.health.check_health", lambda _: broken)
    outcome = run("devices")
    assert outcome.code == 4
    assert outcome.out.count("no: its driver crashed (SIGSEGV)") == len(discover_devices())
    assert outcome.error.startswith("no OpenCL device works; pip install 'coarsen[cpu]'")


def test_drivers_that_did_not_load_are_noted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coarsen.devices.discovery.discover", lambda: Discovery((), ("a driver did not load",)))
    outcome = run("devices")
    assert outcome.code == 4
    assert outcome.err.splitlines()[0] == "coarsen: note: a driver did not load"


def test_a_check_finds_everything_here(working_devices: tuple[DeviceDescription, ...], run: Run) -> None:
    outcome = run("devices", "--check", "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    findings = {finding["what"]: finding for finding in json.loads(outcome.out)}
    assert {
        "Python",
        "coarsen",
        "LLVM",
        "clang",
        "PyOpenCL",
        "OpenCL loader",
    } <= findings.keys()
    assert {finding["status"] for finding in findings.values()} == {"ok", "loaded"}
    models = findings["models"]["details"]
    assert models.endswith(", ".join(available_models()))
    assert models.startswith("launch, ")
    assert "libOpenCL" in findings["OpenCL loader"]["details"]
    rows = run("devices", "--check").out.splitlines()
    assert rows[0].split() == ["part", "status", "details"]
    assert sum(row.startswith("OpenCL driver ") for row in rows) >= len(working_devices)


def test_a_check_without_clang(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COARSEN_CLANG", "/nowhere/clang")
    outcome = run("devices", "--check")
    assert outcome.code == 2
    row = next(line for line in outcome.out.splitlines() if line.startswith("clang"))
    assert row.split()[1] == "missing"
    assert row.endswith("COARSEN_CLANG names '/nowhere/clang', which can't be run; pip install ziglang")


def test_a_check_without_a_package(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise ImportError("No module named 'pyopencl'")

    monkeypatch.setattr(diagnosis, "_pyopencl", missing)
    monkeypatch.setattr(diagnosis, "_torch", missing)
    outcome = run("devices", "--check", "-f", "json")
    assert outcome.code == 4
    bad = {
        f["what"]: (f["status"], f["mend"]) for f in json.loads(outcome.out) if f["status"] not in ("ok", "loaded")
    }
    assert bad == {
        "PyOpenCL": ("missing", "pip install pyopencl"),
        "PyTorch": ("absent", "training needs it: pip install 'coarsen[train]'"),
    }


def finding(need: Need, is_there: bool = False) -> Finding:
    return Finding("something", is_there, "", need=need)


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([], 0),
        ([finding(Need.TO_COARSEN, True), finding(Need.OPTIONAL)], 0),
        ([finding(Need.TO_RUN), finding(Need.OPTIONAL)], 4),
        ([finding(Need.TO_RUN), finding(Need.TO_COARSEN)], 2),
    ],
)
def test_the_exit_code_of_a_check(findings: list[Finding], verdict: int) -> None:
    assert verdict_of(findings) == verdict


def test_a_check_and_the_list_agree_about_a_device_that_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that loads, and whose device can't run a kernel, is no driver that is all right."""
    bad = discover_devices()[0]
    reason = "error: unknown target CPU 'generic'"
    checked = {each: Health(each != bad, "" if each != bad else reason, 1.0) for each in discover_devices()}
    for place in ("coarsen.devices.health", "coarsen.devices.selection"):
        monkeypatch.setattr(f"{place}.check_health", checked.__getitem__)
    findings = json.loads(run("devices", "--check", "-f", "json").out)
    verdicts = {
        finding["details"]: finding["status"] for finding in findings if finding["what"] == "OpenCL device"
    }
    assert verdicts == {
        str(each) if health.works else f"{each}: {reason}": "ok" if health.works else "fails"
        for each, health in checked.items()
    }
    assert {finding["status"] for finding in findings if finding["what"] == "OpenCL driver"} == {"loaded"}
    listed = json.loads(run("devices", "-f", "json").out)["devices"]
    assert [device["health"]["works"] for device in listed] == [health.works for health in checked.values()]


def test_a_cache_that_cant_be_written_is_no_fault_of_devices(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = find_device("intel")
    # Verdicts are kept for the process: that of a device whose driver needs the cache has to be there before.
    for each in discover_devices():
        check_health(each)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    assert check_health.__wrapped__(device).works
    monkeypatch.setattr("coarsen.devices.health.check_health", lambda _: Health(True, "", 1.0))
    outcome = run("devices", "--check", "-f", "json")
    assert outcome.code == 4
    (bad,) = [finding for finding in json.loads(outcome.out) if finding["status"] == "missing"]
    assert bad["what"] == "PyOpenCL's cache"
    assert "can't be written (Not a directory)" in bad["details"]
    assert bad["mend"].endswith("PYOPENCL_NO_CACHE=1")
    monkeypatch.setenv("PYOPENCL_NO_CACHE", "1")
    assert run("devices", "--check").code == 0
