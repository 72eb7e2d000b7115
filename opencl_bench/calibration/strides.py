"""The cost of a lane's access by the lanes' stride, over that at stride 1: memory, a cache, local memory."""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from coarsen.models.analytic.machine import Curve, Quantity
from coarsen.opencl_bench.calibration.device import NEVER, ProbedDevice
from coarsen.opencl_bench.calibration.fitting import curve_of, relative, seconds_of

ELEMENT_BYTES = 4
READS_OF_AN_ITEM = 4
TILE_WORDS = 4096
_GPU_SIZES = 4
_CACHED_BYTES = 256 << 10
_CACHED_ITEMS = 1 << 18


def stride_cost(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the cost in memory: every run goes once through more than any cache holds."""
    size = probed.footprints[-1]
    if probed.is_gpu:  # whose runs would be too short to time
        size = min(_GPU_SIZES * size, 1 << probed.largest_buffer.bit_length() - 1)
    data = probed.ones(size)
    elements = size // ELEMENT_BYTES
    found = {
        stride: _seconds_of_an_access(probed, program, data, elements, stride, elements // stride)
        for stride in probed.settings.strides
    }
    data.release()
    return relative(curve_of(found))


def cached_stride_cost(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the cost where a second-level cache holds all data: that of the accesses themselves."""
    size = min(_CACHED_BYTES, probed.footprints[-1])
    data = probed.ones(size)
    accesses = _CACHED_ITEMS * READS_OF_AN_ITEM
    found = {
        stride: _seconds_of_an_access(probed, program, data, size // ELEMENT_BYTES, stride, accesses)
        for stride in probed.settings.strides
    }
    data.release()
    return relative(curve_of(found))


def _seconds_of_an_access(
    probed: ProbedDevice, program: cl.Program, data: cl.Buffer, elements: int, stride: int, accesses: int
) -> Quantity:
    kernel = cl.Kernel(program, "strided")
    local_size = min(256 if probed.is_gpu else 64, probed.description.max_work_group_size)
    items = max(local_size, accesses // READS_OF_AN_ITEM // local_size * local_size)
    arguments = (data, np.uint32(elements - 1), np.uint32(stride), probed.sink, NEVER)
    probed.event_seconds(kernel, items, local_size, arguments)
    times = [
        probed.event_seconds(kernel, items, local_size, arguments) for _ in range(probed.settings.repetitions)
    ]
    return seconds_of([seconds / (items * READS_OF_AN_ITEM) for seconds in times])


def local_memory(probed: ProbedDevice, program: cl.Program) -> tuple[Quantity, Curve]:
    """Return local memory's bytes per second at stride 1, and the cost of other strides: bank conflicts."""
    kernel = cl.Kernel(program, "tile")
    local_size = min(256 if probed.is_gpu else 64, probed.description.max_work_group_size)
    items = probed.units * local_size * (4 if probed.is_gpu else 1)

    def rate_at(stride: int) -> Quantity:
        def run(rounds: int) -> float:
            arguments = (np.uint32(rounds), np.uint32(stride), probed.sink, NEVER)
            return probed.event_seconds(kernel, items, local_size, arguments)

        return probed.rate(run, items * READS_OF_AN_ITEM * ELEMENT_BYTES, 64)

    rates = {stride: rate_at(stride) for stride in probed.settings.strides if stride < local_size}
    costs = {stride: Quantity(1 / rate.value, rate.spread) for stride, rate in rates.items()}
    return rates[probed.settings.strides[0]], relative(curve_of(costs))
