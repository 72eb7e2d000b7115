"""A launch of a real program with all that it was given: what is written as a workload."""

from __future__ import annotations

from dataclasses import dataclass, field

from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.ir.kernel import Kernel
from coarsen.tuning.workload.benchmark import Array, LocalSize
from coarsen.tuning.workload.image_format import ImageFormat, SamplerArgument
from coarsen.tuning.workload.launch_list import (
    PassedLocal,
    PassedNull,
    PassedScalar,
    PassedShared,
)

# Of the file that a launch is handed to other processes in.
SUFFIX = ".npz"


@dataclass(frozen=True, slots=True)
class CapturedBuffer:
    """The bytes of a buffer before the launch, as an array of bytes."""

    content: Array


@dataclass(frozen=True, slots=True)
class CapturedUnread:
    """A buffer of so many bytes that the kernel does not read."""

    byte_count: int


@dataclass(frozen=True, slots=True)
class CapturedImage:
    """An image; `content` has the shape that its format gives it, None where the kernel does not read it."""

    format: ImageFormat
    extents: tuple[int, ...]
    content: Array | None


@dataclass(frozen=True, slots=True)
class CapturedSampler:
    """A sampler."""

    sampler: SamplerArgument


CapturedArgument = (
    CapturedBuffer
    | CapturedUnread
    | PassedShared
    | PassedNull
    | PassedScalar
    | PassedLocal
    | CapturedImage
    | CapturedSampler
)


@dataclass(frozen=True, slots=True)
class CapturedLaunch:
    """A launch with all that it was given.

    Args:
        source: the program's OpenCL C.
        options: its build options, one by one.
        kernel: the kernel's name.
        global_size: in work-items.
        local_size: in work-items; empty where it was left to the implementation.
        arguments: one for each of the kernel's parameters.
        global_offset: of the first work-item, an entry per dimension; empty where it is 0.
        macros: what the source may find out about its device.
        lowered: the kernel, where it was lowered already.
    """

    source: str
    options: tuple[str, ...]
    kernel: str
    global_size: tuple[int, ...]
    local_size: LocalSize
    arguments: tuple[CapturedArgument, ...]
    global_offset: tuple[int, ...] = ()
    macros: DeviceMacros = PORTABLE
    lowered: Kernel | None = field(default=None, compare=False, repr=False)

    @property
    def byte_count(self) -> int:
        """The bytes that were copied from the device."""
        held = (each.content for each in self.arguments if isinstance(each, CapturedBuffer | CapturedImage))
        return sum(content.nbytes for content in held if content is not None)
