"""Kernels with padded or permuted rows in local memory leave what they leave as written, on each device.

Devices and forms of output come by turns (`tests/selection.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.pipeline import laid_out, run_pipeline
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.variant import Variant
from tests.transform.harness import (
    assert_same,
    coarsened_outcome,
    form_by_turns,
    lowered,
    original_outcome,
    turns_of,
)
from tests.transform.layouts.padded_kernels import PADDED_KERNELS, PaddedKernel

CONFIGURATIONS: tuple[Configuration, ...] = ((), (Coarsening(4),), (Coarsening(2, level=Level.GROUP),))
COMBINATIONS = [(kernel, pads) for kernel in PADDED_KERNELS for pads in kernel.pads]


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True if any of the configurations is for the device."""
    number = COMBINATIONS.index((parameters["kernel"], parameters["pads"]))
    return bool(turns_of(parameters["device"], number, len(CONFIGURATIONS)))


@pytest.mark.parametrize(("kernel", "pads"), COMBINATIONS, ids=["-".join(pads) for _, pads in COMBINATIONS])
def test_pads(
    queue: cl.CommandQueue, device: DeviceDescription, kernel: PaddedKernel, pads: tuple[str, ...]
) -> None:
    number = COMBINATIONS.index((kernel, pads))
    original = original_outcome(queue.context, kernel.case)
    laid = laid_out(lowered(kernel.case), kernel.plans(pads))
    assert laid.done
    for place, turn in turns_of(device, number, len(CONFIGURATIONS)).items():
        chosen = CONFIGURATIONS[place]
        result = run_pipeline(laid.kernel, Variant(coarsenings=chosen))
        form = form_by_turns(device, turn)
        assert_same(original, coarsened_outcome(queue, result, form, kernel.case, chosen), kernel.case.tolerance)
