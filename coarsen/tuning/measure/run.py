"""Runs workloads on a PyOpenCL queue, every buffer between two guard zones.

    | guard zone | contents: what the kernel sees, a sub-buffer | guard zone |

A kernel that writes outside its buffer changes a guard zone, which is compared byte for byte after the run.
Images have no such zones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

import numpy as np
import pyopencl as cl

from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.machine import Durations, raising_launch_errors
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Clock,
    Launch,
    LocalArgument,
    NullArgument,
    ScratchArgument,
    Workload,
)
from coarsen.tuning.workload.driver_tools import round_up
from coarsen.tuning.workload.element_types import ImageFormat, SamplerArgument

MINIMUM_GUARD_BYTES = 4096


KernelArgument = cl.MemoryObject | cl.LocalMemory | cl.Sampler | np.generic | None


class LaunchableKernel(Protocol):
    """A kernel that a launch calls: `pyopencl.Kernel` is one, and so is a coarsened kernel."""

    def __call__(
        self,
        queue: cl.CommandQueue,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        /,
        *arguments: KernelArgument,
        global_offset: tuple[int, ...] | None = None,
    ) -> cl.Event:
        """Enqueue the kernel over an NDRange of the original sizes."""
        ...


KernelChoice = Callable[[Launch], LaunchableKernel]
Enqueue = Callable[[], cl.Event]


class GuardedBuffer:
    """One buffer on the device between two guard zones; `view` is the part that a kernel is given."""

    def __init__(self, queue: cl.CommandQueue, contents: Array) -> None:
        self._queue = queue
        self._contents = np.ascontiguousarray(contents)
        alignment = max(device.mem_base_addr_align for device in queue.context.devices) // 8
        self._guard = round_up(MINIMUM_GUARD_BYTES, max(alignment, 1))
        size = self._contents.nbytes
        self._end = self._guard + size
        self._pattern = np.random.default_rng(size).integers(0, 256, self._guard, dtype=np.uint8)
        self._whole = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, self._end + self._guard)
        cl.enqueue_copy(queue, self._whole, self._pattern, dst_offset=0)
        cl.enqueue_copy(queue, self._whole, self._pattern, dst_offset=self._end)
        self.view = self._whole.get_sub_region(self._guard, size)
        cl.enqueue_copy(queue, self._whole, self._contents, dst_offset=self._guard)

    def restore(self) -> None:
        """Put the contents back that the buffer was made with."""
        cl.enqueue_copy(self._queue, self._whole, self._original, dst_offset=self._guard)

    def reset(self) -> None:
        """Put these contents back from the host, which needs no copy of them on the device."""
        cl.enqueue_copy(self._queue, self._whole, self._contents, dst_offset=self._guard)

    @cached_property
    def _original(self) -> cl.Buffer:
        """The contents as they were, on the device: copies between host and GPU would take most of a sweep."""
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self._queue.context, flags, hostbuf=self._contents)

    def read(self) -> Array:
        """Return a copy of the contents as they are now."""
        now = np.empty_like(self._contents)
        cl.enqueue_copy(self._queue, now, self._whole, src_offset=self._guard)
        return now

    def intact(self) -> bool:
        """Return True if both guard zones are as they were made."""
        zone = np.empty_like(self._pattern)
        for offset in (0, self._end):
            cl.enqueue_copy(self._queue, zone, self._whole, src_offset=offset)
            if not np.array_equal(zone, self._pattern):
                return False
        return True


def _placed(queue: cl.CommandQueue, workload: Workload, name: str) -> GuardedBuffer | PlacedImage:
    contents = workload.buffers[name]
    if name in workload.images:
        return PlacedImage(queue, contents, workload.images[name])
    return GuardedBuffer(queue, contents)


class DeviceWorkload:
    """A workload whose buffers are on a device, to be executed as often as wanted.

    Attributes:
        workload: what is on the device.
    """

    def __init__(self, queue: cl.CommandQueue, workload: Workload) -> None:
        if not queue.properties & cl.command_queue_properties.PROFILING_ENABLE:
            raise InvalidInputError("the command queue must be made with PROFILING_ENABLE")
        self._queue = queue
        self.workload = workload
        self._buffers = {name: _placed(queue, workload, name) for name in workload.buffers}
        self._views: dict[str, cl.MemoryObject] = {name: buffer.view for name, buffer in self._buffers.items()}

    @raising_launch_errors(cl.Error)
    def restore(self) -> None:
        """Put the original contents of the outputs back. Raises LaunchError."""
        for name in self.workload.outputs:
            self._buffers[name].restore()

    @raising_launch_errors(cl.Error)
    def reset(self) -> None:
        """Put the original contents of all buffers back. Raises LaunchError."""
        for buffer in self._buffers.values():
            buffer.reset()

    def prepared(self, get_kernel: KernelChoice, launches: Sequence[Launch]) -> list[Enqueue]:
        """Return what enqueues each launch, with its arguments, to be run as often as wanted.

        Args:
            get_kernel: gives the kernel to use for a launch.
            launches: on the workload's buffers; scratch whose size they say is theirs from now on.
        """
        self._place_scratch(launches)
        return [prepared_launch(self._queue, get_kernel(launch), launch, self._views) for launch in launches]

    def _place_scratch(self, launches: Sequence[Launch]) -> None:
        """Place scratch of just the size that launches need: one version's is no other's."""
        needed: dict[str, int] = {}
        for argument in (each for launch in launches for each in launch.arguments):
            if isinstance(argument, ScratchArgument):
                needed[argument.name] = max(argument.byte_count, needed.get(argument.name, 0))
        for name, byte_count in needed.items():
            contents = self.workload.buffers[name]
            if self._buffers[name].view.size != byte_count:
                contents = np.resize(contents, byte_count // contents.itemsize)
                self._buffers[name] = placed = GuardedBuffer(self._queue, contents)
                self._views[name] = placed.view

    def run(self, prepared: Sequence[Enqueue], clock: Clock = Clock.SUM) -> Durations:
        """Run what was prepared in order, and wait; by a span, the sum and the host's time stand beside it."""
        # Neither what was enqueued before nor finding the arguments is part of the host's time.
        self._queue.finish()
        start = time.perf_counter_ns()
        events = [enqueue() for enqueue in prepared]
        self._queue.finish()
        profiles = [(event.profile.start, event.profile.end) for event in events]
        host = time.perf_counter_ns() - start
        total = sum(end - start for start, end in profiles)
        if clock is Clock.SUM:
            return Durations(total)
        span = max((end for _, end in profiles), default=0) - min((start for start, _ in profiles), default=0)
        return Durations(span, total, host)

    @raising_launch_errors(cl.Error)
    def outputs(self) -> dict[str, Array]:
        """Return the output buffers as they are now. Raises LaunchError."""
        return {name: self._buffers[name].read() for name in self.workload.outputs}

    @raising_launch_errors(cl.Error)
    def violated(self) -> tuple[str, ...]:
        """Return the names of the buffers whose guard zones were written to. Raises LaunchError."""
        return tuple(name for name, buffer in self._buffers.items() if not buffer.intact())


def prepared_launch(
    queue: cl.CommandQueue, kernel: LaunchableKernel, launch: Launch, buffers: Mapping[str, cl.MemoryObject]
) -> Enqueue:
    """Return what enqueues a launch with a workload's buffers and images, its arguments found beforehand."""
    arguments = [_value(queue, argument, buffers) for argument in launch.arguments]
    offset = launch.global_offset or None
    return partial(kernel, queue, launch.global_size, launch.local_size or None, *arguments, global_offset=offset)


def _value(queue: cl.CommandQueue, argument: Argument, buffers: Mapping[str, cl.MemoryObject]) -> KernelArgument:
    if isinstance(argument, BufferArgument):
        return buffers[argument.name]
    if isinstance(argument, LocalArgument):
        return cl.LocalMemory(argument.byte_count)
    if isinstance(argument, SamplerArgument):
        addressing = getattr(cl.addressing_mode, argument.addressing.upper())
        chosen = getattr(cl.filter_mode, argument.filter.upper())
        return cl.Sampler(queue.context, argument.normalized, addressing, chosen)
    return None if isinstance(argument, NullArgument) else argument.value


# Images of a workload on a PyOpenCL queue, and samplers.
#
# An image has no guard zones: where a kernel writes beyond its edge, OpenCL leaves the pixel out.

_KINDS = {
    "image2d": cl.mem_object_type.IMAGE2D,
    "image2d_array": cl.mem_object_type.IMAGE2D_ARRAY,
    "image3d": cl.mem_object_type.IMAGE3D,
}
_DIMENSIONS = 3


class PlacedImage:
    """An image on the device; `view` is what a kernel is given."""

    def __init__(self, queue: cl.CommandQueue, contents: Array, image_format: ImageFormat) -> None:
        self._queue = queue
        self._contents = np.ascontiguousarray(contents)
        self._format = image_format
        self._extents = image_format.extents(self._contents.shape)
        self.view = self._made()
        self.reset()

    def restore(self) -> None:
        """Put the contents back that the image was made with."""
        cl.enqueue_copy(
            self._queue,
            self.view,
            self._original,
            src_origin=self._origin,
            dest_origin=self._origin,
            region=self._region,
        )

    def reset(self) -> None:
        """Put these contents back from the host."""
        cl.enqueue_copy(self._queue, self.view, self._contents, origin=self._origin, region=self._region)

    def read(self) -> Array:
        """Return a copy of the contents as they are now."""
        now = np.empty_like(self._contents)
        cl.enqueue_copy(self._queue, now, self.view, origin=self._origin, region=self._region)
        return now

    def intact(self) -> bool:
        """Return True: nothing can be written outside of an image."""
        return True

    @property
    def _origin(self) -> tuple[int, ...]:
        return (0,) * _DIMENSIONS

    @property
    def _region(self) -> tuple[int, ...]:
        return (*self._extents, *[1] * (_DIMENSIONS - len(self._extents)))

    @cached_property
    def _original(self) -> cl.Image:
        original = self._made()
        cl.enqueue_copy(self._queue, original, self._contents, origin=self._origin, region=self._region)
        return original

    def _made(self) -> cl.Image:
        context, chosen = self._queue.context, self._format
        order, kind = getattr(cl.channel_order, chosen.channels), chosen.channel_type.upper()
        described = cl.ImageFormat(order, getattr(cl.channel_type, kind))
        known = cl.get_supported_image_formats(context, cl.mem_flags.READ_WRITE, _KINDS[chosen.kind])
        if described not in known:
            raise InvalidInputError(f"the device has no {chosen}")
        return cl.create_image(
            context, cl.mem_flags.READ_WRITE, described, shape=self._extents, is_array=chosen.is_layered
        )
