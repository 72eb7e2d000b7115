"""Random kernels: what the original computes, the coarsened one computes, on every device.

A failure names the seed; `KernelGenerator(seed).source()` is the kernel.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.runtime.devices import DeviceDescription
from coarsen.transform.configuration import Coarsening

from .cases import Argument, Case, LocalMemory
from .harness import assert_same, build_coarsened, build_original, coarsened, launch
from .random_kernels import VALUES, KernelGenerator
from .suite_combinations import FULL

# PoCL 3.1's compiler stops the process on the original kernels of these seeds.
BEYOND_POCL = {256}
SEEDS = range(300 if os.environ.get(FULL) == "full" else 30)
COARSENINGS = ((2, 1), (3, 1), (2, 2), (4, 3), (6, 1), (12, 1), (3, 2))


def arguments(rng: np.random.Generator, items: int) -> list[Argument]:
    return [
        rng.integers(0, 2**32, items * VALUES, dtype=np.uint32),
        np.zeros(items * VALUES * 2, np.uint32),
        np.zeros(8, np.uint32),
        LocalMemory(4),
        np.uint32(rng.integers(0, 999)),
        np.uint32(rng.integers(0, 999)),
    ]


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Whether the device's compiler takes the original kernel."""
    return not (parameters["device"].is_called("pocl") and parameters["seed"] in BEYOND_POCL)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernel(seed: int, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    case = Case("fuzzed", (48,), (12,), arguments, text=KernelGenerator(seed).source())
    factor, stride = COARSENINGS[seed % len(COARSENINGS)]
    chosen = (Coarsening(factor, 0, stride),)
    original = launch(queue, build_original(queue.context, case), case)
    form = "spirv" if device.takes_spirv and seed % 2 else "opencl_c"
    kernel = build_coarsened(queue.context, coarsened(case, chosen), form, ())
    assert_same(original, launch(queue, kernel, case, chosen), tolerance=0)
