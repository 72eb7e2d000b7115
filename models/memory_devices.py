"""How the devices that the predictors know reach memory: lanes, sectors or cache lines, banks of local memory.

Where the figures are from:

- fermi, kepler, h200: NVIDIA, CUDA C Programming Guide, compute capabilities 2.x, 3.x and 9.0: 32 banks of 4 bytes
  (on kepler unless it is told to take 8), and sectors of 32 bytes;
- cypress, tahiti: AMD, "Accelerated Parallel Processing OpenCL Programming Guide" (2013): 32 banks of 4 bytes, and
  cache lines of 64;
- pocl, intel: local memory of a CPU is ordinary memory, without banks; cache lines have 64 bytes.
"""

from __future__ import annotations

from coarsen.cost.banks import LINE_BYTES, SECTOR_BYTES, Banks, MemoryDevice
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS, DeviceDescriptor

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
