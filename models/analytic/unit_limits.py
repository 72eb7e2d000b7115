"""The room of a compute unit: how many work-groups it holds at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnitLimits:
    """Limits of what a compute unit holds at once.

    Args:
        items: work-items.
        groups: work-groups.
        registers: 32-bit words.
        local_bytes: local memory; 0 where it sets no limit.
    """

    items: int
    groups: int
    registers: int
    local_bytes: int = 0


def resident_groups(items: int, registers: int, local_bytes: int, limits: UnitLimits) -> int:
    """Return the number of work-groups that a compute unit has room for; 0 where one is too large.

    Args:
        items: work-items of a group.
        registers: 32-bit words of registers of a work-item.
        local_bytes: local memory of a group.
        limits: of the compute unit.
    """
    room = [limits.items // items, limits.groups, limits.registers // (items * max(1, registers))]
    if local_bytes and limits.local_bytes:
        room.append(limits.local_bytes // local_bytes)
    return min(room)
