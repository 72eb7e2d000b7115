"""What memory costs: bandwidth and latency by footprint; the strides of lanes in memory, a cache and local memory.

Bandwidth is measured of data that others read before, and of data that each unit rereads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.models.analytic.machine import Curve, Quantity
from coarsen.opencl_bench.calibration.device import NEVER, ProbedDevice
from coarsen.opencl_bench.calibration.fitting import curve_of, falling, relative, rising

ELEMENT_BYTES = 4
READS_OF_AN_ITEM = 4
TILE_WORDS = 4096
_GPU_SIZES = 4
_CACHED_BYTES = 256 << 10
_CACHED_ITEMS = 1 << 18
_CYCLIC_BYTES = 16
_BLOCKED_BYTES = 64
_LOCAL_SIZE = 256
_ITEMS_OF_A_UNIT = 2048
_WORD_BYTES = 4
_CPU_LINE, _GPU_LINE = 64, 128
_SEED = 0


def bandwidth_curve(probed: ProbedDevice, program: cl.Program, *, private: bool) -> Curve:
    """Return bytes per second by footprint.

    On a GPU neighbouring items read neighbouring vectors (cyclic, after Baskaran et al.), on a CPU one item of
    each compute unit reads a run of them (blocked): what suits each.

    Args:
        probed: the device.
        program: of `memory.cl`.
        private: whether each item rereads what it read before; else it reads what another unit's item did.
    """
    data = probed.ones(probed.footprints[-1])
    measure = _cyclic if probed.is_gpu else _blocked
    found = {size: measure(probed, program, data, size, private) for size in probed.footprints}
    data.release()
    return falling(curve_of(found))


def _cyclic(probed: ProbedDevice, program: cl.Program, data: cl.Buffer, size: int, private: bool) -> Quantity:
    kernel = cl.Kernel(program, "cyclic")
    vectors = size // _CYCLIC_BYTES
    # A power of two, so that whole rounds go around the footprint.
    items = 1 << (probed.units * _ITEMS_OF_A_UNIT).bit_length() - 1
    local_size = min(_LOCAL_SIZE, probed.description.max_work_group_size)
    step = items % vectors + (0 if private else local_size)

    def run(rounds: int) -> float:
        arguments = (data, np.uint32(vectors - 1), np.uint32(rounds), np.uint32(step), probed.sink, NEVER)
        return probed.event_seconds(kernel, items, local_size, arguments)

    least = max(4, vectors // items)  # all of the footprint at least once
    return probed.rate(run, items * _CYCLIC_BYTES, least)


def _blocked(probed: ProbedDevice, program: cl.Program, data: cl.Buffer, size: int, private: bool) -> Quantity:
    kernel = cl.Kernel(program, "blocked")
    shares = probed.units
    length = size // _BLOCKED_BYTES // shares // 4 * 4
    if not length:
        shares, length = 1, size // _BLOCKED_BYTES

    def run(rounds: int) -> float:
        counts = (np.uint32(length), np.uint32(shares), np.uint32(rounds), np.uint32(not private))
        return probed.event_seconds(kernel, shares, 1, (data, *counts, probed.sink, NEVER))

    return probed.rate(run, shares * length * _BLOCKED_BYTES, 1)


def latency_curve(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the seconds of a load that waits for the one before, by footprint; `program` is of `memory.cl`."""
    return rising(curve_of({size: _latency(probed, program, size) for size in probed.footprints}))


def _latency(probed: ProbedDevice, program: cl.Program, size: int) -> Quantity:
    kernel = cl.Kernel(program, "chase")
    chain = probed.upload(chain_of_places(size, _GPU_LINE if probed.is_gpu else _CPU_LINE))
    place = probed.upload(np.zeros(1, np.uint32))
    _read_all(probed, program, chain, size)
    steps = probed.settings.chase_steps
    taken = probed.typical_seconds(kernel, 1, 1, (chain, np.uint32(steps), place))
    chain.release()
    return Quantity(taken.value / steps, taken.spread)


def chain_of_places(size: int, line: int) -> np.ndarray[Any, Any]:
    """Return a memory in which the first word of each line holds the index of another's, all in one cycle.

    Args:
        size: bytes of all of it.
        line: bytes between two places.
    """
    apart = line // _WORD_BYTES
    order = np.random.default_rng(_SEED).permutation(size // line).astype(np.uint32) * np.uint32(apart)
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))  # the chase begins at 0
    words = np.zeros(size // _WORD_BYTES, np.uint32)
    words[order] = np.roll(order, -1)
    return words


def _read_all(probed: ProbedDevice, program: cl.Program, data: cl.Buffer, size: int) -> None:
    """Have the caches hold what they can of the data."""
    kernel = cl.Kernel(program, "strided")
    items = size // _WORD_BYTES // 4
    local_size = min(64, probed.description.max_work_group_size, items)
    arguments = (data, np.uint32(size // _WORD_BYTES - 1), np.uint32(1), probed.sink, NEVER)
    probed.event_seconds(kernel, items, local_size, arguments)


def stride_cost(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the cost in memory: every run goes once through more than any cache holds."""
    size = probed.footprints[-1]
    if probed.is_gpu:  # whose runs would be too short to time
        size = min(_GPU_SIZES * size, 1 << probed.largest_buffer.bit_length() - 1)
    return _stride_cost(probed, program, size, lambda stride: size // ELEMENT_BYTES // stride)


def cached_stride_cost(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the cost where a second-level cache holds all data: that of the accesses themselves."""
    size = min(_CACHED_BYTES, probed.footprints[-1])
    return _stride_cost(probed, program, size, lambda _: _CACHED_ITEMS * READS_OF_AN_ITEM)


def _stride_cost(probed: ProbedDevice, program: cl.Program, size: int, accesses: Callable[[int], int]) -> Curve:
    data = probed.ones(size)
    found = {
        stride: _seconds_of_an_access(probed, program, data, size // ELEMENT_BYTES, stride, accesses(stride))
        for stride in probed.settings.strides
    }
    data.release()
    return relative(curve_of(found))


def _seconds_of_an_access(
    probed: ProbedDevice, program: cl.Program, data: cl.Buffer, elements: int, stride: int, accesses: int
) -> Quantity:
    kernel = cl.Kernel(program, "strided")
    local_size = probed.usual_group
    items = max(local_size, accesses // READS_OF_AN_ITEM // local_size * local_size)
    arguments = (data, np.uint32(elements - 1), np.uint32(stride), probed.sink, NEVER)
    taken = probed.typical_seconds(kernel, items, local_size, arguments)
    return Quantity(taken.value / (items * READS_OF_AN_ITEM), taken.spread)


def local_memory(probed: ProbedDevice, program: cl.Program) -> tuple[Quantity, Curve]:
    """Return local memory's bytes per second at stride 1, and the cost of other strides: bank conflicts."""
    kernel = cl.Kernel(program, "tile")
    local_size = probed.usual_group
    items = probed.units * local_size * (4 if probed.is_gpu else 1)

    def rate_at(stride: int) -> Quantity:
        def run(rounds: int) -> float:
            arguments = (np.uint32(rounds), np.uint32(stride), probed.sink, NEVER)
            return probed.event_seconds(kernel, items, local_size, arguments)

        return probed.rate(run, items * READS_OF_AN_ITEM * ELEMENT_BYTES, 64)

    rates = {stride: rate_at(stride) for stride in probed.settings.strides if stride < local_size}
    costs = {stride: Quantity(1 / rate.value, rate.spread) for stride, rate in rates.items()}
    return rates[probed.settings.strides[0]], relative(curve_of(costs))
