"""Thread coarsening: F work-items of a work-group become one, or F work-groups do.

    legality ─▶ divergence ─▶ regions ─▶ ids rewritten, body replicated ─▶ parsed, verified, normal form

Refuses when `analysis/legality.py`, `analysis/waits` or `analysis/regions.py` do, and when too much would be
copied; nothing is written then. A work-group size that the kernel demands is divided, what was computed twice is
shared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.legality import check_legality
from coarsen.analysis.regions import Region, divergent_regions
from coarsen.analysis.waits.refusal import check_waits
from coarsen.base.limits import MOST_COPIED_INSTRUCTIONS
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Named
from coarsen.ir.graph.rewriting import copy_around
from coarsen.ir.kernel import Kernel
from coarsen.ir.metadata import node_items
from coarsen.transform.added_arguments import add_local_copies
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply
from coarsen.transform.regions.plan import RegionPlan
from coarsen.variant.coarsening import Coarsening, Configuration, Level


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


def coarsened_module(analysed: Analysed, coarsening: Coarsening, plan: RegionPlan) -> Module:
    """Return the module of the coarsened kernel, whose names are unique, not yet verified.

    Raises:
        InvalidInputError: a work-group size that the kernel demands does not divide.
    """
    # Imported late: a prediction analyses, and writes nothing.
    from coarsen.transform.replicas import Replicas
    from coarsen.transform.replicate import Replicator

    kernel = analysed.kernel
    module, shared = copy_around(kernel.graph, kernel.name)
    function, supply = module.function(kernel.name), NameSupply(kernel)
    own_memory: Sequence[Mapping[Named, Named]] = [{}] * coarsening.factor
    if coarsening.level is Level.GROUP:
        # The work-group size stays as it was, and each replica has local memory of its own.
        own = analysed.divergence.own_local_memory
        own_memory = add_local_copies(kernel, module, own, coarsening.factor, supply)
    else:
        divide_required_size(module, function, coarsening)
    ids = IdRewriter(kernel, coarsening, supply, module)
    replicas = Replicas(plan.divergence, module, shared, plan.copied, ids, supply, own_memory)
    Replicator(plan, replicas, ids).replicate()
    make_names_unique(function, module.structures)
    return module


# The work-group size that a kernel demands:
#
#     before: attributes((reqd_work_group_size(64, 1, 1)))     after (factor 4): reqd_work_group_size(16, 1, 1)
#
# A `work_group_size_hint` is dropped: it is a hint for the uncoarsened kernel.

REQUIRED = "reqd_work_group_size"
"""The kind of metadata that has the size which a kernel demands."""
_HINT = "work_group_size_hint"


def divide_required_size(module: Module, function: Function, coarsening: Coarsening) -> None:
    """Let a kernel demand the size of a coarsened work-group, and hint at none.

    Args:
        module: in which the kernel is.
        function: the kernel; owned by the caller.
        coarsening: of work-items.

    Raises:
        InvalidInputError: the demanded size does not divide by the factor, or the stride not into what remains.
    """
    function.detach(_HINT)
    demanded = function.attachment(REQUIRED)
    if demanded is not None:
        sizes = [int(operand.split()[-1]) for operand in node_items(module.metadata, demanded)]
        divided = _divided(sizes, coarsening)
        function.attach(REQUIRED, module.add_node(f"i32 {size}" for size in divided))


def _divided(sizes: Sequence[int], coarsening: Coarsening) -> list[int]:
    size = sizes[coarsening.dimension]
    if size % coarsening.factor:
        raise InvalidInputError(
            f"the kernel demands a local size of {size} in dimension {coarsening.dimension}, "
            f"which factor {coarsening.factor} does not divide; "
            f"{_way_out(sizes, coarsening)}"
        )
    coarsened = size // coarsening.factor
    if coarsened % coarsening.stride:
        raise InvalidInputError(f"stride {coarsening.stride} does not divide the coarsened local size {coarsened}")
    return [coarsened if along == coarsening.dimension else size for along, size in enumerate(sizes)]


def _way_out(sizes: Sequence[int], coarsening: Coarsening) -> str:
    """Say what can be done instead: another dimension, or merging work-groups, which keeps the local size."""
    fitting = [dimension for dimension, size in enumerate(sizes) if size % coarsening.factor == 0]
    dimensions = [f"it divides the {sizes[dimension]} of --dim {dimension}" for dimension in fitting]
    return "; ".join([*dimensions, "--level group merges whole work-groups, of any size"])


# How long a coarsened kernel becomes, found before anything is copied.


def check_copied_length(kernel: Kernel, chosen: Configuration) -> None:
    """Raise RefusalError, `too-many-copies`, for a kernel that would be too long when it is coarsened.

    Args:
        kernel: uncoarsened, in normal form.
        chosen: how it is coarsened.
    """
    most = kernel.length * math.prod(coarsening.factor for coarsening in chosen)
    if most <= MOST_COPIED_INSTRUCTIONS:
        return  # even if nothing is the same for all: the usual case, which costs no analysis
    length = copied_length(kernel, chosen)
    if length > MOST_COPIED_INSTRUCTIONS:
        reason = f"the coarsened kernel would have {length:,} instructions, more than {MOST_COPIED_INSTRUCTIONS:,}"
        raise RefusalError("too-many-copies", reason)


def copied_length(kernel: Kernel, chosen: Configuration) -> int:
    """Return the instructions of a coarsened kernel: each as often as replicas differ in it, along all dimensions.

    Tests for agreement and the slow paths after them are not counted.
    """
    copies = {id(instruction): 1 for instruction in kernel.instructions()}
    for coarsening in chosen:
        analysed = analyse(kernel, coarsening.dimension, coarsening.level)
        for instruction in _copied(analysed):
            copies[id(instruction)] *= coarsening.factor
    return sum(copies.values())


def _copied(analysed: Analysed) -> Iterator[Instruction]:
    """The instructions that each replica has for itself."""
    in_regions = frozenset[str]().union(*(region.blocks for region in analysed.regions))
    for block in analysed.kernel.blocks:
        for instruction in block.instructions:
            if block.name in in_regions or analysed.divergence.is_divergent(instruction):
                yield instruction
