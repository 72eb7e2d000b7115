"""What is known of a version on a device once it is built, so that its launches need not ask the driver."""

from __future__ import annotations

from dataclasses import dataclass

import pyopencl

from coarsen.runtime.launches import LaunchedVariant
from coarsen.runtime.original_launch import required_local_size
from coarsen.runtime.sizes import LaunchLimits, Sizes, fits, has_work, is_plain
from coarsen.runtime.tuned_division import ExactDivision
from coarsen.runtime.variant_choice import limits_of

_INFO = pyopencl.kernel_work_group_info


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """One version on one device.

    Args:
        limits: of its kernel as it is written.
        most_items: of a work-group of one dimension.
        required: the local size that this demands; None for any.
        own_local_memory: its bytes, before any is passed.
        local_memory: the device's bytes for a work-group.
        division: divides the launches of a coarsened version; None where each has to be looked at.
        is_coarsened: whether it is.
    """

    limits: LaunchLimits
    most_items: int
    required: Sizes | None
    own_local_memory: int
    local_memory: int
    division: ExactDivision | None
    is_coarsened: bool

    def holds(self, local_bytes: int) -> bool:
        """Return True if the device has the local memory of a work-group that is passed so many bytes."""
        return self.own_local_memory + local_bytes <= self.local_memory

    def reason_against(self, whole: Sizes, local: Sizes | None, local_bytes: int) -> str:
        """Say why `allow` is False; as this is logged once, without the numbers of one launch alone."""
        if not self.holds(local_bytes):
            return f"its work-groups need more local memory than the device's {self.local_memory} bytes"
        if not has_work(whole, local):
            return "its global and local sizes don't go together"
        if local is not None and not fits(local, self.limits):
            most = self.limits.max_work_group_size
            return f"its work-groups are too large for the device, which takes {most} work-items of it"
        if local is not None and self.required is not None and self.required[: len(local)] != local:
            return f"its kernel requires the local size {self.required}"
        return "its local size doesn't divide its global size"

    def allow(self, whole: Sizes, local: Sizes | None, local_bytes: int, any_groups: bool = False) -> bool:
        """Return True if a launch of the kernel as it is written works."""
        if not self.holds(local_bytes):
            return False
        if self.required is None and local is not None and len(local) == len(whole) == 1:
            # The most common launch, without any call.
            size = local[0]
            if 0 < size <= self.most_items and whole[0] > 0 and whole[0] % size == 0:
                return True
        if not (is_plain(whole, local) or (any_groups and has_work(whole, local))):
            return False
        if local is None:
            return True
        return fits(local, self.limits) and (self.required is None or self.required[: len(local)] == local)

    def decided(
        self, whole: Sizes, local: Sizes | None, local_bytes: int
    ) -> tuple[LaunchedVariant | None, Sizes, Sizes | None] | None:
        """Return the variant (None: as it is written) and the sizes of a launch that is simple; None for others.

        Args:
            whole: the global size that the version has for the launch, before anything is merged.
            local: the local size; None: left to the driver.
            local_bytes: of local memory that the arguments give a work-group.
        """
        if not self.is_coarsened:
            return (None, whole, local) if self.allow(whole, local, local_bytes) else None
        divided = None if self.division is None else self.division.divided(whole, local)
        return None if divided is None or self.division is None else (self.division.launched, *divided)


def device_facts(
    device: pyopencl.Device, kernel: pyopencl.Kernel, is_coarsened: bool, division: ExactDivision | None
) -> DeviceFacts:
    """Return what is known of a version.

    Args:
        device: that it is built for.
        kernel: a kernel object of it as it is written.
        is_coarsened: whether that isn't what is launched.
        division: as `DeviceFacts` has it.
    """
    limits = limits_of(device, kernel)
    return DeviceFacts(
        limits,
        min(limits.max_work_group_size, limits.max_work_item_sizes[0]),
        required_local_size(kernel, device),
        int(kernel.get_work_group_info(_INFO.LOCAL_MEM_SIZE, device)),
        int(device.local_mem_size),
        division,
        is_coarsened,
    )
