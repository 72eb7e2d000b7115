"""Devices as a predictor sees them: a few numbers of the hardware, so that one model can serve many devices.

    "Tesla K20c" ─▶ kepler ─▶ (GPU, no VLIW, 32 lanes, 32 registers per lane, …)

Where the figures are from:

- fermi: NVIDIA, "Fermi Compute Architecture" (2009), and CUDA C Programming Guide, compute capability 2.0:
  warps of 32, 32768 registers and 1536 work-items per multiprocessor, at most 63 registers each, 16 KiB of
  level-1 cache beside 48 KiB of shared memory; GTX 480: 768 KiB of level-2 cache.
- kepler: NVIDIA, "Kepler GK110" (2012), compute capability 3.5: 65536 registers and 2048 work-items per
  multiprocessor, at most 255 each, 16 KiB of level-1 cache beside 48 KiB of shared memory; K20c: 1280 KiB of
  level 2.
- cypress: AMD, "Accelerated Parallel Processing OpenCL Programming Guide" (2013), Evergreen: wavefronts of 64,
  five slots per instruction, 16384 registers of four words per compute unit: 256 per lane, of which 24
  wavefronts have 10 each (40 words) and one may have 128 (512 words); 8 KiB of level-1 and 512 KiB of level-2
  cache (HD 5870).
- tahiti: AMD, "Southern Islands Series Instruction Set Architecture" (2012), and the guide above: wavefronts of
  64, 256 registers per lane of a SIMD unit, which ten wavefronts share (24 each, in steps of four), at most
  256; 16 KiB of level-1 and 768 KiB of level-2 cache (HD 7970).
- h200: NVIDIA, "H100 Tensor Core GPU Architecture" (2022), compute capability 9.0: 65536 registers and 2048
  work-items per multiprocessor, at most 255 each, 256 KiB of level-1 cache and shared memory, 50 MiB of level-2
  cache.
- pocl, intel: the virtual machine that was measured, AMD EPYC (family 26): AVX-512 (Intel 64 manual, volume 1,
  chapter 15: 32 registers of 16 words), 48 KiB and 1 MiB of data cache per core. Its number of cores is left
  out: it says nothing of another machine's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DESCRIPTOR_FEATURES: tuple[str, ...] = (
    "is_gpu",
    "vliw_width",
    "simd_width",
    "registers_per_lane",
    "most_registers_per_lane",
    "level_1_cache",
    "level_2_cache",
    "vectorises_work_items",
)


@dataclass(frozen=True, slots=True)
class DeviceDescriptor:
    """A device that a predictor knows, or one that is like those it knows.

    Args:
        name: what measurements and models call it, such as `tahiti`; `full_name` is the vendor's name.
        name_pattern: matches the names that OpenCL drivers give the chip and its close relatives, None where the
            platform alone tells; `platform_pattern` matches the platform's name, None where any will do.
        is_gpu: whether it is a GPU.
        vliw_width: slots of an instruction word that the compiler fills; 1 where instructions are scalar.
        simd_width: lanes of 32 bits in lock-step: warp, wavefront, or the CPU's vector.
        registers_per_lane: 32-bit registers for each lane while the device holds as many work-items as it can.
        most_registers_per_lane: the most that one work-item may have before values are spilled to memory.
        level_1_cache: KiB per compute unit; `level_2_cache`: KiB that one compute unit can use.
        vectorises_work_items: whether neighbouring work-items always share a vector, by hardware or compiler, and
            not just where a compiler's loop vectoriser finds that it may.
    """

    name: str
    full_name: str
    name_pattern: str | None
    platform_pattern: str | None
    is_gpu: bool
    vliw_width: int
    simd_width: int
    registers_per_lane: int
    most_registers_per_lane: int
    level_1_cache: int
    level_2_cache: int
    vectorises_work_items: bool

    def vector(self) -> NDArray[np.float64]:
        """Return the figures as an array of shape (8,), in the order of `DESCRIPTOR_FEATURES`."""
        return np.array([getattr(self, name) for name in DESCRIPTOR_FEATURES], dtype=np.float64)

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


_ALL = (
    DeviceDescriptor(
        name="fermi",
        full_name="NVIDIA GTX 480",
        name_pattern=r"\b(?:GTX 4[678]0|(?:Tesla )?[CM]20[57][05])\b",
        platform_pattern=None,
        is_gpu=True,
        vliw_width=1,
        simd_width=32,
        registers_per_lane=21,
        most_registers_per_lane=63,
        level_1_cache=16,
        level_2_cache=768,
        vectorises_work_items=True,
    ),
    DeviceDescriptor(
        name="kepler",
        full_name="NVIDIA Tesla K20c",
        name_pattern=r"\b(?:Tesla K(?:20|40)\w*|GTX (?:780|TITAN))\b",
        platform_pattern=None,
        is_gpu=True,
        vliw_width=1,
        simd_width=32,
        registers_per_lane=32,
        most_registers_per_lane=255,
        level_1_cache=16,
        level_2_cache=1280,
        vectorises_work_items=True,
    ),
    DeviceDescriptor(
        name="cypress",
        full_name="AMD Radeon HD 5900",
        name_pattern=r"\bcypress\b",
        platform_pattern=None,
        is_gpu=True,
        vliw_width=5,
        simd_width=64,
        registers_per_lane=40,
        most_registers_per_lane=512,
        level_1_cache=8,
        level_2_cache=512,
        vectorises_work_items=True,
    ),
    DeviceDescriptor(
        name="tahiti",
        full_name="AMD Radeon HD 7970",
        name_pattern=r"\btahiti\b",
        platform_pattern=None,
        is_gpu=True,
        vliw_width=1,
        simd_width=64,
        registers_per_lane=24,
        most_registers_per_lane=256,
        level_1_cache=16,
        level_2_cache=768,
        vectorises_work_items=True,
    ),
    DeviceDescriptor(
        name="h200",
        full_name="NVIDIA H200",
        name_pattern=r"\bH[12]00\b",
        platform_pattern=None,
        is_gpu=True,
        vliw_width=1,
        simd_width=32,
        registers_per_lane=32,
        most_registers_per_lane=255,
        level_1_cache=256,
        level_2_cache=51200,
        vectorises_work_items=True,
    ),
    DeviceDescriptor(
        name="pocl",
        full_name="PoCL on a CPU with AVX-512",
        name_pattern=r"^(?:pthread|cpu|basic)\b",
        platform_pattern=r"^Portable Computing Language$",
        is_gpu=False,
        vliw_width=1,
        simd_width=16,
        registers_per_lane=32,
        most_registers_per_lane=32,
        level_1_cache=48,
        level_2_cache=1024,
        vectorises_work_items=False,
    ),
    DeviceDescriptor(
        name="intel",
        full_name="Intel's CPU runtime on a CPU with AVX-512",
        name_pattern=None,
        platform_pattern=r"^Intel\(R\) (?:OpenCL|CPU Runtime for OpenCL.*)$",
        is_gpu=False,
        vliw_width=1,
        simd_width=16,
        registers_per_lane=32,
        most_registers_per_lane=32,
        level_1_cache=48,
        level_2_cache=1024,
        vectorises_work_items=True,
    ),
)
DEVICE_DESCRIPTORS: Mapping[str, DeviceDescriptor] = {descriptor.name: descriptor for descriptor in _ALL}
"""The devices that the predictors know, by name."""


def known_descriptor(device: str, platform: str = "") -> DeviceDescriptor | None:
    """Return the descriptor that OpenCL's names of a device and its platform mean, None for other devices."""
    return next((descriptor for descriptor in _ALL if descriptor.means(device, platform)), None)


def unknown_descriptor(
    name: str, *, is_gpu: bool, vendor: str = "", native_vector_width: int = 0, cache: int = 0
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
        cache: CL_DEVICE_GLOBAL_MEM_CACHE_SIZE in bytes, 0 where unknown; not used for a CPU, where drivers tell
            different levels.
    """
    is_amd = bool(re.search(r"\bAMD\b|Advanced Micro Devices", vendor))
    like = DEVICE_DESCRIPTORS[("tahiti" if is_amd else "kepler") if is_gpu else "pocl"]
    return DeviceDescriptor(
        name=name,
        full_name=name,
        name_pattern=None,
        platform_pattern=None,
        is_gpu=is_gpu,
        vliw_width=like.vliw_width,
        simd_width=like.simd_width if is_gpu or native_vector_width < 1 else native_vector_width,
        registers_per_lane=like.registers_per_lane,
        most_registers_per_lane=like.most_registers_per_lane,
        level_1_cache=like.level_1_cache,
        level_2_cache=like.level_2_cache if cache < 1 or not is_gpu else max(1, cache // 1024),
        vectorises_work_items=like.vectorises_work_items,
    )
