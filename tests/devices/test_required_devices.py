"""A device that the environment must have and hasn't fails tests; it skips none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent

NEEDS_ALL = "test_discovery.py::test_every_required_device_is_there_and_works"
RUNS_PER_DEVICE = "test_discovery.py::test_a_working_device_is_healthy"


def run_tests(required: str, *names: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *(str(TESTS / name) for name in names),
    ]
    environment = os.environ | {"COARSEN_REQUIRED_DEVICES": required}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_a_missing_device_is_a_failure() -> None:
    finished = run_tests("intel, voodoo", NEEDS_ALL, RUNS_PER_DEVICE)
    assert finished.returncode == 1
    assert "missing or don't work: voodoo" in finished.stdout
    assert "test_a_working_device_is_healthy[missing-voodoo]" in finished.stdout
    assert "skipped" not in finished.stdout


def test_devices_that_are_there_pass() -> None:
    finished = run_tests("intel", NEEDS_ALL, RUNS_PER_DEVICE)
    assert finished.returncode == 0, finished.stdout
