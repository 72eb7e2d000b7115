"""Instructions of a kernel's code for each replica, coarsened with clean-up and without.

The instructions are LLVM's, in normal form. Three counts of the same code:

    code        every instruction once: the size of the code
    together    without the slow paths, which run where replicas part: what runs while they agree
    weighted    the same, times how often each block runs (`features/work.py`): a measure of the time

A count of a coarsened kernel is divided by the factor: it is what a replica has where an uncoarsened work-item has
the whole kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.index_forms import IndexForms
from coarsen.features.work import block_weights
from coarsen.ir.kernel import Block, Kernel
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms

# The transforms' name for blocks that test, if not all replicas go one way, whether all go the other.
_PARTED = re.compile(r"\.differ(?:\.|$)")


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions per replica; of an uncoarsened kernel, the whole kernel's."""

    code: float
    together: float
    weighted: float


def coarsened_counts(kernel: Kernel, coarsening: Coarsening, transforms: Transforms) -> Counts:
    """The counts of a lowered kernel when it is coarsened, per replica. Raises RefusalError."""
    return counts_of(coarsen_kernel(kernel, [coarsening], transforms=transforms), coarsening.factor)


def counts_of(kernel: Kernel, factor: int) -> Counts:
    """The counts of a kernel that does the work of `factor` work-items, divided by it."""
    control_flow = ControlFlow(kernel)
    weights = block_weights(IndexForms(kernel, control_flow))
    together = list(_run_together(kernel, control_flow))
    return Counts(
        code=sum(len(block.instructions) for block in kernel.blocks) / factor,
        together=sum(len(block.instructions) for block in together) / factor,
        weighted=sum(weights[block.name] * len(block.instructions) for block in together) / factor,
    )


def _run_together(kernel: Kernel, control_flow: ControlFlow) -> Iterator[Block]:
    """The blocks that run while all replicas agree: without those between a parting and where it ends."""
    slow: set[str] = set()
    for block in kernel.blocks:
        if _PARTED.search(block.name):
            slow |= control_flow.between(block.name, control_flow.immediate_post_dominator[block.name])
    return (block for block in kernel.blocks if block.name not in slow)
