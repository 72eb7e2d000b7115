"""A divergent region for all replicas, one copy after the other.

After each copy stands a block that takes the copy's results out of it and enters the next one:

    dispatch ─▶ region ─▶ after ─▶ region.1 ─▶ after.1 ─▶ join

Where the region has barriers, the work-group meets in each of these blocks (`meetings.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from coarsen.analysis.regions import Region
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.rewriting import OriginMap, ValueMap
from coarsen.transform.alone import Alone, Entry
from coarsen.transform.copies import new_block
from coarsen.transform.meetings import Meet
from coarsen.transform.surroundings import Surroundings


class CopiesInSequence:
    """The copies of a region.

    Args:
        around: the kernel around it.
        region: its blocks, its head and its join.
        entry: where each replica comes in.
        values: what stands for values, and for the region's blocks, in each replica's copy.
        dispatch: the block that enters the first copy.
        meet: lets the whole work-group meet after each copy.
        origin: of the copies, for each replica.

    Attributes:
        dispatch: the block that enters the first copy.
    """

    def __init__(
        self,
        around: Surroundings,
        region: Region,
        entry: Entry,
        values: Sequence[ValueMap],
        dispatch: Block,
        meet: Meet,
        origin: Callable[[int], OriginMap],
    ) -> None:
        self.dispatch = dispatch
        self._around = around
        self._join = around.template.block[region.join]
        self._meet = meet
        self._results: dict[tuple[Instruction, int], Instruction] = {}
        self._after = [
            new_block(around.supply.spelling(f"{region.join}.after"), origin(k)(self._join.origin))
            for k in range(len(values))
        ]
        sources = [dispatch, *self._after]
        self._ways = [
            Alone(
                around.template,
                region,
                entry,
                replica=k,
                arriving=around.values[k],
                values=own,
                dispatch=sources[k],
                leave=self._after[k],
                origin=origin(k),
            )
            for k, own in enumerate(values)
        ]

    @property
    def last(self) -> Block:
        """The block that goes on to the join."""
        return self._after[-1]

    def enter(self, build: Builder) -> None:
        """Build what the dispatching block ends with."""
        self._ways[0].enter(build)

    def blocks(self) -> Iterator[Block]:
        """Write the copies and the blocks after them."""
        for k, way in enumerate(self._ways):
            yield from way.blocks(self._around.copies)
            yield self._block_after(k)

    def out(self, phi: Instruction, k: int) -> Instruction:
        """Return what one of the join's phis is for replica k after the last copy, which is written by then."""
        return self._results[phi, k if self._is_divergent(phi) else 0]

    def _block_after(self, k: int) -> Block:
        after = self._after[k]
        build = Builder(after, after.origin)
        for phi in self._join.phis:
            if k == 0 or self._is_divergent(phi):
                name = self._around.supply.derived(phi, Derivation.OUT)
                self._results[phi, k] = build.phi(phi.type, list(self._ways[k].leaving(phi)), name)
        self._meet(build)
        if k + 1 == len(self._ways):
            build.branch(self._around.values[0].block(self._join))
        else:
            self._ways[k + 1].enter(build)
        return after

    def _is_divergent(self, phi: Instruction) -> bool:
        return self._around.divergence.is_divergent(self._around.template.known[phi])
