"""Images of a workload on a PyOpenCL queue, and samplers.

An image has no guard zones: where a kernel writes beyond its edge, OpenCL leaves the pixel out.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyopencl as cl

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.image_format import ImageFormat, SamplerArgument

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
        described = opencl_format(chosen)
        known = cl.get_supported_image_formats(context, cl.mem_flags.READ_WRITE, _KINDS[chosen.kind])
        if described not in known:
            raise InvalidInputError(f"the device has no {chosen}")
        return cl.create_image(
            context, cl.mem_flags.READ_WRITE, described, shape=self._extents, is_array=chosen.is_layered
        )


def opencl_format(image_format: ImageFormat) -> cl.ImageFormat:
    """Return a format as PyOpenCL has it."""
    order = getattr(cl.channel_order, image_format.channels)
    return cl.ImageFormat(order, getattr(cl.channel_type, image_format.channel_type.upper()))


def opencl_sampler(context: cl.Context, sampler: SamplerArgument) -> cl.Sampler:
    """Make a sampler."""
    addressing = getattr(cl.addressing_mode, sampler.addressing.upper())
    return cl.Sampler(context, sampler.normalized, addressing, getattr(cl.filter_mode, sampler.filter.upper()))
