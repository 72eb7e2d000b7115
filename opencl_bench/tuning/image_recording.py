"""Captures the images and samplers of a launch: their formats, and what the images hold on the device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.captured_launch import CapturedImage, CapturedSampler
from coarsen.opencl_bench.workloads.image_format import (
    CHANNEL_TYPES,
    CHANNELS,
    Addressing,
    Filter,
    ImageFormat,
    SamplerArgument,
)

_KINDS = {
    pyopencl.mem_object_type.IMAGE2D: "image2d",
    pyopencl.mem_object_type.IMAGE2D_ARRAY: "image2d_array",
    pyopencl.mem_object_type.IMAGE3D: "image3d",
}
_DIMENSIONS = 3


def byte_count_of_images(kernel: str, arguments: Sequence[Any]) -> int:
    """Return how many bytes the images among a launch's arguments hold.

    Args:
        kernel: the kernel's name, for messages.
        arguments: those of the launch.

    Raises:
        InvalidInputError: an image that can't be captured: of a kind or a format that no description has, made of
            a buffer, or given twice.
    """
    total = 0
    seen: dict[int, int] = {}
    for index, image in enumerate(arguments):
        if not isinstance(image, pyopencl.Image):
            continue
        try:
            image_format = format_of(image)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"the kernel '{kernel}': argument {index} can't be captured: {error}"
            ) from None
        handle = int(image.int_ptr)
        if handle in seen:
            raise InvalidInputError(
                f"the kernel '{kernel}': its arguments {seen[handle]} and {index} are one image, "
                "which a workload can't have"
            )
        seen[handle] = index
        channels = math.prod(_extents(image, image_format)) * image_format.component_count
        total += channels * np.dtype(image_format.scalar).itemsize
    return total


def format_of(image: pyopencl.Image) -> ImageFormat:
    """Return the format of an image. Raises InvalidInputError where no description has such images."""
    if image.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT) is not None:
        raise InvalidInputError("it is an image that is made of a buffer or of another image")
    type_of_object: Any = image.get_info(pyopencl.mem_info.TYPE)
    kind = _KINDS.get(type_of_object)
    if kind is None:
        raise InvalidInputError("it is an image of one dimension, which no description has")
    described: Any = image.get_image_info(pyopencl.image_info.FORMAT)
    channels = _name_of(pyopencl.channel_order, described.channel_order)
    channel_type = _name_of(pyopencl.channel_type, described.channel_data_type).lower()
    if channels not in CHANNELS or channel_type not in CHANNEL_TYPES:
        raise InvalidInputError(f"it is an image of {channels} {channel_type}, which no description has")
    return ImageFormat(kind, channels, channel_type)


def captured_image(queue: pyopencl.CommandQueue, image: pyopencl.Image, is_read: bool) -> CapturedImage:
    """Return an image with a copy of what it holds when the queue has come so far.

    Args:
        queue: where its kernel would be launched.
        image: one of those that `format_of` takes.
        is_read: False where the kernel does not read it: then it is not copied.
    """
    image_format = format_of(image)
    extents = _extents(image, image_format)
    if not is_read:
        return CapturedImage(image_format, extents, None)
    content = np.empty(image_format.shape(extents), image_format.scalar)
    region = (*extents, *[1] * (_DIMENSIONS - len(extents)))
    pyopencl.enqueue_copy(queue, content, image, origin=(0,) * _DIMENSIONS, region=region)
    return CapturedImage(image_format, extents, content)


def captured_sampler(sampler: pyopencl.Sampler) -> CapturedSampler:
    """Return what a sampler is."""
    information = pyopencl.sampler_info
    addressing: Any = sampler.get_info(information.ADDRESSING_MODE)
    chosen: Any = sampler.get_info(information.FILTER_MODE)
    return CapturedSampler(
        SamplerArgument(
            Addressing(_name_of(pyopencl.addressing_mode, addressing).lower()),
            Filter(_name_of(pyopencl.filter_mode, chosen).lower()),
            bool(sampler.get_info(information.NORMALIZED_COORDS)),
        )
    )


def _extents(image: pyopencl.Image, image_format: ImageFormat) -> tuple[int, ...]:
    """The width, height and depth (or number of layers)."""
    names = {
        "image2d": ("WIDTH", "HEIGHT"),
        "image2d_array": ("WIDTH", "HEIGHT", "ARRAY_SIZE"),
        "image3d": ("WIDTH", "HEIGHT", "DEPTH"),
    }[image_format.kind]
    numbers: list[Any] = [image.get_image_info(getattr(pyopencl.image_info, name)) for name in names]
    return tuple(map(int, numbers))


def _name_of(names: Any, value: int) -> str:  # noqa: ANN401 (PyOpenCL's tables of constants have no common type)
    return str(names.to_string(value))
