"""Fixtures of the back ends' tests."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from tests.conftest import context_of


@pytest.fixture
def spirv_queue(working_devices: tuple[DeviceDescription, ...]) -> cl.CommandQueue:
    """A queue on the first working device that takes SPIR-V; fails where none does."""
    takers = [device for device in working_devices if device.takes_spirv]
    if not takers:
        pytest.fail("no working device takes SPIR-V")
    return cl.CommandQueue(context_of(takers[0]))
