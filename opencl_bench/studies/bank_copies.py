"""Copies in memory: at a stride of lanes, and shared out in blocks or in turn, as Baskaran et al. measured reads.

strided    work-item i copies element s·i              predicted: pieces that a sub-group touches, over stride 1's
cyclic     copies i, i + items, i + 2·items, …         Baskaran et al. (2008), table 1
blocked    copies each·i, each·i + 1, …                the same
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyopencl as cl

from coarsen.cost.locality.device import MemoryDevice
from coarsen.errors import InternalError
from coarsen.models.analytic.machine import Quantity
from coarsen.opencl_bench.calibration.device import ProbedDevice
from coarsen.opencl_bench.calibration.fitting import quantity_of
from coarsen.opencl_bench.studies.bank_reads import probed_runs
from coarsen.opencl_bench.studies.bank_sources import COPIES

STRIDED, CYCLIC, BLOCKED = "strided", "cyclic", "blocked"
# What a work-item copies, where it copies several elements.
EACH = (4, 16, 64)
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class MeasuredCopy:
    """What a copy takes.

    Attributes:
        kind: strided, cyclic or blocked.
        number: its stride, or how many elements a work-item copies.
        predicted: pieces of memory that a sub-group touches at once, over those of the plain copy.
        slow_down: its time for an element over the plain copy's, in turns.
        gigabytes: read and written in a second, those that were asked for alone.
    """

    kind: str
    number: int
    predicted: float
    slow_down: Quantity
    gigabytes: float


class Copies:
    """Two buffers, the kernels that copy between them, and the plain copy that others are compared with.

    Args:
        probed: the device.
        byte_count: of each buffer, a power of two.
    """

    def __init__(self, probed: ProbedDevice, byte_count: int) -> None:
        self._probed = probed
        self._program = probed.build(COPIES)
        self._elements = byte_count // _FLOAT_BYTES
        self._content = np.arange(self._elements, dtype=np.uint32).view(np.float32)
        self._from, self._to = probed.upload(self._content), probed.ones(byte_count)
        self._kernels = {name: cl.Kernel(self._program, name) for name in (STRIDED, CYCLIC, BLOCKED)}
        self._local_size = min(256 if probed.is_gpu else 64, probed.description.max_work_group_size)

    def release(self) -> None:
        """Free the buffers."""
        self._from.release()
        self._to.release()

    def elements(self, kind: str, number: int) -> int:
        """Return how many elements a launch copies."""
        return self._elements // number if kind == STRIDED else self._elements

    def seconds(self, kind: str, number: int) -> float:
        """Return the seconds of one launch."""
        items = self._elements // number // self._local_size * self._local_size
        arguments = (self._to, self._from, np.uint32(number))
        return self._probed.event_seconds(self._kernels[kind], items, self._local_size, arguments)

    def check(self, kind: str, number: int) -> None:
        """Copy once and compare. Raises InternalError where an element is missing."""
        queue = self._probed.queue
        cl.enqueue_fill_buffer(queue, self._to, np.full(1, 0xFFFFFFFF, np.uint32), 0, self._to.size)
        self.seconds(kind, number)
        found = np.empty_like(self._content)
        cl.enqueue_copy(queue, found, self._to)
        step = number if kind == STRIDED else 1
        copied = self._elements // number // self._local_size * self._local_size * (number // step)
        wanted = self._content.view(np.uint32)[: copied * step : step]
        if not np.array_equal(found.view(np.uint32)[: copied * step : step], wanted):
            raise InternalError(f"the {kind} copy by {number} has other elements")


def measured_copies(
    probed: ProbedDevice, machine: MemoryDevice, strides: Sequence[int], byte_count: int
) -> Iterator[MeasuredCopy]:
    """Yield what each copy takes.

    Args:
        probed: the device.
        machine: how it reaches memory.
        strides: of lanes, in floats.
        byte_count: of each of the two buffers, a power of two.
    """
    copies = Copies(probed, byte_count)
    cases = [
        *((STRIDED, stride) for stride in strides),
        *((kind, each) for each in EACH for kind in (CYCLIC, BLOCKED)),
    ]
    for kind, number in cases:
        copies.check(kind, number)
        run, plain = partial(copies.seconds, kind, number), partial(copies.seconds, STRIDED, 1)
        plain(), run()
        pairs = [(run(), plain()) for _ in probed_runs(probed)]
        elements, all_elements = copies.elements(kind, number), copies.elements(STRIDED, 1)
        seconds = quantity_of([own for own, _ in pairs]).value
        yield MeasuredCopy(
            kind,
            number,
            _pieces(kind, number, machine) / _pieces(STRIDED, 1, machine),
            quantity_of([own / elements / (other / all_elements) for own, other in pairs]),
            2 * _FLOAT_BYTES * elements / seconds / 1e9,
        )
    copies.release()


def _pieces(kind: str, number: int, machine: MemoryDevice) -> int:
    """The pieces that a sub-group touches at once."""
    stride = 1 if kind == CYCLIC else number
    return len({lane * stride * _FLOAT_BYTES // machine.piece_bytes for lane in range(machine.lanes)})
