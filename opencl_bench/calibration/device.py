"""A device as the probes use it: buffers, programs, launches timed until their median is worth something."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.errors import DeviceError
from coarsen.models.analytic.machine import Quantity
from coarsen.opencl_bench.calibration.fitting import seconds_of

# No sum of the probes' data, which is all ones, comes to this.
NEVER = np.float32(-1.5)
NO_ITEM = np.uint32(0xFFFFFFFF)
_LONGEST_GROWTH = 8

# What kernels take: buffers, local memory, numbers of NumPy.
Arguments = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """How thoroughly a device is calibrated.

    Args:
        smallest_footprint: in bytes, a power of two.
        largest_footprint: in bytes, a power of two; less where the device has less memory.
        repetitions: timed runs of each probe.
        shortest_run: in seconds: a probe's rounds are raised until a run takes as long.
        strides: of lanes, in elements.
        chains: numbers of independent chains in a work-item.
        chase_steps: loads of a run that follows a chain of places.
    """

    smallest_footprint: int = 32 << 10
    largest_footprint: int = 256 << 20
    repetitions: int = 11
    shortest_run: float = 2e-3
    strides: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    chains: tuple[int, ...] = (1, 2, 4, 8)
    chase_steps: int = 1 << 15


@dataclass
class ProbedDevice:
    """An opened device with a queue that tells times."""

    description: DeviceDescription
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        self.device = open_device(self.description)
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self.sink = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, 64)

    @property
    def is_gpu(self) -> bool:
        """Return True for a device whose work-items are lanes of wide warps."""
        return "gpu" in self.description.device_types

    @property
    def usual_group(self) -> int:
        """The work-items of a group, where nothing is said against as many."""
        return min(256 if self.is_gpu else 64, self.description.max_work_group_size)

    @property
    def units(self) -> int:
        """The number of compute units."""
        return self.description.compute_units

    @property
    def footprints(self) -> tuple[int, ...]:
        """The footprints to measure, in bytes, each twice the one before."""
        return footprints(self.settings, self.largest_buffer)

    @property
    def largest_buffer(self) -> int:
        """The bytes that a probe's buffer may have: an eighth of the memory, since others use it too."""
        return min(int(self.device.max_mem_alloc_size), int(self.device.global_mem_size) // 8)

    def ones(self, byte_count: int) -> cl.Buffer:
        """Return a buffer that is full of `float` ones."""
        buffer = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, byte_count)
        cl.enqueue_fill_buffer(self.queue, buffer, np.ones(1, np.float32), 0, byte_count)
        self.queue.finish()
        return buffer

    def upload(self, content: np.ndarray[Any, Any]) -> cl.Buffer:
        """Return a buffer with the content of an array."""
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self.context, flags, hostbuf=content)

    def build(self, source: str, *options: str) -> cl.Program:
        """Build a probe. Raises DeviceError."""
        try:
            with warnings.catch_warnings(action="ignore", category=cl.CompilerWarning):
                return build_uncached(self.context, source, options)
        except cl.Error as error:
            reason = " ".join(str(error).split())[:200]
            raise DeviceError(f"{self.description} does not build a probe: {reason}") from None

    def event_seconds(self, kernel: cl.Kernel, global_size: int, local_size: int, arguments: Arguments) -> float:
        """Launch a kernel once; its duration in seconds, as its event tells."""
        event = kernel(self.queue, (global_size,), (local_size,), *arguments)
        event.wait()
        return max(1e-9, (event.profile.end - event.profile.start) * 1e-9)

    def typical_seconds(
        self, kernel: cl.Kernel, global_size: int, local_size: int, arguments: Arguments
    ) -> Quantity:
        """Launch a kernel several times, and once before; its duration in seconds."""
        self.event_seconds(kernel, global_size, local_size, arguments)
        repetitions = range(self.settings.repetitions)
        return seconds_of([self.event_seconds(kernel, global_size, local_size, arguments) for _ in repetitions])

    def host_seconds(self, work: Callable[[], object]) -> float:
        """Return how long some work takes on the host until the queue is empty."""
        self.queue.finish()
        start = time.perf_counter()
        work()
        self.queue.finish()
        return time.perf_counter() - start

    def rate(self, run: Callable[[int], float], work_of_a_round: float, rounds: int = 4) -> Quantity:
        """Return work per second of a probe.

        Args:
            run: runs so many rounds and returns their seconds.
            work_of_a_round: in whatever the rate counts.
            rounds: to begin with; raised until a run is long enough, always a multiple of this.
        """
        enough = self.grown(run, rounds)
        times = [run(enough) for _ in range(self.settings.repetitions)]
        taken = seconds_of(times)
        return Quantity(enough * work_of_a_round / taken.value, taken.spread)

    def grown(self, run: Callable[[int], float], rounds: int) -> int:
        """Return rounds that take `Settings.shortest_run`, a multiple of `rounds`."""
        count = rounds
        run(count)  # the first run of a kernel may compile it
        seconds = run(count)
        while seconds < self.settings.shortest_run and count < 1 << 26:
            growth = min(_LONGEST_GROWTH, max(2, round(1.2 * self.settings.shortest_run / seconds)))
            count *= growth
            seconds = run(count)
        return count


def footprints(settings: Settings, largest_buffer: int) -> tuple[int, ...]:
    """Return the footprints to measure, in bytes, from the smallest on, where a buffer may have so many bytes."""
    most = min(settings.largest_footprint, largest_buffer)
    sizes = [settings.smallest_footprint]
    while 2 * sizes[-1] <= most:
        sizes.append(2 * sizes[-1])
    return tuple(sizes)


def source_of(name: str) -> str:
    """Return the text of a file of probes."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
