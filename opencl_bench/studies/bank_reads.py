"""Reads of local memory at a stride, as they are, padded and permuted: measured slow-down against bank degree.

lane l reads row l, rows of s elements

    plain    element (r, c) at r·s + c
    padded   at r·(s + pad) + c, the pad that the bank model chooses; one element on a device without banks
    xor      at r·s + (c ^ (r & mask)), where a row is a power of two of elements

The reference of all is the plain read of 4 bytes at stride 1; each case and the reference take turns in one
process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyopencl as cl

from coarsen.cost.banks.degree import Banks, bank_degree
from coarsen.cost.banks.padding import Reference, best_padding
from coarsen.cost.locality.device import MemoryDevice
from coarsen.models.analytic.machine import Quantity
from coarsen.opencl_bench.calibration.device import NEVER, ProbedDevice
from coarsen.opencl_bench.calibration.fitting import quantity_of
from coarsen.opencl_bench.studies.bank_sources import LOCAL_READS
from coarsen.variant.padding import row_permutation

ELEMENTS = {4: ("float", "(v)"), 8: ("float2", "(v.x + v.y)"), 16: ("float4", "(v.x + v.y + v.z + v.w)")}
PLAIN, PADDED, XOR = "plain", "padded", "xor"
# Of a lane in a round.
READS = 8
_WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class ReadCase:
    """Rows of elements in local memory.

    Attributes:
        element_bytes: of what a lane reads.
        stride: of a row, in elements, as the kernel has it.
        layout: plain, padded or xor.
        pitch: from one row to the next, in elements.
        mask: of the row's number that the column is permuted with; 0 for none.
    """

    element_bytes: int
    stride: int
    layout: str = PLAIN
    pitch: int = 1
    mask: int = 0

    def __str__(self) -> str:
        return f"{self.element_bytes} bytes, stride {self.stride}, {self.layout}"

    def addresses(self, column: int, lanes: int) -> list[int]:
        """Return the first byte that each lane reads.

        Args:
            column: of its row.
            lanes: how many there are.
        """
        places = ((row, column ^ (row & self.mask)) for row in range(lanes))
        return [(row * self.pitch + place) * self.element_bytes for row, place in places]

    def degree(self, lanes: int, banks: Banks) -> float:
        """Return the mean bank degree of the reads of a round.

        Args:
            lanes: of a sub-group.
            banks: of local memory.
        """
        columns = [number % self.stride for number in range(READS)]
        degrees = [bank_degree(self.addresses(column, lanes), self.element_bytes, banks) for column in columns]
        return sum(degrees) / READS


REFERENCE = ReadCase(_WORD_BYTES, 1)


@dataclass(frozen=True, slots=True)
class MeasuredRead:
    """What a case takes.

    Attributes:
        case: which.
        degree: that the model predicts; None on a device without banks.
        slow_down: its time over the reference's, in turns.
        picoseconds: of a lane's read, all that run at once together.
    """

    case: ReadCase
    degree: float | None
    slow_down: Quantity
    picoseconds: float


def read_cases(strides: Sequence[int], machine: MemoryDevice) -> Iterator[ReadCase]:
    """Yield the cases of all element sizes.

    Args:
        strides: in elements.
        machine: its banks choose the pads.
    """
    for element_bytes in ELEMENTS:
        for stride in strides:
            yield ReadCase(element_bytes, stride, PLAIN, stride)
            pad = _pad(stride, element_bytes, machine)
            if pad:
                yield ReadCase(element_bytes, stride, PADDED, stride + pad)
            found = row_permutation(stride * element_bytes, max(element_bytes, _WORD_BYTES))
            if found is not None:
                yield ReadCase(element_bytes, stride, XOR, stride, found.mask)


def _pad(stride: int, element_bytes: int, machine: MemoryDevice) -> int:
    """The elements that a row gets: of the read of a column, which all columns are alike."""
    if machine.banks is None:
        return 1
    column = Reference(tuple((row, 0) for row in range(machine.lanes)), element_bytes)
    found = best_padding([column], stride * element_bytes, element_bytes, machine.banks)
    return 0 if found is None else found.words * machine.banks.word_bytes // element_bytes


@dataclass(frozen=True, slots=True)
class MeasuredReads:
    """All cases.

    Attributes:
        measured: those that the device's local memory has room for.
        left_out: the others.
    """

    measured: tuple[MeasuredRead, ...]
    left_out: tuple[ReadCase, ...]


def measured_reads(probed: ProbedDevice, machine: MemoryDevice, strides: Sequence[int]) -> MeasuredReads:
    """Return what each case takes.

    Args:
        probed: the device.
        machine: how it reaches memory.
        strides: in elements.
    """
    cases = [*read_cases(strides, machine)]
    room = probed.description.local_memory // machine.lanes
    fitting = [case for case in cases if case.pitch * case.element_bytes <= room]
    # Of one length for all cases of an element size, so that as many groups fit on a compute unit.
    longest = {
        size: max((case.pitch for case in fitting if case.element_bytes == size), default=1) for size in ELEMENTS
    }
    reads = {size: LocalReads(probed, machine.lanes, size, pitch) for size, pitch in longest.items()}
    reference = reads[REFERENCE.element_bytes]
    return MeasuredReads(
        tuple(_measured(case, reads[case.element_bytes], reference, machine) for case in fitting),
        tuple(case for case in cases if case not in fitting),
    )


def _measured(case: ReadCase, reads: LocalReads, reference: LocalReads, machine: MemoryDevice) -> MeasuredRead:
    probed = reads.probed
    run, reference_run = partial(reads.seconds, case), partial(reference.seconds, REFERENCE)
    rounds, _ = probed.grown(run, 1)
    reference_rounds, _ = probed.grown(reference_run, 1)
    pairs = [
        (run(rounds) / rounds, reference_run(reference_rounds) / reference_rounds) for _ in probed_runs(probed)
    ]
    scale = reference.items / reads.items
    return MeasuredRead(
        case,
        None if machine.banks is None else case.degree(machine.lanes, machine.banks),
        quantity_of([scale * own / other for own, other in pairs]),
        1e12 * quantity_of([own for own, _ in pairs]).value / (READS * reads.items),
    )


def probed_runs(probed: ProbedDevice) -> range:
    """Return the numbers of the timed runs of a case."""
    return range(probed.settings.repetitions)


def source_of_reads(element_bytes: int) -> str:
    """Return the kernel that reads elements of one size."""
    _, total = ELEMENTS[element_bytes]
    return f"#define SUM(v) {total}\n{LOCAL_READS}"


def macros_of(element_bytes: int, lanes: int, pitch: int) -> dict[str, str | int]:
    """Return the values of the kernel's macros.

    Args:
        element_bytes: of an element.
        lanes: of a sub-group: each reads a row of its own.
        pitch: the most elements from one row to the next.
    """
    name, _ = ELEMENTS[element_bytes]
    return {"ELEMENT": name, "LANES": lanes, "LENGTH": lanes * pitch}


class LocalReads:
    """The kernel that reads elements of one size.

    Args:
        probed: the device.
        lanes: of a sub-group: each reads a row of its own.
        element_bytes: of an element.
        pitch: the most elements from one row to the next.
    """

    def __init__(self, probed: ProbedDevice, lanes: int, element_bytes: int, pitch: int) -> None:
        options = [f"-D{macro}={value}" for macro, value in macros_of(element_bytes, lanes, pitch).items()]
        program = probed.build(source_of_reads(element_bytes), *options)
        self.probed = probed
        self._kernel = cl.Kernel(program, "rows")
        self._local_size = min(256 if probed.is_gpu else 64, probed.description.max_work_group_size)
        self.items = probed.units * self._local_size * (32 if probed.is_gpu else 4)

    def seconds(self, case: ReadCase, rounds: int) -> float:
        """Return the seconds of one launch."""
        numbers = (rounds, case.pitch, case.mask, case.stride)
        arguments = (*map(np.uint32, numbers), self.probed.sink, NEVER)
        return self.probed.event_seconds(self._kernel, self.items, self._local_size, arguments)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well degrees tell times, of one element size in all layouts.

    Attributes:
        element_bytes: of an element.
        cases: how many.
        slope: of the line through slow-downs over degrees.
        start: where it begins.
        r_squared: the part of the slow-downs' variance that the line tells.
        mean_ratio: measured over predicted, the geometric mean.
        worst: the ratio that is farthest from 1.
    """

    element_bytes: int
    cases: int
    slope: float
    start: float
    r_squared: float
    mean_ratio: float
    worst: float


def agreements(measured: Sequence[MeasuredRead]) -> Iterator[Agreement]:
    """Yield the agreement for each element size that has two different degrees at least.

    Args:
        measured: all cases.
    """
    for element_bytes in ELEMENTS:
        own = [each for each in measured if each.case.element_bytes == element_bytes and each.degree is not None]
        degrees = np.array([each.degree for each in own], float)
        times = np.array([each.slow_down.value for each in own])
        if len({*degrees.tolist()}) < 2:
            continue
        slope, start = np.polyfit(degrees, times, 1)
        left = times - (slope * degrees + start)
        logs = np.log(times / degrees)
        yield Agreement(
            element_bytes,
            len(own),
            float(slope),
            float(start),
            float(1 - np.sum(left**2) / np.sum((times - times.mean()) ** 2)),
            float(np.exp(logs.mean())),
            float(np.exp(logs[np.argmax(np.abs(logs))])),
        )
