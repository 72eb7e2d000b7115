"""A divergent region for all replicas as a loop: one turn for each.

before: head ─▶ region ─▶ join        after:  parted ─▶ turn ─▶ region ─▶ turn.end ─▶ turns.done ─▶ join
                                                          ▲                  │
                                                          └──────────────────┘
"""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.analysis.regions import Region
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import Derivation, DisplayName, NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.origin import Role
from coarsen.ir.graph.rewriting import ValueMap, for_replica
from coarsen.transform.alone import Alone, Entry
from coarsen.transform.copies import new_block
from coarsen.transform.meetings import Meet
from coarsen.transform.names import own
from coarsen.transform.surroundings import Surroundings
from coarsen.transform.turn_values import NUMBER, TurnValues

IN_TURN = for_replica(None, Role.SLOW_PATH)
"""The origin of what all replicas go through, one after the other."""


class Turns:
    """The loop over the replicas.

    Args:
        around: the kernel around it.
        region: its blocks, its head and its join.
        entry: where each replica comes in.
        turn_values: what changes from turn to turn.
        arriving: what stands for values when a turn begins.
        values: what stands for them, and for the region's blocks, from then on.
        dispatch: the block from which the loop is entered.
        meet: lets the whole work-group meet at the end of each turn.

    Attributes:
        dispatch: the block from which the loop is entered.
        last: the block that goes on to the join.
    """

    def __init__(
        self,
        around: Surroundings,
        region: Region,
        entry: Entry,
        turn_values: TurnValues,
        arriving: ValueMap,
        values: ValueMap,
        dispatch: Block,
        meet: Meet,
    ) -> None:
        self.dispatch = dispatch
        self._around = around
        self._turn_values = turn_values
        self._join = around.template.block[region.join]
        self._meet = meet
        self._start, self._end, self.last = (
            new_block(around.supply.spelling(f"{region.head}.{what}"), turn_values.origin)
            for what in ("turn", "turn.end", "turns.done")
        )
        for variable in turn_values.variables.take_from(0):
            around.variables.append(variable)
        self._results: dict[tuple[Instruction, int], Operand] = {}
        self._alone = Alone(
            around.template,
            region,
            entry,
            replica=0,
            arriving=arriving,
            values=values,
            dispatch=self._start,
            leave=self._end,
            origin=IN_TURN,
        )

    def enter(self, build: Builder) -> None:
        """Build what the dispatching block ends with."""
        for instruction in self._turn_values.before.take_from(0):
            build.insert(instruction)
        build.branch(self._start)

    def blocks(self) -> Iterator[Block]:
        """Write the loop, and the block after it."""
        following = self._around.supply.free(NewName("replica.next", DisplayName("replica")))
        yield self._begin_turn()
        yield from self._alone.blocks(self._around.copies)
        yield self._end_turn(following)
        yield self._take_results()

    def out(self, phi: Instruction, k: int) -> Operand:
        """Return what one of the join's phis is for replica k after the loop, which is written by then."""
        return self._results[phi, k if self._is_divergent(phi) else 0]

    def _begin_turn(self) -> Block:
        build = Builder(self._start, self._turn_values.origin)
        build.insert(self._turn_values.turn)
        for instruction in self._turn_values.at_turn.take_from(0):
            build.insert(instruction)
        self._alone.enter(build)
        return self._start

    def _end_turn(self, following: NewName) -> Block:
        """Write the block that keeps a turn's results; what replicas share is the same after any turn."""
        build, supply = Builder(self._end, self._turn_values.origin), self._around.supply
        of_turn: dict[Instruction, Instruction] = {}
        for phi in self._join.phis:
            name = supply.derived(phi, Derivation.ALONE if self._is_divergent(phi) else Derivation.OUT)
            of_turn[phi] = build.phi(phi.type, list(self._alone.leaving(phi)), name)
        for phi, value in of_turn.items():
            if self._is_divergent(phi):
                self._turn_values.keep_result(build, phi.name, value)
            else:
                self._results[phi, 0] = value
        self._meet(build)
        again, turn = supply.free(own("replica").derived(Derivation.AGAIN)), self._turn_values.turn
        next_turn = build.binary(Opcode.ADD, turn, number(NUMBER, 1), following, ("nuw", "nsw"))
        is_left = build.compare("ult", next_turn, number(NUMBER, len(self._around.values)), again)
        build.branch_if(is_left, self._start, self.last)
        turn.add_incoming(number(NUMBER, 0), self.dispatch)
        turn.add_incoming(next_turn, self._end)
        return self._end

    def _take_results(self) -> Block:
        build = Builder(self.last, self._turn_values.origin)
        for phi in filter(self._is_divergent, self._join.phis):
            for k in range(len(self._around.values)):
                name = self._around.supply.derived(phi, Derivation.OUT)
                self._results[phi, k] = self._turn_values.take_result(build, phi.name, k, name)
        build.branch(self._around.values[0].block(self._join))
        return self.last

    def _is_divergent(self, phi: Instruction) -> bool:
        return self._around.divergence.is_divergent(self._around.template.known[phi])
