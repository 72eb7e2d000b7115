"""Latency by footprint: one work-item follows a chain of places through memory, in an order without a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.models.analytic.machine import Curve, Quantity
from coarsen.opencl_bench.calibration.device import NEVER, ProbedDevice
from coarsen.opencl_bench.calibration.fitting import curve_of, rising, seconds_of

_WORD_BYTES = 4
_CPU_LINE, _GPU_LINE = 64, 128
_SEED = 0


def latency_curve(probed: ProbedDevice, program: cl.Program) -> Curve:
    """Return the seconds of a load that waits for the one before, by footprint; `program` is of `memory.cl`."""
    return rising(curve_of({size: _latency(probed, program, size) for size in probed.footprints}))


def _latency(probed: ProbedDevice, program: cl.Program, size: int) -> Quantity:
    kernel = cl.Kernel(program, "chase")
    chain = probed.upload(chain_of_places(size, _GPU_LINE if probed.is_gpu else _CPU_LINE))
    place = probed.upload(np.zeros(1, np.uint32))
    _read_all(probed, program, chain, size)
    steps = probed.settings.chase_steps
    arguments = (chain, np.uint32(steps), place)
    probed.event_seconds(kernel, 1, 1, arguments)
    times = [probed.event_seconds(kernel, 1, 1, arguments) for _ in range(probed.settings.repetitions)]
    chain.release()
    return seconds_of([seconds / steps for seconds in times])


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
