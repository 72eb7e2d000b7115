"""Instructions of a written kernel's code for each replica.

The instructions are LLVM's, in normal form. Three counts of the same code:

    code        every instruction once: the size of the code
    together    without the slow paths, which run where replicas part: what runs while they agree
    weighted    the same, times how often each block runs (`block_weights.py`): a measure of the time

A count of a coarsened kernel is divided by the factor: it is what a replica has where an uncoarsened work-item has
the whole kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.cost.block_weights import block_weights
from coarsen.ir.kernel import Block, Kernel


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions per replica; of an uncoarsened kernel, the whole kernel's."""

    code: float
    together: float
    weighted: float


def code_counts(kernel: Kernel, factor: int = 1, parted: frozenset[str] = frozenset()) -> Counts:
    """Return the counts of a kernel, for each replica.

    Args:
        kernel: as it is written out.
        factor: how many work-items it does the work of.
        parted: the blocks that run where replicas have parted (`coarsen.pipeline.Coarsened`).
    """
    control_flow = ControlFlow(kernel)
    weights = block_weights(IndexForms(kernel, control_flow))
    together = list(_run_together(kernel, control_flow, parted))
    return Counts(
        code=kernel.length / factor,
        together=sum(len(block.instructions) for block in together) / factor,
        weighted=sum(weights[block.name] * len(block.instructions) for block in together) / factor,
    )


def _run_together(kernel: Kernel, control_flow: ControlFlow, parted: frozenset[str]) -> Iterator[Block]:
    """Return the blocks that run while all replicas agree: without those between a parting and where it ends."""
    slow: set[str] = set()
    for block in kernel.blocks:
        if block.name in parted:
            slow |= control_flow.between(block.name, control_flow.immediate_post_dominator[block.name])
    return (block for block in kernel.blocks if block.name not in slow)
