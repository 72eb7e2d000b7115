"""Tiles in local memory, padded by coarsen's own transform: transposition, and a matrix times a vector.

naive, direct    no tile                          what Baskaran et al. (2008), table 2, call direct global
plain            float tile[32][32], read by columns: all lanes of a sub-group meet in one bank
padded           --pad tile=1
xor              --pad tile=xor
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.api import coarsen
from coarsen.cost.banks.padding import Reference, best_swizzle, padded_cost
from coarsen.cost.locality.device import MemoryDevice
from coarsen.errors import InternalError
from coarsen.models.analytic.machine import Quantity
from coarsen.opencl_bench.calibration.device import ProbedDevice
from coarsen.opencl_bench.calibration.fitting import quantity_of
from coarsen.opencl_bench.studies import bank_sources as sources
from coarsen.opencl_bench.studies.bank_reads import PADDED, PLAIN, XOR, probed_runs
from coarsen.variant.data_plan import array_plan

_FLOAT_BYTES = 4
_PADS: Mapping[str, int | str] = {PADDED: 1, XOR: "xor"}
# Of sums of some thousands of floats, one after the other.
_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class MeasuredTile:
    """What a way to do a task takes.

    Attributes:
        task: transposition or product.
        way: copy, naive, plain, padded or xor.
        size: of the matrix, rows and columns.
        degrees: the sum of the bank degrees of the tile's accesses; None without a tile or banks.
        slow_down: its time over the reference's, in turns: a copy of the matrix, or the product without a tile.
        seconds: of a launch.
    """

    task: str
    way: str
    size: int
    degrees: int | None
    slow_down: Quantity
    seconds: float


@dataclass(frozen=True, slots=True)
class _Way:
    """A built kernel and how it is launched."""

    name: str
    degrees: int | None
    run: Callable[[], float]


def tile_text(source: str, way: str) -> str:
    """Return a kernel with its array `tile` as it is, padded or permuted.

    Args:
        source: OpenCL C.
        way: plain, padded or xor.

    Raises:
        InvalidInputError, RefusalError: as `coarsen`.
    """
    if way not in _PADS:
        return source
    return coarsen(source, factor=1, arrays=[array_plan("tile", pad=_PADS[way])]).opencl_c


def tile_degrees(references: Sequence[Reference], columns: int, way: str, machine: MemoryDevice) -> int | None:
    """Return the sum of the bank degrees of a tile's accesses; None on a device without banks.

    Args:
        references: the accesses.
        columns: of the tile, floats.
        way: plain, padded or xor.
        machine: whose banks count.
    """
    if machine.banks is None:
        return None
    if way == XOR:
        found = best_swizzle(references, columns * _FLOAT_BYTES, _FLOAT_BYTES, machine.banks)
        return None if found is None else found.cost
    return padded_cost(references, columns * _FLOAT_BYTES, int(way == PADDED), machine.banks)


def _row_and_column(lanes: int) -> tuple[Reference, Reference]:
    """A sub-group writes a row of a tile, or several, and reads a column."""
    row = tuple(divmod(lane, sources.TILE) for lane in range(lanes))
    written = Reference(tuple((y, x * _FLOAT_BYTES) for y, x in row), _FLOAT_BYTES)
    return written, Reference(tuple((x, y * _FLOAT_BYTES) for y, x in row), _FLOAT_BYTES)


def measured_transpositions(probed: ProbedDevice, machine: MemoryDevice, size: int) -> Iterator[MeasuredTile]:
    """Yield what transpositions take, beside a copy of the matrix.

    Args:
        probed: the device.
        machine: how it reaches memory.
        size: of the matrix, a multiple of 32.

    Raises:
        InternalError: a result is wrong.
    """
    matrix = np.arange(size * size, dtype=np.uint32).view(np.float32).reshape(size, size)
    source, target = probed.upload(matrix), probed.ones(matrix.nbytes)
    sizes = (size, size // sources.TILE * sources.TILE_ROWS), (sources.TILE, sources.TILE_ROWS)
    arguments = target, source, np.uint32(size)

    def way(name: str, text: str, degrees: int | None, transposes: bool = True) -> _Way:
        kernel = cl.Kernel(probed.build(text), "transpose" if transposes else "copy")
        run = launch_of(probed, kernel, sizes, arguments)
        cl.enqueue_fill_buffer(probed.queue, target, np.full(1, 0xFFFFFFFF, np.uint32), 0, matrix.nbytes)
        run()
        found = np.empty_like(matrix)
        cl.enqueue_copy(probed.queue, found, target)
        wanted = matrix.T if transposes else matrix
        if not np.array_equal(found.view(np.uint32), np.ascontiguousarray(wanted).view(np.uint32)):
            raise InternalError(f"the {name} transposition has other elements")
        return _Way(name, degrees, run)

    references = _row_and_column(machine.lanes)
    ways = [way("copy", sources.COPY, None, transposes=False), way("naive", sources.NAIVE_TRANSPOSE, None)]
    for name in (PLAIN, PADDED, XOR):
        text = tile_text(sources.TILED_TRANSPOSE, name)
        ways.append(way(name, text, tile_degrees(references, sources.TILE, name, machine)))
    yield from _in_turns(probed, "transposition", size, ways)
    source.release()
    target.release()


def measured_products(probed: ProbedDevice, machine: MemoryDevice, size: int) -> Iterator[MeasuredTile]:
    """Yield what a matrix times a vector takes, without a tile and with one.

    Args:
        probed: the device.
        machine: how it reaches memory.
        size: of the matrix, a multiple of 128.

    Raises:
        InternalError: a result is wrong.
    """
    random = np.random.default_rng(0)
    matrix = random.random((size, size), np.float32)
    vector = random.random(size, np.float32)
    wanted = matrix.astype(np.float64) @ vector.astype(np.float64)
    buffers = probed.ones(4 * size), probed.upload(matrix), probed.upload(vector)
    arguments = *buffers, np.uint32(size)
    items, group = sources.PRODUCT_ITEMS, sources.PRODUCT_ROWS

    def way(name: str, text: str, degrees: int | None, sizes: tuple[tuple[int], tuple[int]]) -> _Way:
        run = launch_of(probed, cl.Kernel(probed.build(text), "mv"), sizes, arguments)
        cl.enqueue_fill_buffer(probed.queue, buffers[0], np.full(1, np.nan, np.float32), 0, 4 * size)
        run()
        found = np.empty(size, np.float32)
        cl.enqueue_copy(probed.queue, found, buffers[0])
        if not np.allclose(found, wanted, rtol=_TOLERANCE):
            raise InternalError(f"the {name} product has other elements")
        return _Way(name, degrees, run)

    # A sub-group writes a part of a row, and reads a column of the tile.
    lanes = range(machine.lanes)
    written = Reference(tuple((0, lane * _FLOAT_BYTES) for lane in lanes), _FLOAT_BYTES)
    read = Reference(tuple((lane % group, lane // group * 16 * _FLOAT_BYTES) for lane in lanes), _FLOAT_BYTES)
    ways = [way("direct", sources.DIRECT_PRODUCT, None, ((size,), (64,)))]
    for name in (PLAIN, PADDED, XOR):
        degrees = tile_degrees((written, read), 128, name, machine)
        text = tile_text(sources.TILED_PRODUCT, name)
        ways.append(way(name, text, degrees, ((size // group * items,), (items,))))
    yield from _in_turns(probed, "product", size, ways)
    for buffer in buffers:
        buffer.release()


def launch_of(
    probed: ProbedDevice,
    kernel: cl.Kernel,
    sizes: tuple[tuple[int, ...], tuple[int, ...]],
    arguments: tuple[Any, ...],
) -> Callable[[], float]:
    """Return what launches a kernel once and tells the seconds of its event.

    Args:
        probed: the device.
        kernel: which.
        sizes: global and local.
        arguments: of the kernel.
    """

    def run() -> float:
        event = kernel(probed.queue, *sizes, *arguments)
        event.wait()
        return max(1e-9, (event.profile.end - event.profile.start) * 1e-9)

    return run


def _in_turns(probed: ProbedDevice, task: str, size: int, ways: Sequence[_Way]) -> Iterator[MeasuredTile]:
    """Time all, the first of which is the reference."""
    rounds = [[way.run() for way in ways] for _ in probed_runs(probed)]
    for number, way in enumerate(ways):
        slow_down = quantity_of([times[number] / times[0] for times in rounds])
        seconds = quantity_of([times[number] for times in rounds]).value
        yield MeasuredTile(task, way.name, size, way.degrees, slow_down, seconds)
