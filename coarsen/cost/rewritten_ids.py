"""What the rewriting of work-item ids adds to a kernel, as instructions that can be counted.

The transform (`transform/ids.py`) answers an id or size query at the kernel's start; here it builds what it does
for no kernel, so that counts follow what it really builds:

    before                    counted, at the start of the entry block (factor 2)
    %x = get_global_id(0)     %id, %offset, two to scale it, one more with the offset, one for the other replica

A query whose dimension is only known at run time keeps its place and becomes three instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument
from coarsen.ir.graph.origin import UNKNOWN
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import Query, queried_dimension, query_of
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply
from coarsen.variant.coarsening import Coarsening

_IDS = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID})


@dataclass(frozen=True)
class RewrittenIds:
    """A kernel's id and size queries along one dimension, rewritten for one factor above 1.

    `prologue` is what stands at the start of the entry block; `standing_for` gives, for each query that is
    gone, the value of the last replica, the one with the longest chain behind it; `standing_for_first` that of the
    first replica, which the branches of shared blocks depend on.
    """

    coarsening: Coarsening
    prologue: tuple[Instruction, ...]
    standing_for: Mapping[str, str]
    standing_for_first: Mapping[str, str]
    _rewriter: IdRewriter

    def replacement(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Return what stands in an instruction's place, for one replica: itself if it is no query, or nothing."""
        if instruction.name in self.standing_for:
            return ()
        if not self._rewriter.handles(instruction):
            return (instruction,)
        return _selection(self._rewriter, instruction)

    @cached_property
    def divergent_prologue(self) -> frozenset[str]:
        """The values of the prologue that differ between work-items along the coarsened dimension."""
        divergent: set[str] = set()
        for instruction in self.prologue:
            sources = {operand.text for operand in instruction.operands if operand.is_local}
            is_own = query_of(instruction) in _IDS and queried_dimension(instruction) == self.coarsening.dimension
            if is_own or not divergent.isdisjoint(sources):
                divergent.add(instruction.name)
        return frozenset(divergent)


def _selection(rewriter: IdRewriter, query: Instruction) -> tuple[Instruction, ...]:
    """Return what answers a query, whose dimension is known only at run time, for one replica.

    What it needs at the kernel's start is added to the rewriter's prologue.
    """
    dimension = query.arguments[0]
    build = Builder(Block(""), UNKNOWN)
    chosen = Instruction(Opcode.SELECT, query.type, name=query.name)
    rewriter.select(build, query, Argument(dimension.type, dimension.text), chosen, 0)
    return tuple(build.block.instructions)


def rewrite_ids(kernel: Kernel, coarsening: Coarsening) -> RewrittenIds:
    """Rewrite a kernel's queries for a coarsening with a factor above 1."""
    rewriter = IdRewriter(kernel, coarsening, NameSupply(kernel), Module(triple=kernel.graph.triple))
    answers = {each.name: rewriter.answered_at_start(each) for each in kernel.instructions()}
    replicas = {name: [value.text for value in values] for name, values in answers.items() if values}
    standing_for = {name: values[-1] for name, values in replicas.items()}
    for instruction in kernel.instructions():
        if rewriter.handles(instruction) and instruction.name not in standing_for:
            _selection(rewriter, instruction)  # for what it adds to the prologue
    prologue = tuple(rewriter.start.block.instructions)
    first = {name: values[0] for name, values in replicas.items()}
    return RewrittenIds(coarsening, prologue, standing_for, first, rewriter)
