"""Reads of the same array through each memory that OpenCL has for it: what a place, or an image, would bring.

python -m coarsen.opencl_bench.studies.memory_paths --device NAME [--json FILE] [--quick]

    global         global const float *          may change meanwhile
    noncoherent    global const float *restrict  what `--place ARG=noncoherent` makes of it
    constant       constant float *              what `--place ARG=constant` does; small arrays alone
    image          image1d_buffer_t              an image of the buffer, which `--place` does not offer

Each work-item reads floats in a pattern, from arrays of several sizes; all ways take turns in one process, and all
must give the same sums. Times are over those of `global`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.devices.selection import find_device
from coarsen.errors import DeviceError
from coarsen.models.analytic.machine import Quantity
from coarsen.opencl_bench.calibration.device import ProbedDevice, Settings
from coarsen.opencl_bench.calibration.fitting import quantity_of
from coarsen.opencl_bench.studies.bank_reads import probed_runs
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.input_runs import add_lines
from coarsen.opencl_bench.studies.input_tables import show
from coarsen.opencl_bench.sweep.device_lock import device_lock

GLOBAL, NONCOHERENT, CONSTANT, IMAGE = "global", "noncoherent", "constant", "image"
_WAYS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        GLOBAL: ("global const float *from", "from[place]"),
        NONCOHERENT: ("global const float *restrict from", "from[place]"),
        CONSTANT: ("constant float *from", "from[place]"),
        IMAGE: ("read_only image1d_buffer_t from", "read_imagef(from, (int)place).x"),
    }
)
# The first element that a work-item reads, and the distance from one read to the next, in elements.
PATTERNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "neighbours": ("item", "get_global_size(0)"),
        "one for all": ("0", "1"),
        "stride 8": ("8 * item", "8 * get_global_size(0)"),
        "scattered": ("item * 2654435761u >> 4", "item * 40503u + 12345u"),
    }
)
# In floats.
SIZES = (1 << 12, 1 << 16, 1 << 26)
QUICK_SIZES = (1 << 12,)
READS = 64
# A store through `to` comes between reads, so that only a promise lets a read take the path of what never changes.
_KERNEL = """
kernel void reads(FROM, global float *RESTRICT to, uint mask, uint rounds)
{{
    uint item = get_global_id(0), place = ({start}) & mask, step = {step};
    float sum = 0.0f;
    for (uint round = 0; round < rounds; round++) {{
        for (uint i = 0; i < {reads}; i++) {{
            sum += {read};
            place = (place + step) & mask;
        }}
        to[item] = sum;
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class MeasuredPath:
    """What reads by a way take.

    Attributes:
        pattern: of the reads.
        floats: of the array.
        way: through which memory.
        time: over that of the reads of global memory, in turns.
        seconds: of a launch.
    """

    pattern: str
    floats: int
    way: str
    time: Quantity
    seconds: float


class Reads:
    """The reads of one array in one pattern, by all ways that the device has for it.

    Args:
        probed: the device.
        pattern: the name of one.
        floats: of the array, a power of two.
    """

    def __init__(self, probed: ProbedDevice, pattern: str, floats: int) -> None:
        self._probed, self._mask = probed, np.uint32(floats - 1)
        self._local_size = min(256 if probed.is_gpu else 64, probed.description.max_work_group_size)
        self._items = probed.units * self._local_size * (32 if probed.is_gpu else 16)
        content = np.random.default_rng(floats).integers(0, 3, floats).astype(np.float32)
        buffer = probed.upload(content)
        self._arrays: dict[str, cl.MemoryObject] = {GLOBAL: buffer, NONCOHERENT: buffer}
        if content.nbytes <= int(probed.device.max_constant_buffer_size):
            self._arrays[CONSTANT] = buffer
        if floats <= _largest_image(probed.device):
            self._arrays[IMAGE] = _image_of(probed.context, buffer, floats)
        self._to = cl.Buffer(probed.context, cl.mem_flags.READ_WRITE, 4 * self._items)
        self._kernels = {way: self._built(pattern, way) for way in self._arrays}

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways that the device has for this array."""
        return tuple(self._kernels)

    def seconds(self, way: str, rounds: int) -> float:
        """Return the seconds of one launch."""
        arguments = (self._arrays[way], self._to, self._mask, np.uint32(rounds))
        return self._probed.event_seconds(self._kernels[way], self._items, self._local_size, arguments)

    def sums(self, way: str) -> np.ndarray[Any, Any]:
        """Return what the work-items add up."""
        self.seconds(way, 1)
        found = np.empty(self._items, np.float32)
        cl.enqueue_copy(self._probed.queue, found, self._to)
        return found

    def release(self) -> None:
        """Free the buffers."""
        for each in {id(array): array for array in (*self._arrays.values(), self._to)}.values():
            each.release()

    def _built(self, pattern: str, way: str) -> cl.Kernel:
        declaration, read = _WAYS[way]
        start, step = PATTERNS[pattern]
        text = _KERNEL.format(start=start, step=step, read=read, reads=READS).replace("FROM", declaration)
        restrict = "restrict" if way == NONCOHERENT else ""
        return cl.Kernel(self._probed.build(text.replace("RESTRICT", restrict)), "reads")


def _largest_image(device: cl.Device) -> int:
    """The floats that an image of a buffer may have; 0 where there are no images."""
    return int(device.image_max_buffer_size) if device.image_support else 0


def _image_of(context: cl.Context, buffer: cl.Buffer, floats: int) -> cl.Image:
    numbers = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
    description = cl.ImageDescriptor()
    description.image_type = cl.mem_object_type.IMAGE1D_BUFFER
    description.shape, description.buffer = (floats, 0, 0), buffer
    return cl.Image(context, cl.mem_flags.READ_ONLY, numbers, desc=description)


def measured_paths(probed: ProbedDevice, sizes: Sequence[int]) -> Iterator[MeasuredPath]:
    """Yield what reads take, in all patterns, by all ways.

    Args:
        probed: the device.
        sizes: of arrays, in floats.

    Raises:
        DeviceError: a way gives other sums than global memory.
    """
    for pattern in PATTERNS:
        for floats in sizes:
            reads = Reads(probed, pattern, floats)
            yield from _measured(probed, reads, pattern, floats)
            reads.release()


def _measured(probed: ProbedDevice, reads: Reads, pattern: str, floats: int) -> Iterator[MeasuredPath]:
    wanted = reads.sums(GLOBAL)
    for way in reads.ways:
        if not np.array_equal(reads.sums(way), wanted):
            raise DeviceError(f"{pattern}, {floats} floats: other sums through {way} than through global memory")
    rounds, _ = probed.grown(lambda count: reads.seconds(GLOBAL, count), 1)
    runs = [{way: reads.seconds(way, rounds) for way in reads.ways} for _ in probed_runs(probed)]
    for way in reads.ways:
        time = quantity_of([run[way] / run[GLOBAL] for run in runs])
        yield MeasuredPath(pattern, floats, way, time, quantity_of([run[way] for run in runs]).value)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print a table, and keep lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", required=True, help="part of its name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="a line for each number, added to a file")
    parser.add_argument("--quick", action="store_true", help="little of everything, for a try")
    asked = parser.parse_args(words)
    device = find_device(asked.device)
    settings = Settings(repetitions=3, shortest_run=1e-4) if asked.quick else Settings()
    with device_lock(device):
        found = [*measured_paths(ProbedDevice(device, settings), QUICK_SIZES if asked.quick else SIZES)]
    rows = (
        [each.pattern, f"{each.floats:,}", each.way, f"{each.time.value:.3f}", f"{1e3 * each.seconds:.3f}"]
        for each in found
    )
    show(["reads", "floats", "through", "time over global", "ms"], rows)
    if asked.json:
        about = {"device": device.name, "driver": device.driver_version, "platform": device.platform_name}
        add_lines(asked.json, [json.dumps({**about, **asdict(each)}) for each in found])
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
