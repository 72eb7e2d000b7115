"""Accesses to neighbouring addresses that become one vector access (`transform/adjacent_accesses.py`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coarsen.features.access_functions import AccessFunction
from coarsen.features.planned_work.copies import Merging
from coarsen.features.planned_work.tally import Tally
from coarsen.features.work_counts import AccessCount, InstructionClass
from coarsen.variant.coarsening import Configuration


@dataclass(frozen=True)
class WideCount:
    """Accesses after the merging.

    Attributes:
        accesses: that are left.
        times: how often what is left of each access is done, before: in their order.
        saved: instructions that computed addresses which are needed no more.
    """

    accesses: tuple[AccessCount, ...]
    times: Sequence[float]
    saved: Mapping[InstructionClass, float]


def widened(
    tally: Tally,
    merging: Merging,
    planned: Sequence[tuple[AccessFunction, AccessCount]],
    chosen: Configuration,
    *,
    is_wide: bool,
) -> WideCount:
    """Merge the accesses of a configuration."""
    accesses = tuple(count for _, count in planned)
    return WideCount(accesses, [count.count for count in accesses], {})
