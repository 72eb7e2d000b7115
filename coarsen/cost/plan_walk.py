"""The plan by which a kernel is counted, and how often its blocks run.

    outside of regions      the terminator and uniform instructions once, divergent ones once for each replica
    fast path, lock-step    the same, for as long as the replicas agree; the region stands a second time besides
    copies                  the whole block once for each replica

Features, the report, register pressure and the costs of launches ask it, so that they all mean the same plan.

A block runs once for every round of every loop around it, as far as the code says: `block_weights`.
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.loop_counts import trip_counts
from coarsen.ir.graph.details import TERMINATORS
from coarsen.ir.graph.instruction import Instruction
from coarsen.transform.coarsen import Analysed
from coarsen.transform.regions.plan import RegionPlan
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms

UNKNOWN_TRIPS = 8
MAXIMUM_WEIGHT = 1_000_000


def region_plan(analysed: Analysed, transforms: Transforms = REPLICATION_ALONE) -> RegionPlan:
    """Return what some transforms do to the divergent regions of a kernel.

    Args:
        analysed: the kernel along a dimension.
        transforms: that may be used; replication alone is what the predictors were trained with.
    """
    return plan_regions(analysed.divergence, analysed.regions, transforms)


def is_terminator(instruction: Instruction) -> bool:
    """Return True if an instruction ends its block."""
    return instruction.opcode in TERMINATORS


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
