"""Bandwidth of reading by footprint, as data that others read before and as data that each unit rereads."""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from coarsen.models.analytic.machine import Curve, Quantity
from coarsen.opencl_bench.calibration.device import NEVER, ProbedDevice
from coarsen.opencl_bench.calibration.fitting import curve_of, falling

_CYCLIC_BYTES = 16
_BLOCKED_BYTES = 64
_LOCAL_SIZE = 256
_ITEMS_OF_A_UNIT = 2048


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
