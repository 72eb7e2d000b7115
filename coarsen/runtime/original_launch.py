"""A launch as the program asks for it."""

from __future__ import annotations

from typing import NamedTuple

import pyopencl

from coarsen.runtime.sizes import Sizes


class OriginalLaunch(NamedTuple):
    """A launch of the original kernel: sizes in work-items (local None: left to the implementation), and the
    bytes of local memory that its arguments give a work-group.
    """

    device: pyopencl.Device
    global_size: Sizes
    local_size: Sizes | None
    local_bytes: int = 0


def required_local_size(kernel: pyopencl.Kernel, device: pyopencl.Device, dimensions: int = 3) -> Sizes | None:
    """Return a kernel's `reqd_work_group_size`, cut to a launch's dimensions; None where it has none."""
    required = kernel.get_work_group_info(pyopencl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, device)
    return tuple(int(size) for size in required[:dimensions]) if any(required) else None
