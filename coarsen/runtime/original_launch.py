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
