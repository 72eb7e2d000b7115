"""Oclgrind finds no data race, no access out of bounds and no divergent barrier in any form of a reduction."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.devices.discovery import DeviceDescription
from tests.oclgrind.watch import watching
from tests.stream.forms import BY_ITEM, FORMS, summed, take


def runs_on(parameters: dict[str, object]) -> bool:
    """Only Oclgrind looks for races."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


@pytest.mark.parametrize("form", [*FORMS, "item"])
def test_nothing_is_found(form: str, device: DeviceDescription) -> None:
    with watching(device) as watched:
        queue = watched.queue
        total = summed("int", rows="rows" if form == "item" else "")
        take(total, BY_ITEM if form == "item" else FORMS[form], queue.device)
        x = np.random.default_rng(0).integers(0, 9, (3, 331)).astype(np.int32)
        expected = x.sum(axis=1) if form == "item" else x.sum()
        assert np.array_equal(total(queue, cl.array.to_device(queue, x)).get(), expected)
        assert not watched.findings()
