"""A divergent region for all replicas, one copy after the other.

Behind each copy stands a block that takes the copy's results out of it and enters the next one:

    dispatch ─▶ region ─▶ after ─▶ region.1 ─▶ after.1 ─▶ join

Where the region has barriers, the work-group meets in each of these blocks (`meetings.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.ir.kernel import Instruction
from coarsen.transform.alone import Alone, Entry, Write
from coarsen.transform.join_results import JoinResults
from coarsen.transform.names import NameSupply
from coarsen.transform.written import WrittenBlock, phi_line

WriteReplica = Callable[[Instruction, int, Mapping[str, str]], Iterator[str]]
"""Writes an instruction that is not a phi for one replica, under its names."""


@dataclass
class CopiesInSequence:
    """The copies of a region.

    Attributes:
        divergence: of the kernel.
        region: its blocks, its head and its join.
        entry: where each replica comes in.
        arriving: what each replica calls values when it arrives.
        names: what each calls values, and the region's blocks, in its copy.
        dispatch: the block (without `%`) that enters the first copy.
        write: writes an instruction for one replica.
        supply: hands out fresh names.
        meeting: what stands after each copy for the whole work-group to meet.
    """

    divergence: Divergence
    region: Region
    entry: Entry
    arriving: Sequence[Mapping[str, str]]
    names: Sequence[Mapping[str, str]]
    dispatch: str
    write: WriteReplica
    supply: NameSupply
    meeting: tuple[str, ...] = ()
    _after: list[str] = field(init=False)
    _ways: dict[int, Alone] = field(init=False, default_factory=dict)
    _out: JoinResults = field(init=False)

    def __post_init__(self) -> None:
        self._out = JoinResults(self.divergence, self.supply)
        self._after = [self.supply.fresh(f"{self.region.join}.after") for _ in self.names]

    @property
    def last(self) -> str:
        """The block (without `%`) that goes on to the join."""
        return self._after[-1]

    def variables(self) -> tuple[str, ...]:
        """No private variables: results go through values."""
        return ()

    def coming_in(self) -> tuple[str, ...]:
        """What the dispatching block ends with."""
        return (self._alone(0).coming_in(),)

    def blocks(self) -> Iterator[WrittenBlock]:
        """The copies and the blocks behind them."""
        for k in range(len(self.names)):
            yield from self._alone(k).blocks(self._writer(k))
            yield self._block_after(k)

    def out(self, phi: Instruction, k: int) -> str:
        """What one of the join's phis is for replica k behind the last copy (with `%`)."""
        return self._out.name(phi, k)

    def _alone(self, k: int) -> Alone:
        if k not in self._ways:
            self._ways[k] = self._way(k)
        return self._ways[k]

    def _way(self, k: int) -> Alone:
        dispatch = self._after[k - 1] if k else self.dispatch
        kernel = self.divergence.kernel
        names = self.names[k]
        return Alone(kernel, self.region, self.entry, self.arriving[k], names, dispatch, self._after[k])

    def _writer(self, k: int) -> Write:
        return lambda instruction, names: self.write(instruction, k, names)

    def _block_after(self, k: int) -> WrittenBlock:
        phis = self.divergence.kernel.block[self.region.join].phis
        lines = [
            phi_line(self.out(phi, k), phi, self._alone(k).leaving(phi))
            for phi in phis
            if k == 0 or self.divergence.is_divergent(phi)
        ]
        lines.extend(self.meeting)
        is_last = k + 1 == len(self.names)
        lines.append(f"br label %{self.region.join}" if is_last else self._alone(k + 1).coming_in())
        return WrittenBlock(self._after[k], tuple(lines))
