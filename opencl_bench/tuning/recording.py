"""Captures a launch of a PyOpenCL program: what its arguments hold on the device.

queue, kernel, sizes, arguments ─▶ CapturedLaunch ─▶ `write_capture` (workloads/described/captured.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.described.captured import (
    CapturedArgument,
    CapturedBuffer,
    CapturedLaunch,
    CapturedLocal,
    CapturedScalar,
)


@dataclass(frozen=True, slots=True)
class ProgramText:
    """What a kernel was built from: OpenCL C and its build options, one by one."""

    source: str
    options: tuple[str, ...] = ()


def captured_launch(
    program: ProgramText,
    kernel: str,
    queue: pyopencl.CommandQueue,
    global_size: Sequence[int],
    local_size: LocalSize,
    arguments: Sequence[Any],
) -> CapturedLaunch:
    """Return a launch with copies of what its buffers hold when the queue has come so far.

    Args:
        program: what the kernel was built from.
        kernel: its name.
        queue: where it would be launched.
        global_size: in work-items.
        local_size: in work-items.
        arguments: as `pyopencl.Kernel.set_args` takes them: buffers, arrays on the device, NumPy scalars,
            vectors of `pyopencl.cltypes`, local memory.

    Raises:
        InvalidInputError: an argument that can't be captured (an image, shared virtual memory, a Python number of
            no certain type); one buffer given twice, or parts of one, which two files can't say.
    """
    memory = [_memory_of(each) for each in map(_buffer_of, arguments) if each is not None]
    if len(set(memory)) != len(memory):
        raise InvalidInputError(f"the kernel '{kernel}' is given one buffer twice, which a workload can't have")
    return CapturedLaunch(
        program.source,
        program.options,
        kernel,
        tuple(map(int, global_size)),
        tuple(map(int, local_size)),
        tuple(_captured(queue, kernel, index, argument) for index, argument in enumerate(arguments)),
    )


def _captured(
    queue: pyopencl.CommandQueue,
    kernel: str,
    index: int,
    argument: Any,  # noqa: ANN401 (whatever PyOpenCL takes)
) -> CapturedArgument:
    if isinstance(argument, pyopencl.LocalMemory):
        return CapturedLocal(int(argument.size))
    buffer = _buffer_of(argument)
    if buffer is not None:
        return CapturedBuffer(_content(queue, argument, buffer))
    if isinstance(argument, np.generic | np.ndarray):
        return CapturedScalar(argument.tobytes())
    raise InvalidInputError(
        f"the kernel '{kernel}': argument {index} is of type {type(argument).__name__}, which can't be captured"
    )


def _buffer_of(argument: Any) -> pyopencl.Buffer | None:  # noqa: ANN401
    held = argument.base_data if isinstance(argument, pyopencl.array.Array) else argument
    return held if isinstance(held, pyopencl.Buffer) else None


def _memory_of(buffer: pyopencl.Buffer) -> int:
    """What tells a buffer's memory apart: parts of one buffer may overlap."""
    # PyOpenCL's annotation: any object.
    whole: Any = buffer.get_info(pyopencl.mem_info.ASSOCIATED_MEMOBJECT)
    return int(buffer.int_ptr if whole is None else whole.int_ptr)


def _content(queue: pyopencl.CommandQueue, argument: Any, buffer: pyopencl.Buffer) -> np.ndarray[Any, Any]:  # noqa: ANN401
    offset = int(argument.offset) if isinstance(argument, pyopencl.array.Array) else 0
    content = np.empty(int(buffer.size) - offset, np.uint8)
    pyopencl.enqueue_copy(queue, content, buffer, src_offset=offset)
    return content
