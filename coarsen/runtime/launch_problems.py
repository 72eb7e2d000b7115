"""Reasons for which launches of a tuned file's versions can't work on a device, told before they are made."""

from __future__ import annotations

import pyopencl

from coarsen.runtime.launch import (
    OriginalLaunch,
    OwnLaunch,
    fits,
    has_work,
    is_plain,
    limits_of,
    required_local_size,
)
from coarsen.variant.variant import Source

_INFO = pyopencl.kernel_work_group_info


def problem_of_launch(
    kernel: pyopencl.Kernel, launch: OriginalLaunch, is_coarsened: bool = False, any_groups: bool = False
) -> str:
    """Say why a launch of a kernel as it is written can't work; empty where it can.

    It is said once for many launches, so it has no numbers of one alone.

    Args:
        kernel: the kernel.
        launch: its sizes and local memory.
        is_coarsened: whether a variant is launched, whose sizes were looked at already.
        any_groups: whether a local size need not divide the global size.
    """
    device, whole, local = launch.device, launch.global_size, launch.local_size
    own, available = int(kernel.get_work_group_info(_INFO.LOCAL_MEM_SIZE, device)), int(device.local_mem_size)
    if own + launch.local_bytes > available:
        return f"its work-groups need more local memory than the device's {available} bytes"
    if is_coarsened:
        return ""
    if not has_work(whole, local):
        return "its global and local sizes don't go together"
    limits = limits_of(device, kernel)
    if local is not None and not fits(local, limits):
        most = limits.max_work_group_size
        return f"its work-groups are too large for the device, which takes {most} work-items of it"
    required = required_local_size(kernel, device, len(whole))
    if local is not None and required not in (None, local):
        return f"its kernel requires the local size {required}"
    return "" if any_groups or is_plain(whole, local) else "its local size doesn't divide its global size"


def problem_of_sequence(own: OwnLaunch, any_groups: bool) -> str:
    """Say why several launches can't work on a device; empty where they can, as `problem_of_launch`."""
    version, sizes, device = own.steps, own.sizes, own.launch.device
    assert version is not None and sizes is not None, "of several launches"
    if max(sizes.scratch, default=0) > device.max_mem_alloc_size:
        return "its scratch buffers are too large for the device"
    # Those that are alike in all turns of a loop are one object.
    different = {(place, id(each)): each for place, each in zip(sizes.order, sizes.launches, strict=True)}
    for (place, _), each in different.items():
        kernel, passed = version.kernels[place], version.passed[place]
        memory = {**dict(own.local_memory), **each.local_memory}
        places = [argument.index for argument in passed if argument.source is Source.CALLER]
        local_bytes = sum(memory.get(index, 0) for index in places)
        launch = OriginalLaunch(device, each.global_size or (), each.local_size, local_bytes)
        step = version.coarsened[place]
        launched = None if step is None else step[0].exactly(launch, step[1])[1]
        # One that takes something for granted may yet run as it is written.
        is_coarsened = launched is not None and not launched.is_conditional
        if problem := problem_of_launch(kernel, launch, is_coarsened, any_groups):
            return problem
    return ""
