"""A device as the probes use it: buffers, programs, launches timed until their median is worth something."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.errors import DeviceError
from coarsen.models.analytic.machine import Curve, MemoryLevel, Point, Quantity, interpolated

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


# Numbers from times: medians with their spread, curves that only fall or rise, levels, slopes.
#
# All of it bears with outliers. Other work on the machine only ever lengthens a run, so that a time is the median
# of the faster half of its runs; neighbours are pooled where a curve goes the wrong way; slopes are between all
# pairs of points.

# A level more must explain as much of the curve, in the logarithm, as this.
_PRICE_OF_A_LEVEL = 0.35
_MOST_LEVELS = 4


def quantity_of(values: Sequence[float]) -> Quantity:
    """Return the median of some measured values, and half the distance of their quartiles over it."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return Quantity(float(middle), float((high - low) / (2 * abs(middle))) if middle else None)


def seconds_of(times: Sequence[float]) -> Quantity:
    """Return the median of the faster half of some runs, and half the distance of the quartiles over it."""
    low, high = np.percentile(times, [25, 75])
    return Quantity(float(low), float((high - low) / (2 * low)))


def curve_of(quantities: Mapping[int, Quantity]) -> Curve:
    """Return the curve through measured quantities, by where they were measured."""
    return tuple(Point(float(at), each.value, each.spread) for at, each in sorted(quantities.items()))


def falling(curve: Curve) -> Curve:
    """Return the nearest curve that never rises."""
    return _with_values(curve, [-value for value in _isotonic([-math.log(point.value) for point in curve])])


def rising(curve: Curve) -> Curve:
    """Return the nearest curve that never falls."""
    return _with_values(curve, _isotonic([math.log(point.value) for point in curve]))


def at_least(curve: Curve, other: Curve) -> Curve:
    """Return the larger of two curves that have the same places, point by point."""
    return tuple(max(pair, key=lambda point: point.value) for pair in zip(curve, other, strict=True))


def relative(curve: Curve) -> Curve:
    """Return the curve over its first value."""
    return tuple(Point(point.at, point.value / curve[0].value, point.spread) for point in curve)


def _with_values(curve: Curve, logarithms: Sequence[float]) -> Curve:
    return tuple(
        Point(point.at, math.exp(value), point.spread) for point, value in zip(curve, logarithms, strict=True)
    )


def _isotonic(values: Sequence[float]) -> list[float]:
    """The nearest sequence that never falls: neighbours that do are pooled into their mean."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (left, left_count), (right, right_count) = pools[-2:]
            count = left_count + right_count
            pools[-2:] = [((left * left_count + right * right_count) / count, count)]
    return [value for value, count in pools for _ in range(count)]


def levels_of(bandwidth: Curve, latency: Curve) -> tuple[MemoryLevel, ...]:
    """Return the levels of a memory: the runs of a falling curve of bandwidths within which it is nearly flat.

    Args:
        bandwidth: by footprint in bytes.
        latency: by footprint; a level's is its median over the level's footprints.

    Returns:
        From the nearest level on; the last one holds any footprint.
    """
    starts = _run_starts([math.log(point.value) for point in bandwidth])
    runs = [bandwidth[start:end] for start, end in itertools.pairwise((*starts, len(bandwidth)))]
    return tuple(
        MemoryLevel(
            bytes=None if run is runs[-1] else run[-1].at,
            bandwidth=median(point.value for point in run),
            latency=_latency_over(run, latency),
        )
        for run in runs
    )


def _latency_over(run: Curve, latency: Curve) -> float | None:
    found = [interpolated(latency, point.at) for point in run]
    known = [value for value in found if value is not None]
    return median(known) if known else None


def _run_starts(values: Sequence[float]) -> tuple[int, ...]:
    """The starts of the runs of which constants explain a sequence best, each of them at a price."""
    candidates = (
        (0, *inner)
        for count in range(min(_MOST_LEVELS, len(values)))
        for inner in itertools.combinations(range(1, len(values)), count)
    )
    return min(candidates, key=lambda starts: _cost(values, starts), default=())


def _cost(values: Sequence[float], starts: Sequence[int]) -> float:
    runs = [values[start:end] for start, end in itertools.pairwise((*starts, len(values)))]
    misfit = sum(abs(value - median(run)) for run in runs for value in run)
    return misfit + _PRICE_OF_A_LEVEL * len(runs)


def slope(points: Sequence[tuple[float, float]]) -> Quantity | None:
    """Return the median slope between all pairs of points (Theil and Sen), None where it isn't above 0.

    Args:
        points: places and values; several of one place are no pair.
    """
    slopes = [
        (right[1] - left[1]) / (right[0] - left[0])
        for left, right in itertools.combinations(points, 2)
        if left[0] != right[0]
    ]
    return _above_nothing(slopes)


def intercept(points: Sequence[tuple[float, float]], steepness: float) -> Quantity | None:
    """Return the median of the values less what a slope makes of their places, None where it isn't above 0."""
    return _above_nothing([value - steepness * place for place, value in points])


def _above_nothing(values: Sequence[float]) -> Quantity | None:
    found = quantity_of(values) if values else Quantity(0.0)
    return found if found.value > 0 else None
