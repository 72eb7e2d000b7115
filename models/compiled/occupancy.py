"""The occupancy of a compiled kernel on NVIDIA's GPUs, from the registers and local memory that the compiler took.

The limits by compute capability are those of the table of technical specifications in NVIDIA's CUDA C++
Programming Guide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from coarsen.models.analytic.unit_limits import UnitLimits, resident_groups
from coarsen.models.compiled.facts import CompiledFacts

_KIBIBYTE = 1024
_REGISTERS = 64 * _KIBIBYTE
# Registers are allotted to whole warps, in units of 256: eight for each work-item.
_WARP, _REGISTERS_AT_ONCE = 32, 8

CAPABILITIES: Mapping[tuple[int, int], UnitLimits] = MappingProxyType(
    {
        (5, 0): UnitLimits(2048, 32, _REGISTERS, 64 * _KIBIBYTE),
        (5, 2): UnitLimits(2048, 32, _REGISTERS, 96 * _KIBIBYTE),
        (6, 0): UnitLimits(2048, 32, _REGISTERS, 64 * _KIBIBYTE),
        (6, 1): UnitLimits(2048, 32, _REGISTERS, 96 * _KIBIBYTE),
        (7, 0): UnitLimits(2048, 32, _REGISTERS, 96 * _KIBIBYTE),
        (7, 5): UnitLimits(1024, 16, _REGISTERS, 64 * _KIBIBYTE),
        (8, 0): UnitLimits(2048, 32, _REGISTERS, 164 * _KIBIBYTE),
        (8, 6): UnitLimits(1536, 16, _REGISTERS, 100 * _KIBIBYTE),
        (8, 9): UnitLimits(1536, 24, _REGISTERS, 100 * _KIBIBYTE),
        (9, 0): UnitLimits(2048, 32, _REGISTERS, 228 * _KIBIBYTE),
    }
)


def occupancy_of(facts: CompiledFacts, local_size: Sequence[int], limits: UnitLimits) -> float | None:
    """Return the share of a compute unit's places for work-items that a large launch fills.

    Args:
        facts: of the kernel.
        local_size: that it is launched with, in work-items.
        limits: of the GPU's compute units.

    Returns:
        From 0, for a group that does not fit, to 1; None where the registers aren't known.
    """
    if facts.registers is None:
        return None
    items = math.ceil(math.prod(local_size) / _WARP) * _WARP
    registers = math.ceil(facts.registers / _REGISTERS_AT_ONCE) * _REGISTERS_AT_ONCE
    return resident_groups(items, registers, facts.local_bytes or 0, limits) * items / limits.items
