"""Thread coarsening: F work-items of a work-group become one, or F work-groups do.

    legality ─▶ divergence ─▶ regions ─▶ ids rewritten, body replicated ─▶ parsed, verified, normal form

Refuses when `analysis/legality.py` or `analysis/regions.py` do; nothing is written then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.legality import check_legality
from coarsen.analysis.regions import Region, divergent_regions
from coarsen.ir.kernel import AddedArgument, Kernel
from coarsen.ir.printer import assemble
from coarsen.transform.added_arguments import with_arguments
from coarsen.transform.group_ids import GroupIdRewriter
from coarsen.transform.ids import IdRewriter
from coarsen.transform.local_copies import local_copies, local_memory_arguments
from coarsen.transform.names import NameSupply
from coarsen.transform.region_plan import RegionPlan
from coarsen.transform.replicate import Replicator
from coarsen.transform.work_group_size import divide_required_size
from coarsen.variant.coarsening import Coarsening, Level


@dataclass(frozen=True)
class Analysed:
    """A legal kernel with what coarsening along one dimension needs to know of it."""

    kernel: Kernel
    divergence: Divergence
    regions: tuple[Region, ...]

    def assumptions(self) -> Iterator[str]:
        """What is taken for granted since the OpenCL specification demands it, with the place in the source."""
        for block in sorted(self.divergence.assumed_uniform):
            position = self.kernel.block[block].terminator.position
            where = f"{position}: " if position else ""
            yield f"{where}a barrier depends on this condition: taken as the same for the whole work-group"


def analyse(kernel: Kernel, dimension: int, level: Level = Level.ITEM) -> Analysed:
    """Check legality and analyse divergence along a dimension. Raises RefusalError."""
    control_flow = ControlFlow(kernel)
    check_legality(kernel, control_flow)
    divergence = Divergence(kernel, dimension, control_flow, merges_groups=level is Level.GROUP)
    return Analysed(kernel, divergence, divergent_regions(divergence))


def added_arguments(analysed: Analysed, coarsening: Coarsening) -> tuple[AddedArgument, ...]:
    """What the coarsened kernel takes behind the arguments of `analysed.kernel`, in this order."""
    own = analysed.divergence.own_local_memory
    return tuple(local_memory_arguments(analysed.kernel, own, coarsening.factor))


def coarsened_assembly(analysed: Analysed, coarsening: Coarsening, plan: RegionPlan) -> str:
    """The LLVM IR text of the coarsened kernel's module, not yet verified.

    Raises:
        InvalidInputError: a work-group size that the kernel demands does not divide.
    """
    if coarsening.level is Level.GROUP:
        return _with_merged_groups(analysed, coarsening, plan)
    kernel = analysed.kernel
    signature, node = divide_required_size(kernel, coarsening)
    supply = NameSupply(kernel)
    return _assembled(kernel, plan, IdRewriter(kernel, coarsening, supply), supply, signature) + node


def _with_merged_groups(analysed: Analysed, coarsening: Coarsening, plan: RegionPlan) -> str:
    """The kernel with its work-group size as it was, and with local memory for each replica."""
    kernel = analysed.kernel
    supply = NameSupply(kernel)
    copies = local_copies(kernel, analysed.divergence.own_local_memory, coarsening.factor, supply)
    ids = GroupIdRewriter(kernel, coarsening, supply, local_copies=copies)
    extended = with_arguments(kernel, copies.arguments)
    return _assembled(extended, plan, ids, supply, extended.signature)


def _assembled(kernel: Kernel, plan: RegionPlan, ids: IdRewriter, supply: NameSupply, signature: str) -> str:
    replicator = Replicator(plan, ids, supply)
    blocks = [(block.name, block.lines) for block in replicator.body()]
    return assemble(kernel, blocks, replicator.declarations(), signature)
