"""`coarsen devices --calibrate`: what it writes, shows and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.models.analytic.machine import DeviceProfile, busy_remark, read_profile, write_profile
from coarsen.opencl_bench.calibration import __main__ as alone
from tests.models.analytic.profiles import PROFILE

Run = Callable[..., Any]


def measured(device: DeviceDescription, name: str, **_: object) -> DeviceProfile:
    return PROFILE


def test_a_profile_is_shown(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "nowhere.json"
    write_profile(PROFILE, path)
    outcome = run("devices", "--profile", path)
    assert outcome.code == 0
    assert outcome.out.startswith("nowhere (Nowhere 100, OpenCL, driver 1.0)\nmeasured on 2026-11-22: made up\n")
    rows = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert "up to 32 KiB 400 GB/s 100 ns" in rows
    assert "a work-group, on its compute unit" in outcome.out
    assert json.loads(run("devices", "--profile", path, "-f", "json").out)["compute_units"] == 4


def test_a_calibration_goes_to_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, device: DeviceDescription
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("coarsen.opencl_bench.calibration.calibrate.calibrate", measured)
    outcome = run("devices", "--calibrate", device.index)
    assert outcome.code == 0
    (path,) = (tmp_path / "coarsen" / "profiles").iterdir()
    assert read_profile(path) == PROFILE
    assert str(path) in outcome.err


def test_a_calibration_goes_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: DeviceDescription, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(alone, "calibrate", measured)
    path = tmp_path / "here.json"
    assert alone.main(["-d", device.index, "-o", str(path)]) == 0
    assert read_profile(path) == PROFILE
    assert alone.main(["-d", "no such device", "-o", str(path)]) == 4
    assert "no OpenCL device is called 'no such device'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--profile", "x.json", "--calibrate", "pocl"), 2, "give one of --calibrate and --profile"),
        (("--check", "--calibrate", "pocl"), 2, "give one of --check and --calibrate"),
        (("--profile", "x.json", "-o", "y.json"), 2, "--output goes with --calibrate"),
        (("--profile", "no-such-profile"), 2, "there is no profile 'no-such-profile'"),
        (("--profile", "/nowhere/x.json"), 2, "can't be read"),
        (("--calibrate", "no such device"), 4, "no OpenCL device is called"),
    ],
)
def test_bad_input(run: Run, words: tuple[str, ...], code: int, message: str) -> None:
    outcome = run("devices", *words)
    assert outcome.code == code
    assert message in outcome.error


def test_a_calibration_that_other_work_disturbed_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, device: DeviceDescription
) -> None:
    """It would go before the profile of the package; a file that is named gets it all the same."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    noisy = tuple(replace(point, spread=0.9) for point in PROFILE.bandwidth)
    busy = replace(PROFILE, bandwidth=noisy, private_bandwidth=noisy, latency=noisy)
    assert busy_remark(busy) is not None
    monkeypatch.setattr("coarsen.opencl_bench.calibration.calibrate.calibrate", lambda *_, **__: busy)
    outcome = run("devices", "--calibrate", device.index)
    assert outcome.code == 4 and "nothing is stored: " in outcome.err and "or name a file by -o" in outcome.err
    assert not list((tmp_path / "coarsen").rglob("*.json"))
    path = tmp_path / "busy.json"
    outcome = run("devices", "--calibrate", device.index, "-o", path)
    assert outcome.code == 0 and read_profile(path) == busy and "something else used the device" in outcome.err
