"""One launch of a kernel through NVIDIA's driver, outside of any graph, so that a profiler sees it as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from cuda.bindings import driver

from coarsen.opencl_bench.measure.cuda_driver import call


def launch_once(stream: Any, function: Any, items: int, arguments: Sequence[np.generic]) -> None:  # noqa: ANN401
    """Launch one work-group and wait.

    Args:
        stream: of the device.
        function: the kernel.
        items: work-items of the group.
        arguments: numbers; of buffers the address.

    Raises:
        CudaError: the driver refuses it.
    """
    values = [np.array(argument) for argument in arguments]
    addresses = np.array([value.ctypes.data for value in values], np.uint64)
    call(driver.cuLaunchKernel, function, 1, 1, 1, items, 1, 1, 0, stream, addresses.ctypes.data, 0)
    call(driver.cuStreamSynchronize, stream)
