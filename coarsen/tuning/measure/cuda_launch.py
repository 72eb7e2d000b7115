"""Arguments of a launch through NVIDIA's driver, computed from an OpenCL launch; no driver is needed for it.

global_size ─▶ grid of blocks      local_size ─▶ block
buffer      ─▶ its address         scalar     ─▶ its bytes
local memory ─▶ its offset, in bytes, from the start of the dynamic shared memory (see `coarsen.backend.ptx`)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InternalError
from coarsen.tuning.measure.machine import LaunchError
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    NullArgument,
)
from coarsen.tuning.workload.driver_tools import round_up
from coarsen.tuning.workload.element_types import SamplerArgument
from coarsen.variant.coarsening import DIMENSIONS

# The largest alignment that an OpenCL type asks for, which is also that of the dynamic shared memory.
LOCAL_ALIGNMENT = 128
AddressOf = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class CudaLaunch:
    """One launch: numbers of blocks, work-items of a block, bytes of dynamic shared memory, parameters.

    Each parameter is an array whose bytes are the parameter's.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    parameters: tuple[Array, ...]

    def addresses(self) -> Array:
        """Return where each parameter lies in memory, as the driver wants it; valid as long as `self` exists."""
        return np.array([parameter.ctypes.data for parameter in self.parameters], np.uint64)


def cuda_launch(launch: Launch, address_of: AddressOf) -> CudaLaunch:
    """Return an OpenCL launch as NVIDIA's driver takes it.

    Args:
        launch: with the sizes and the arguments of the kernel that is launched.
        address_of: gives a buffer's address on the device.

    Raises:
        LaunchError: it has a global offset, or leaves its local size open, which CUDA does not know.
    """
    if any(launch.global_offset):
        raise LaunchError("a launch with a global offset can't be made without OpenCL")
    if not launch.local_size:
        raise LaunchError("a launch whose local size is left open can't be made without OpenCL")
    grid = _groups(launch.global_size, launch.local_size)
    parameters, shared_bytes = _parameters(launch.arguments, address_of)
    return CudaLaunch(_three(grid), _three(launch.local_size), shared_bytes, parameters)


def _groups(global_size: tuple[int, ...], local_size: LocalSize) -> tuple[int, ...]:
    if any(extent % group for extent, group in zip(global_size, local_size, strict=True)):
        raise InternalError(f"the global size {global_size} is not made of whole work-groups of {local_size}")
    return tuple(extent // group for extent, group in zip(global_size, local_size, strict=True))


def _parameters(arguments: tuple[Argument, ...], address_of: AddressOf) -> tuple[tuple[Array, ...], int]:
    """The parameters, and how many bytes of dynamic shared memory those of local memory take."""
    parameters = []
    shared_bytes = 0
    for argument in arguments:
        if isinstance(argument, BufferArgument):
            parameters.append(np.array(address_of(argument.name), np.uint64))
        elif isinstance(argument, NullArgument):
            parameters.append(np.array(0, np.uint64))
        elif isinstance(argument, LocalArgument):
            parameters.append(np.array(shared_bytes, np.uint64))
            shared_bytes += round_up(argument.byte_count, LOCAL_ALIGNMENT)
        elif isinstance(argument, SamplerArgument):
            raise InternalError("samplers are not measured without OpenCL")
        else:
            parameters.append(np.array(argument.value))
    return tuple(parameters), shared_bytes


def _three(extents: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extents, *[1] * (DIMENSIONS - len(extents)))
    return x, y, z
