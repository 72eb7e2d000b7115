"""The few figures of a device that decide what an access costs a sub-group."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.cost.banks.degree import Banks

SECTOR_BYTES, LINE_BYTES = 32, 64


@dataclass(frozen=True, slots=True)
class MemoryDevice:
    """A device's lanes, and how they reach memory.

    Attributes:
        lanes: that execute an access at once: a warp, a wavefront, a CPU's vector.
        piece_bytes: the least that an access moves.
        piece: what that is called: a sector of a GPU, a cache line of a CPU.
        banks: of local memory; None where it has none.
        assumed: what is taken for granted of the device, in words; empty where it is known.
    """

    lanes: int
    piece_bytes: int
    piece: str
    banks: Banks | None
    assumed: str = ""


ANY_DEVICE = MemoryDevice(
    32, SECTOR_BYTES, "sector", Banks(32, 4), "no device is given: the figures are those of NVIDIA's GPUs"
)
ANY_CPU = MemoryDevice(
    16, LINE_BYTES, "cache line", None, "no device is given: the figures are those of a CPU with AVX-512"
)
