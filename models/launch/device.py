"""A device as the launch model sees it: what launches it allows, and its profile where there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coarsen.cost.work_counts import Sizes, padded
from coarsen.models.analytic.machine import DeviceProfile, shipped_profile
from coarsen.models.device_descriptors import DeviceDescriptor
from coarsen.variant.transforms import DeviceKind

# Where nobody says: what nearly all devices allow.
USUAL_LARGEST_GROUP = 1024
_CPU_UNITS, _GPU_UNITS = 4, 64


@dataclass(frozen=True, slots=True)
class LaunchDevice:
    """A device.

    Args:
        name: by which models call it.
        is_gpu: whether it is a GPU.
        vectorises: whether neighbouring work-items always share a vector.
        simd_width: lanes of 32 bits that execute together.
        compute_units: as OpenCL counts them.
        largest_group: work-items that a work-group may have.
        largest_extents: those that it may have along each dimension.
        profile: what was measured of it; None where it was not calibrated.
    """

    name: str
    is_gpu: bool
    vectorises: bool
    simd_width: int
    compute_units: int
    largest_group: int = USUAL_LARGEST_GROUP
    largest_extents: Sizes = (USUAL_LARGEST_GROUP, USUAL_LARGEST_GROUP, 64)
    profile: DeviceProfile | None = None

    def limited(self, largest_group: int, largest_extents: tuple[int, ...]) -> LaunchDevice:
        """Return the same with the limits of the device that is at hand."""
        return replace(self, largest_group=largest_group, largest_extents=padded(largest_extents))

    @property
    def kind(self) -> DeviceKind:
        """The kind of device that kernels are coarsened for."""
        return DeviceKind.GPU if self.is_gpu else DeviceKind.CPU


def launch_device(descriptor: DeviceDescriptor, compute_units: int | None = None) -> LaunchDevice:
    """Return a device by its descriptor.

    Args:
        descriptor: its figures; a profile that coarsen comes with is found by its name.
        compute_units: of the device that is at hand; those of the profile if None.

    Raises:
        InvalidInputError: the profile is damaged.
    """
    profile = shipped_profile(descriptor.name)
    usual = _GPU_UNITS if descriptor.is_gpu else _CPU_UNITS
    return LaunchDevice(
        name=descriptor.name,
        is_gpu=descriptor.is_gpu,
        vectorises=descriptor.vectorises_work_items,
        simd_width=descriptor.simd_width,
        compute_units=compute_units or (profile.compute_units if profile else usual),
        profile=profile,
    )
