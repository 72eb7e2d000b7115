"""One launch of a kernel through NVIDIA's driver, outside of any graph, so that a profiler sees it as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from cuda.bindings import driver

from coarsen.opencl_bench.measure.cuda_driver import call
from coarsen.opencl_bench.measure.cuda_job import enqueue
from coarsen.opencl_bench.measure.cuda_launch import CudaLaunch


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
    launch = CudaLaunch((1, 1, 1), (items, 1, 1), 0, tuple(map(np.array, arguments)))
    enqueue(stream, function, launch)
    call(driver.cuStreamSynchronize, stream)
