"""How often each block of a kernel runs, as far as its code says: the weight of its work.

A block runs once for every round of every loop around it. Where a loop's count is not a number in the code it is
taken as 8; no block counts as more than a million runs. Branches are taken as always taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.trip_counts import trip_counts

UNKNOWN_TRIPS = 8
MAXIMUM_WEIGHT = 1_000_000


def block_weights(forms: IndexForms) -> Mapping[str, int]:
    """Return how often each block runs for a work-item, at least 1, by the block's name."""
    counts = trip_counts(forms)
    weights: dict[str, int] = {}
    for block in forms.kernel.blocks:
        weight = 1
        for loop in forms.control_flow.loops_around(block.name):
            weight = min(MAXIMUM_WEIGHT, weight * max(1, counts.get(loop.header, UNKNOWN_TRIPS)))
        weights[block.name] = weight
    return weights
