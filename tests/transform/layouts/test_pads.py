"""Kernels with padded or permuted rows in local memory leave what they leave as written, on each device.

Forms of output come by turns; PoCL takes every other combination.
"""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.discovery import DeviceDescription
from coarsen.pipeline import carry_out, laid_out
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.variant import Variant
from tests.transform.harness import (
    assert_same,
    coarsened_outcome,
    form_by_turns,
    is_left_out,
    lowered,
    original_outcome,
)
from tests.transform.layouts.padded_kernels import PADDED_KERNELS, PaddedKernel

CONFIGURATIONS: tuple[Configuration, ...] = ((), (Coarsening(4),), (Coarsening(2, level=Level.GROUP),))
COMBINATIONS = [(kernel, pads) for kernel in PADDED_KERNELS for pads in kernel.pads]


@pytest.mark.parametrize(("kernel", "pads"), COMBINATIONS, ids=["-".join(pads) for _, pads in COMBINATIONS])
def test_pads(
    queue: cl.CommandQueue, device: DeviceDescription, kernel: PaddedKernel, pads: tuple[str, ...]
) -> None:
    number = COMBINATIONS.index((kernel, pads))
    original = original_outcome(queue.context, kernel.case)
    laid = laid_out(lowered(kernel.case), kernel.plans(pads))
    assert laid.padded
    for turn, chosen in enumerate(CONFIGURATIONS):
        if is_left_out(device, number + turn):
            continue
        result = CoarsenedKernel(carry_out(laid.kernel, Variant(coarsenings=chosen)).kernel, chosen, ())
        form = form_by_turns(device, number + turn)
        assert_same(original, coarsened_outcome(queue, result, form, kernel.case, chosen), kernel.case.tolerance)
