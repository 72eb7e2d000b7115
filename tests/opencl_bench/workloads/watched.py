"""Fixtures of tests that let Oclgrind look for races and for accesses out of bounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription, open_device


def runs_on(parameters: Mapping[str, object]) -> bool:
    """Only Oclgrind looks for races."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file into which contexts made from now on write what Oclgrind finds."""
    monkeypatch.setenv("OCLGRIND_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OCLGRIND_DATA_RACES", "1")
    # It counts over all contexts of a process, and is silent once there are so many.
    monkeypatch.setenv("OCLGRIND_MAX_ERRORS", str(2**31 - 1))
    return tmp_path / "log"


@pytest.fixture
def watched(log: Path, device: DeviceDescription) -> cl.CommandQueue:
    """A queue of such a context."""
    assert not log.exists()
    context = cl.Context([open_device(device)])
    return cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
