"""A divergent region for all replicas as a loop: one turn for each.

before: head ─▶ region ─▶ join        after:  parted ─▶ turn ─▶ region ─▶ turn.end ─▶ turns.done ─▶ join
                                                          ▲                  │
                                                          └──────────────────┘
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.ir.kernel import Instruction
from coarsen.transform.alone import Alone, Entry
from coarsen.transform.join_results import JoinResults
from coarsen.transform.sequence import WriteReplica
from coarsen.transform.turn_values import TurnValues
from coarsen.transform.written import Layered, Names, WrittenBlock, phi_line


@dataclass
class Turns:
    """The loop over the replicas.

    Attributes:
        divergence: of the kernel.
        region: its blocks, its head and its join.
        entry: where each replica comes in.
        values: what changes from turn to turn.
        shared: what every replica calls the values that all of them share.
        names: what a turn calls the region's blocks and the values in them.
        dispatch: the block (without `%`) from which the loop is entered.
        write: writes an instruction for one replica.
        meeting: what stands at the end of each turn for the whole work-group to meet (`meetings.py`).
    """

    divergence: Divergence
    region: Region
    entry: Entry
    values: TurnValues
    shared: Names
    names: Names
    dispatch: str
    write: WriteReplica
    meeting: tuple[str, ...] = ()
    last: str = field(init=False)
    _turn: str = field(init=False)
    _end: str = field(init=False)
    _out: JoinResults = field(init=False)

    def __post_init__(self) -> None:
        self._out = JoinResults(self.divergence, self.values.supply)
        fresh = self.values.supply.fresh
        self._turn, self._end = fresh(f"{self.region.head}.turn"), fresh(f"{self.region.head}.turn.end")
        self.last = fresh(f"{self.region.head}.turns.done")

    def variables(self) -> tuple[str, ...]:
        """The private arrays of values and results."""
        return tuple(self.values.variables)

    def coming_in(self) -> tuple[str, ...]:
        """What the dispatching block holds."""
        return (*self.values.before, f"br label %{self._turn}")

    def blocks(self) -> Iterator[WrittenBlock]:
        """The loop, and the block behind it."""
        following = "%" + self.values.supply.fresh("replica.next")
        yield self._start(following)
        yield from self._alone.blocks(self._write)
        yield self._end_of_turn(following)
        yield self._results()

    def out(self, phi: Instruction, k: int) -> str:
        """What one of the join's phis is for replica k behind the loop (with `%`)."""
        return self._out.name(phi, k)

    @cached_property
    def _alone(self) -> Alone:
        arriving = Layered(self.values.in_turn, self.shared)
        names = Layered(self.names, arriving)
        kernel = self.divergence.kernel
        return Alone(kernel, self.region, self.entry, arriving, names, self._turn, self._end)

    def _write(self, instruction: Instruction, names: Mapping[str, str]) -> Iterator[str]:
        return self.write(instruction, 0, names)

    def _start(self, following: str) -> WrittenBlock:
        turn = self.values.turn
        counter = f"{turn} = phi i32 [ 0, %{self.dispatch} ], [ {following}, %{self._end} ]"
        return WrittenBlock(self._turn, (counter, *self.values.at_turn, self._alone.coming_in()))

    def _end_of_turn(self, following: str) -> WrittenBlock:
        phis = self.divergence.kernel.block[self.region.join].phis
        values = {phi.name: self._value_of(phi) for phi in phis}
        lines = [phi_line(values[phi.name], phi, self._alone.leaving(phi)) for phi in phis]
        for phi in filter(self.divergence.is_divergent, phis):
            lines.extend(self.values.keep_result(phi, values[phi.name]))
        lines.extend(self.meeting)
        again = "%" + self.values.supply.fresh("replica.again")
        lines.append(f"{following} = add nuw nsw i32 {self.values.turn}, 1")
        lines.append(f"{again} = icmp ult i32 {following}, {len(self.values.names)}")
        lines.append(f"br i1 {again}, label %{self._turn}, label %{self.last}")
        return WrittenBlock(self._end, tuple(lines))

    def _value_of(self, phi: Instruction) -> str:
        """A turn's value; what does not differ between replicas is the same after any turn."""
        if self.divergence.is_divergent(phi):
            return "%" + self.values.supply.fresh(f"{phi.name}.alone")
        return self.out(phi, 0)

    def _results(self) -> WrittenBlock:
        lines: list[str] = []
        for phi in filter(self.divergence.is_divergent, self.divergence.kernel.block[self.region.join].phis):
            for k in range(len(self.values.names)):
                lines.extend(self.values.take_result(phi, k, self.out(phi, k)))
        return WrittenBlock(self.last, (*lines, f"br label %{self.region.join}"))
