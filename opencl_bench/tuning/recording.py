"""Captures a launch of a PyOpenCL program: what its arguments hold on the device.

queue, kernel, sizes, arguments ─▶ CapturedLaunch ─▶ `write_capture` (workloads/described/captured.py)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array

from coarsen.devices.discovery import describe_device
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.tuning.image_recording import byte_count_of_images, captured_image, captured_sampler
from coarsen.opencl_bench.tuning.memory_regions import Region, buffer_of, region_of, same_as
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.described.captured_launch import (
    CapturedArgument,
    CapturedBuffer,
    CapturedLaunch,
    CapturedUnread,
)
from coarsen.opencl_bench.workloads.described.image_use import is_readable
from coarsen.opencl_bench.workloads.described.passed_arguments import (
    PassedLocal,
    PassedNull,
    PassedScalar,
    PassedShared,
)
from coarsen.opencl_bench.workloads.described.pointer_use import pointer_uses


@dataclass(frozen=True, slots=True)
class ProgramText:
    """The text that a kernel was built from: OpenCL C and its build options, one by one."""

    source: str
    options: tuple[str, ...] = ()


def captured_launch(
    program: ProgramText,
    kernel: str,
    queue: pyopencl.CommandQueue,
    global_size: Sequence[int],
    local_size: LocalSize,
    arguments: Sequence[Any],
    *,
    global_offset: Sequence[int] | None = None,
    most_bytes: int | None = None,
) -> CapturedLaunch:
    """Return a launch with copies of what its buffers hold when the queue has come so far.

    What the kernel does not read is not copied.

    Args:
        program: what the kernel was built from.
        kernel: its name.
        queue: where it would be launched.
        global_size: in work-items.
        local_size: in work-items; empty where it is left to the implementation.
        arguments: as `pyopencl.Kernel.set_args` takes them: buffers, arrays on the device, shared virtual memory,
            None, NumPy scalars, structures of NumPy or ctypes, vectors of `pyopencl.cltypes`, local memory.
        global_offset: of the first work-item, in work-items.
        most_bytes: how much the buffers may hold in all; any number if None.

    Raises:
        InvalidInputError: an argument that can't be captured (an image that is made of a buffer, or whose format
            no description has; a Python number of no certain type; shared virtual memory of no known size); parts
            of one buffer that overlap; buffers and images larger than `most_bytes`; an offset that isn't one
            number for each dimension; the kernel doesn't compile.
        RefusalError: the kernel can't be read.
    """
    offset = tuple(map(int, global_offset or ()))
    if offset and len(offset) != len(global_size):
        raise InvalidInputError(f"the kernel '{kernel}': the global offset must have {len(global_size)} numbers")
    regions = _regions(kernel, arguments)
    same = same_as(kernel, regions)
    held = [region.byte_count for index, region in regions.items() if index not in same]
    _check_size(kernel, sum(held) + byte_count_of_images(kernel, arguments), most_bytes)
    macros = describe_device(queue.device).macros
    lowered = lower(program.source, kernel, list(program.options), macros)
    unread = _unread(lowered, arguments, same)
    return CapturedLaunch(
        program.source,
        program.options,
        kernel,
        tuple(map(int, global_size)),
        tuple(map(int, local_size)),
        tuple(
            PassedShared(same[index])
            if index in same
            else CapturedUnread(regions[index].byte_count)
            if index in unread
            else _captured(queue, lowered, index, argument)
            for index, argument in enumerate(arguments)
        ),
        offset if any(offset) else (),
        macros,
    )


def _unread(kernel: Kernel, arguments: Sequence[Any], same: Mapping[int, int]) -> set[int]:
    """The buffers that the kernel writes alone, by whichever of its parameters."""
    uses = pointer_uses(kernel)
    unread, read = set(), set()
    for index, (parameter, argument) in enumerate(zip(kernel.arguments, arguments, strict=False)):
        use = uses[parameter.name]
        if use.is_written and not use.may_be_read and buffer_of(argument) is not None:
            unread.add(index)
        else:
            read.add(same.get(index, index))
    return unread - read - same.keys()


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


def _check_size(kernel: str, total: int, most_bytes: int | None) -> None:
    if most_bytes is not None and total > most_bytes:
        raise InvalidInputError(
            f"the kernel '{kernel}': its buffers and images have {_mebibytes(total)}, and at most "
            f"{_mebibytes(most_bytes)} may be captured"
        )


def _mebibytes(byte_count: int) -> str:
    return f"{byte_count / (1 << 20):.1f} MiB"


def _captured(
    queue: pyopencl.CommandQueue,
    kernel: Kernel,
    index: int,
    argument: Any,  # noqa: ANN401 (whatever PyOpenCL takes)
) -> CapturedArgument:
    if argument is None:
        return PassedNull()
    if isinstance(argument, pyopencl.LocalMemory):
        return PassedLocal(int(argument.size))
    if isinstance(argument, pyopencl.SVMPointer):
        return CapturedBuffer(_shared_content(queue, argument))
    if isinstance(argument, pyopencl.Image):
        parameters = kernel.arguments
        is_read = index >= len(parameters) or is_readable(parameters[index])
        return captured_image(queue, argument, is_read)
    if isinstance(argument, pyopencl.Sampler):
        return captured_sampler(argument)
    buffer = buffer_of(argument)
    if buffer is not None:
        return CapturedBuffer(_content(queue, argument, buffer))
    try:
        # NumPy's scalars and vectors, structures of ctypes, bytes.
        return PassedScalar(memoryview(argument).tobytes())
    except TypeError:
        raise InvalidInputError(
            f"the kernel '{kernel.name}': argument {index} is of type {type(argument).__name__}, which "
            "can't be captured"
        ) from None


def _content(queue: pyopencl.CommandQueue, argument: Any, buffer: pyopencl.Buffer) -> np.ndarray[Any, Any]:  # noqa: ANN401
    offset = int(argument.offset) if isinstance(argument, pyopencl.array.Array) else 0
    content = np.empty(int(buffer.size) - offset, np.uint8)
    pyopencl.enqueue_copy(queue, content, buffer, src_offset=offset)
    return content


def _shared_content(queue: pyopencl.CommandQueue, memory: pyopencl.SVMPointer) -> np.ndarray[Any, Any]:
    size: Any = memory.size
    content = np.empty(int(size), np.uint8)
    pyopencl.enqueue_copy(queue, content, memory)
    return content
