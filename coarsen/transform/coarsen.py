"""Thread coarsening: F work-items of a work-group become one, or F work-groups do.

    legality ─▶ divergence ─▶ regions ─▶ ids rewritten, body replicated ─▶ parsed, verified, normal form

Refuses when `analysis/legality.py`, `analysis/waits` or `analysis/regions.py` do; nothing is written then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.legality import check_legality
from coarsen.analysis.regions import Region, divergent_regions
from coarsen.analysis.waits.refusal import check_waits
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.copying import copy_around
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.kernel import Kernel
from coarsen.transform.ids import IdRewriter
from coarsen.transform.local_copies import LocalCopies, add_local_copies, local_memory_arguments
from coarsen.transform.names import NameSupply
from coarsen.transform.region_plan import RegionPlan
from coarsen.transform.replicate import Replicator
from coarsen.transform.template import Template
from coarsen.transform.work_group_size import divide_required_size
from coarsen.variant.coarsening import Coarsening, Level


@dataclass(frozen=True)
class Analysed:
    """A legal kernel with what coarsening along one dimension needs to know of it."""

    kernel: Kernel
    divergence: Divergence
    regions: tuple[Region, ...]

    def assumptions(self) -> Iterator[str]:
        """Yield what is taken for granted since OpenCL's specification demands it, with the source position."""
        for block in sorted(self.divergence.assumed_uniform):
            position = self.kernel.block[block].terminator.position
            where = f"{position}: " if position else ""
            yield f"{where}a barrier depends on this condition: taken as the same for the whole work-group"


def analyse(kernel: Kernel, dimension: int, level: Level = Level.ITEM) -> Analysed:
    """Check legality and analyse divergence along a dimension. Raises RefusalError."""
    control_flow = ControlFlow(kernel)
    check_legality(kernel, control_flow)
    return analysed_along(kernel, control_flow, dimension, level)


def analysed_along(kernel: Kernel, control_flow: ControlFlow, dimension: int, level: Level) -> Analysed:
    """Analyse the divergence of a kernel that is legal along any dimension. Raises RefusalError."""
    divergence = Divergence(kernel, dimension, control_flow, merges_groups=level is Level.GROUP)
    check_waits(divergence)
    return Analysed(kernel, divergence, divergent_regions(divergence))


def added_arguments(analysed: Analysed, coarsening: Coarsening) -> tuple[AddedArgument, ...]:
    """Return what the coarsened kernel takes after the arguments of `analysed.kernel`, in this order."""
    own = analysed.divergence.own_local_memory
    return tuple(local_memory_arguments(analysed.kernel, own, coarsening.factor))


def coarsened_module(analysed: Analysed, coarsening: Coarsening, plan: RegionPlan) -> Module:
    """Return the module of the coarsened kernel, whose names are unique, not yet verified.

    Raises:
        InvalidInputError: a work-group size that the kernel demands does not divide.
    """
    kernel = analysed.kernel
    module, values = copy_around(kernel.graph, kernel.name)
    function, supply = module.function(kernel.name), NameSupply(kernel)
    template = Template(kernel, module, values)
    copies = LocalCopies()
    if coarsening.level is Level.GROUP:
        # The work-group size stays as it was, and each replica has local memory of its own.
        own = analysed.divergence.own_local_memory
        copies = add_local_copies(kernel, module, own, coarsening.factor, supply)
    else:
        divide_required_size(module, function, coarsening)
    ids = IdRewriter(kernel, coarsening, supply, module, analysed.divergence.uses)
    own_memory = [copies.of_replica(k, template.value) for k in range(coarsening.factor)]
    Replicator(template, plan, ids, supply, own_memory).replicate()
    make_names_unique(function, module.structures)
    return module
