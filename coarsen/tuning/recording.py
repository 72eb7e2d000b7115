"""Captures a launch of a PyOpenCL program: what its arguments hold on the device.

LaunchRequest ─▶ CapturedLaunch ─▶ `write_launch` (workload/captured_launch.py)
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array

from coarsen.base.files import MEBIBYTE
from coarsen.devices.discovery import describe_device
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.workload.argument_use import is_readable, pointer_uses
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument
from coarsen.tuning.workload.captured_launch import CapturedArgument, CapturedBuffer, CapturedImage, CapturedLaunch
from coarsen.tuning.workload.element_types import (
    CHANNEL_TYPES,
    CHANNELS,
    Addressing,
    Filter,
    ImageFormat,
    SamplerArgument,
)
from coarsen.tuning.workload.launch_list import (
    PassedArgument,
    PassedBuffer,
    PassedOther,
    PassedScalar,
    PassedShared,
)


def captured_launch(
    request: LaunchRequest, most_bytes: int | None = None, reads_all: bool = False
) -> CapturedLaunch:
    """Return a launch with copies of what its buffers hold when the queue has come so far.

    What the kernel does not read is not copied.

    Args:
        request: with its queue and its arguments, as `pyopencl.Kernel.set_args` takes them: buffers, arrays on the
            device, shared virtual memory, None, NumPy scalars, structures of NumPy or ctypes, vectors of
            `pyopencl.cltypes`, local memory.
        most_bytes: how much the buffers may hold in all; any number if None.
        reads_all: whether other kernels are launched with them, which may read what this one does not.

    Raises:
        InvalidInputError: an argument that can't be captured (an image that is made of a buffer, or whose format
            no description has; a Python number of no certain type; shared virtual memory of no known size); parts
            of one buffer that overlap; buffers and images larger than `most_bytes`; an offset that isn't one
            number for each dimension; the kernel doesn't compile.
        RefusalError: the kernel can't be read.
    """
    kernel, queue, arguments = request.kernel, request.queue, request.arguments
    if queue is None or arguments is None:
        raise InvalidInputError(f"the kernel '{kernel}': a launch is captured with its queue and its arguments")
    _, global_size, local_size, *_ = request.launch
    offset = tuple(map(int, request.offset or ()))
    if offset and len(offset) != len(global_size):
        raise InvalidInputError(f"the kernel '{kernel}': the global offset must have {len(global_size)} numbers")
    passed = passed_arguments(kernel, arguments)
    held = sum(each.byte_count for each in passed if isinstance(each, PassedBuffer))
    total = held + _byte_count_of_images(kernel, arguments)
    if most_bytes is not None and total > most_bytes:
        raise InvalidInputError(
            f"the kernel '{kernel}': its buffers and images have {total / MEBIBYTE:.1f} MiB, and at most "
            f"{most_bytes / MEBIBYTE:.1f} MiB may be captured"
        )
    macros = describe_device(queue.device).macros
    lowered = lower(request.source, kernel, list(request.options), macros)
    unread = {} if reads_all else unread_buffers(lowered, passed)
    return CapturedLaunch(
        request.source,
        request.options,
        kernel,
        tuple(map(int, global_size)),
        tuple(map(int, local_size or ())),
        tuple(
            unread.get(index) or _captured(queue, lowered, index, passed[index], argument)
            for index, argument in enumerate(arguments)
        ),
        offset if any(offset) else (),
        macros,
        lowered,
    )


def unread_buffers(kernel: Kernel, passed: Sequence[PassedArgument]) -> dict[int, PassedBuffer]:
    """Return the buffers that the kernel writes alone, by whichever of its parameters; with their indices."""
    uses = pointer_uses(kernel)
    read = set()
    for index, (parameter, each) in enumerate(zip(kernel.arguments, passed, strict=False)):
        use = uses[parameter.name]
        if use.may_be_read or not use.is_written:
            read.add(each.index if isinstance(each, PassedShared) else index)
    return {i: each for i, each in enumerate(passed) if isinstance(each, PassedBuffer) and i not in read}


def passed_arguments(kernel: str, arguments: Sequence[Any]) -> tuple[PassedArgument, ...]:
    """Return what a launch passes, without reading a buffer.

    Args:
        kernel: the kernel's name, for messages.
        arguments: as `captured_launch` takes them.

    Raises:
        InvalidInputError: an argument of no known bytes; parts of one buffer that overlap.
    """
    regions = _regions(kernel, arguments)
    same = same_as(kernel, regions)
    return tuple(
        PassedShared(same[index])
        if index in same
        else PassedBuffer(regions[index].byte_count)
        if index in regions
        else _without_memory(kernel, index, argument)
        for index, argument in enumerate(arguments)
    )


def _without_memory(kernel: str, index: int, argument: Any) -> PassedArgument:  # noqa: ANN401 (whatever PyOpenCL takes)
    """Return what is no buffer. Raises InvalidInputError for what has no bytes."""
    if argument is None:
        return NullArgument()
    if isinstance(argument, pyopencl.LocalMemory):
        return LocalArgument(int(argument.size))
    if isinstance(argument, pyopencl.Image | pyopencl.Sampler):
        return PassedOther("image" if isinstance(argument, pyopencl.Image) else "sampler")
    try:
        # NumPy's scalars and vectors, structures of ctypes, bytes.
        return PassedScalar(memoryview(argument).tobytes())
    except TypeError:
        raise InvalidInputError(
            f"the kernel '{kernel}': argument {index} is of type {type(argument).__name__}, which "
            "can't be captured"
        ) from None


def _regions(kernel: str, arguments: Sequence[Any]) -> dict[int, Region]:
    regions = {}
    for index, argument in enumerate(arguments):
        try:
            region = region_of(argument)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"the kernel '{kernel}': argument {index} can't be captured: {error}"
            ) from None
        if region is not None:
            regions[index] = region
    return regions


def _captured(
    queue: pyopencl.CommandQueue,
    kernel: Kernel,
    index: int,
    passed: PassedArgument,
    argument: Any,  # noqa: ANN401 (whatever PyOpenCL takes)
) -> CapturedArgument:
    if isinstance(passed, PassedBuffer):
        return CapturedBuffer(_content(queue, argument, passed.byte_count))
    if not isinstance(passed, PassedOther):
        return passed
    if isinstance(argument, pyopencl.Sampler):
        return captured_sampler(argument)
    parameters = kernel.arguments
    is_read = index >= len(parameters) or is_readable(parameters[index])
    return _captured_image(queue, argument, is_read)


def _content(queue: pyopencl.CommandQueue, argument: Any, byte_count: int) -> np.ndarray[Any, Any]:  # noqa: ANN401
    content, buffer = np.empty(byte_count, np.uint8), buffer_of(argument)
    if buffer is None:
        pyopencl.enqueue_copy(queue, content, argument)
    else:
        offset = int(argument.offset) if isinstance(argument, pyopencl.array.Array) else 0
        pyopencl.enqueue_copy(queue, content, buffer, src_offset=offset)
    return content


# Captures the images and samplers of a launch: their formats, and what the images hold on the device.

_KINDS: dict[int, str] = {
    pyopencl.mem_object_type.IMAGE2D: "image2d",
    pyopencl.mem_object_type.IMAGE2D_ARRAY: "image2d_array",
    pyopencl.mem_object_type.IMAGE3D: "image3d",
}
_DIMENSIONS = 3


def _byte_count_of_images(kernel: str, arguments: Sequence[Any]) -> int:
    """The bytes that images hold. Raises InvalidInputError for one that is given twice, or can't be captured."""
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
    type_of_object: Any = image.get_info(pyopencl.mem_info.TYPE)
    described: Any = image.get_image_info(pyopencl.image_info.FORMAT)
    has_parent = image.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT) is not None
    return image_format_of(type_of_object, described.channel_order, described.channel_data_type, has_parent)


def image_format_of(kind: int, channel_order: int, channel_type: int, has_parent: bool) -> ImageFormat:
    """Return the format of an image.

    Args:
        kind: OpenCL's number of it, as are the next two.
        channel_order: of its pixels.
        channel_type: of its pixels.
        has_parent: whether it is made of a buffer or of another image.

    Raises:
        InvalidInputError: no description has such images.
    """
    if has_parent:
        raise InvalidInputError("it is an image that is made of a buffer or of another image")
    name = _KINDS.get(kind)
    if name is None:
        raise InvalidInputError("it is an image of one dimension, which no description has")
    order = _name_of(pyopencl.channel_order, channel_order)
    type_name = _name_of(pyopencl.channel_type, channel_type).lower()
    if order not in CHANNELS or type_name not in CHANNEL_TYPES:
        raise InvalidInputError(f"it is an image of {order} {type_name}, which no description has")
    return ImageFormat(name, order, type_name)


def _captured_image(queue: pyopencl.CommandQueue, image: pyopencl.Image, is_read: bool) -> CapturedImage:
    """An image with a copy of what it holds when the queue has come so far, unless the kernel does not read it."""
    image_format = format_of(image)
    extents = _extents(image, image_format)
    if not is_read:
        return CapturedImage(image_format, extents, None)
    content = np.empty(image_format.shape(extents), image_format.scalar)
    region = (*extents, *[1] * (_DIMENSIONS - len(extents)))
    pyopencl.enqueue_copy(queue, content, image, origin=(0,) * _DIMENSIONS, region=region)
    return CapturedImage(image_format, extents, content)


def captured_sampler(sampler: pyopencl.Sampler) -> SamplerArgument:
    """Return what a sampler is."""
    information = pyopencl.sampler_info
    names = (information.NORMALIZED_COORDS, information.ADDRESSING_MODE, information.FILTER_MODE)
    numbers: list[Any] = [sampler.get_info(name) for name in names]
    return sampler_of(*numbers)


def sampler_of(is_normalized: int, addressing: int, chosen: int) -> SamplerArgument:
    """Return a sampler by OpenCL's numbers: whether coordinates are normalised, addressing mode, filter mode."""
    return SamplerArgument(
        Addressing(_name_of(pyopencl.addressing_mode, addressing).lower()),
        Filter(_name_of(pyopencl.filter_mode, chosen).lower()),
        bool(is_normalized),
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


# Where the arguments of a launch lie in a device's memory: which are the same bytes, which overlap.
#
# Two pointers to the same bytes are one buffer given twice; parts of one buffer that don't meet are two buffers.

_SHARED_MEMORY = 0  # the "object" that all shared virtual memory is part of; no handle is 0


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes from `begin` up to `end` of a memory object, which `whole` tells apart from others."""

    whole: int
    begin: int
    end: int

    @property
    def byte_count(self) -> int:
        """The number of bytes."""
        return self.end - self.begin

    def meets(self, other: Region) -> bool:
        """Return True if they have bytes in common."""
        return self.whole == other.whole and self.begin < other.end and other.begin < self.end


def region_of(argument: Any) -> Region | None:  # noqa: ANN401 (whatever PyOpenCL takes)
    """Return where the memory of an argument lies; None if it is no buffer and no shared virtual memory.

    Raises:
        InvalidInputError: shared virtual memory of no known size; a part of a buffer that was released.
    """
    if isinstance(argument, pyopencl.SVMPointer):
        size: Any = argument.size
        if size is None:
            raise InvalidInputError("it is shared virtual memory of no known size; pass its SVMAllocation")
        return Region(_SHARED_MEMORY, int(argument.svm_ptr), int(argument.svm_ptr) + int(size))
    held = buffer_of(argument)
    if held is None:
        return None
    offset = int(argument.offset) if isinstance(argument, pyopencl.array.Array) else 0
    whole = _whole_of(held)
    if whole is None:
        return Region(int(held.int_ptr), offset, int(held.size))
    start: Any = held.get_info(pyopencl.mem_info.OFFSET)
    return Region(int(whole.int_ptr), int(start) + offset, int(start) + int(held.size))


def _whole_of(part: pyopencl.Buffer) -> pyopencl.Buffer | None:
    """The buffer that another is part of, None where it is none."""
    try:
        # PyOpenCL's annotation: any object.
        whole: Any = part.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    except pyopencl.LogicError:  # on Intel's runtime, which does not keep it for its parts
        raise InvalidInputError(
            "it is part of a buffer that was released, so that it can't be told from other parts; keep the buffer"
        ) from None
    return whole if isinstance(whole, pyopencl.Buffer) else None


def buffer_of(argument: Any) -> pyopencl.Buffer | None:  # noqa: ANN401
    """Return the buffer that an argument is, or that an array's numbers are in."""
    held = argument.base_data if isinstance(argument, pyopencl.array.Array) else argument
    return held if isinstance(held, pyopencl.Buffer) else None


def same_as(kernel: str, regions: Mapping[int, Region]) -> dict[int, int]:
    """Return the arguments that are given the same memory as one before them, with that one's index.

    Args:
        kernel: the kernel's name, for messages.
        regions: of the arguments that are memory, by their indices.

    Raises:
        InvalidInputError: the memory of two overlaps and isn't the same.
    """
    first: dict[Region, int] = {}
    same: dict[int, int] = {}
    for index, region in regions.items():
        if region in first:
            same[index] = first[region]
            continue
        for other, before in first.items():
            if region.meets(other):
                raise InvalidInputError(
                    f"the kernel '{kernel}': its arguments {before} and {index} are parts of one buffer that "
                    "overlap, which a workload can't have"
                )
        first[region] = index
    return same


# A launch is kept once as files, and at most four times in the memory of host and device each.
_PART_OF_MEMORY = 16
_PART_OF_DISK = 4


def most_captured_bytes(device_bytes: int, folder: Path) -> int:
    """Return how much the buffers of a launch may hold in all, so that copies of them crowd nothing else out.

    Args:
        device_bytes: the memory of the device.
        folder: where files of them will lie.

    Returns:
        A sixteenth of the smaller one of the device's and the host's memory, at most a quarter of what is free on
        the folder's disk, in bytes.
    """
    memory = min(device_bytes, _host_bytes() or device_bytes)
    return max(1, min(memory // _PART_OF_MEMORY, shutil.disk_usage(folder).free // _PART_OF_DISK))


def _host_bytes() -> int | None:
    """Return the host's memory in bytes; None where the system doesn't say."""
    names = getattr(os, "sysconf_names", {})
    if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():
        return None
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
