"""Devices as the predictors know them: by the names that OpenCL gives them, and what runs in lock-step.

    "Tesla K20c" ─▶ kepler ─▶ GPU, 32 lanes

Lanes are those of a warp or wavefront (NVIDIA, CUDA C Programming Guide; AMD, "Accelerated Parallel Processing
OpenCL Programming Guide", 2013), or of a CPU's vectors of 32-bit words. pocl and intel are an AMD EPYC (family
26) with AVX-512 (Intel 64 manual, volume 1, chapter 15).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coarsen.cost.banks import LINE_BYTES, SECTOR_BYTES, Banks, MemoryDevice


@dataclass(frozen=True, slots=True)
class DeviceDescriptor:
    """A device that a predictor knows, or one that is like those it knows.

    Args:
        name: what measurements and models call it, such as `tahiti`; `full_name` is the vendor's name.
        name_pattern: matches the names that OpenCL drivers give the chip and its close relatives, None where the
            platform alone tells; `platform_pattern` matches the platform's name, None where any will do.
        is_gpu: whether it is a GPU.
        simd_width: lanes of 32 bits in lock-step: warp, wavefront, or the CPU's vector.
        vectorises_work_items: whether neighbouring work-items always share a vector, by hardware or compiler, and
            not just where a compiler's loop vectoriser finds that it may.
    """

    name: str
    full_name: str
    name_pattern: str | None
    platform_pattern: str | None
    is_gpu: bool
    simd_width: int
    vectorises_work_items: bool

    def means(self, device: str, platform: str = "") -> bool:
        """Return True if OpenCL's names mean this device.

        Args:
            device: the name that the driver gives the device.
            platform: the name of its platform.
        """
        if self.name_pattern is None and self.platform_pattern is None:
            return False
        by_name = self.name_pattern is None or re.search(self.name_pattern, device, re.IGNORECASE)
        by_platform = self.platform_pattern is None or re.search(self.platform_pattern, platform, re.IGNORECASE)
        return bool(by_name and by_platform)


_CPU = "on a CPU with AVX-512"
_INTEL = r"^Intel\(R\) (?:OpenCL|CPU Runtime for OpenCL.*)$"
_ALL = tuple(
    DeviceDescriptor(*values)
    for values in (
        ("fermi", "NVIDIA GTX 480", r"\b(?:GTX 4[678]0|(?:Tesla )?[CM]20[57][05])\b", None, True, 32, True),
        ("kepler", "NVIDIA Tesla K20c", r"\b(?:Tesla K(?:20|40)\w*|GTX (?:780|TITAN))\b", None, True, 32, True),
        ("cypress", "AMD Radeon HD 5900", r"\bcypress\b", None, True, 64, True),
        ("tahiti", "AMD Radeon HD 7970", r"\btahiti\b", None, True, 64, True),
        ("h200", "NVIDIA H200", r"\bH[12]00\b", None, True, 32, True),
        ("pocl", f"PoCL {_CPU}", r"^(?:pthread|cpu|basic)\b", r"^Portable Computing Language$", False, 16, False),
        ("intel", f"Intel's CPU runtime {_CPU}", None, _INTEL, False, 16, True),
    )
)
DEVICE_DESCRIPTORS: Mapping[str, DeviceDescriptor] = {descriptor.name: descriptor for descriptor in _ALL}
"""The devices that the predictors know, by name."""

PUBLISHED = Path(__file__).parent / "data" / "pact14_best_factors.csv"
"""The file with table 5 of Magni, Dubach and O'Boyle (PACT 2014) for `read_curves`: best and predicted factors."""
CITATION = (
    "A. Magni, C. Dubach, M. O'Boyle: Automatic Optimization of Thread-Coarsening for Graphics Processors, "
    "PACT 2014, table 5"
)
# Its GPUs, which are known by their model only.
DEVICES: Mapping[str, str] = {
    name: DEVICE_DESCRIPTORS[name].full_name for name in ("fermi", "kepler", "cypress", "tahiti")
}


def known_descriptor(device: str, platform: str = "") -> DeviceDescriptor | None:
    """Return the descriptor that OpenCL's names of a device and its platform mean, None for other devices."""
    return next((descriptor for descriptor in _ALL if descriptor.means(device, platform)), None)


def unknown_descriptor(
    name: str, *, is_gpu: bool, vendor: str = "", native_vector_width: int = 0
) -> DeviceDescriptor:
    """Return a descriptor of a device that no pattern means, from what OpenCL tells of it.

    What OpenCL does not tell is taken from the nearest device that is known: an AMD GPU is taken for a tahiti,
    another GPU for a kepler, a CPU for the one that was measured under PoCL.

    Args:
        name: of the device.
        is_gpu: whether its type is GPU.
        vendor: of the device.
        native_vector_width: CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT in lanes, 0 where unknown; not used for a GPU,
            where it is not the warp.
    """
    is_amd = bool(re.search(r"\bAMD\b|Advanced Micro Devices", vendor))
    like = DEVICE_DESCRIPTORS[("tahiti" if is_amd else "kepler") if is_gpu else "pocl"]
    width = like.simd_width if is_gpu or native_vector_width < 1 else native_vector_width
    return DeviceDescriptor(name, name, None, None, is_gpu, width, like.vectorises_work_items)


# How the devices that the predictors know reach memory: lanes, sectors or cache lines, banks of local memory.
#
# Where the figures are from:
#
# - fermi, kepler, h200: NVIDIA, CUDA C Programming Guide, compute capabilities 2.x, 3.x and 9.0: 32 banks of 4
#   bytes (on kepler unless it is told to take 8), and sectors of 32 bytes;
# - cypress, tahiti: AMD, "Accelerated Parallel Processing OpenCL Programming Guide" (2013): 32 banks of 4 bytes,
#   and cache lines of 64;
# - pocl, intel: local memory of a CPU is ordinary memory, without banks; cache lines have 64 bytes.

_BANKS = Banks(32, 4)
_AMD = frozenset({"cypress", "tahiti"})


def memory_device(descriptor: DeviceDescriptor) -> MemoryDevice:
    """Return how a device reaches memory; for a GPU that isn't known, as NVIDIA's do, which it then says."""
    if not descriptor.is_gpu:
        return MemoryDevice(descriptor.simd_width, LINE_BYTES, "cache line", None)
    if descriptor.name in _AMD:
        return MemoryDevice(descriptor.simd_width, LINE_BYTES, "cache line", _BANKS)
    assumed = (
        "" if descriptor.name in DEVICE_DESCRIPTORS else "sectors and banks are taken to be those of NVIDIA's GPUs"
    )
    return MemoryDevice(descriptor.simd_width, SECTOR_BYTES, "sector", _BANKS, assumed)
