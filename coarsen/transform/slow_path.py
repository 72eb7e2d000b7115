"""The slow path of a region whose replicas have parted: each replica goes through the region alone.

It is written once, as a loop over the replicas (`turns.py`), where that is shorter than one copy after the other
(`sequence.py`) and can be said. For a CPU, whose compiler may vectorise a kernel without loops over its
work-items, no loop is brought into a region that has none. Regions with barriers are never copied if it can be
avoided: PoCL's compile time doubles with each barrier that depends on a condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.ir.kernel import Instruction, Value
from coarsen.transform.agreed_branches import has_barrier, has_loop
from coarsen.transform.alone import Entry
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply
from coarsen.transform.sequence import CopiesInSequence, WriteReplica
from coarsen.transform.turn_values import TurnValues
from coarsen.transform.turns import Turns
from coarsen.transform.written import Layered, Names, WrittenBlock


class SlowPath(Protocol):
    """The way of all replicas, one after the other, through a region."""

    @property
    def dispatch(self) -> str:
        """The block (without `%`) that enters it."""
        ...

    @property
    def meeting(self) -> tuple[str, ...]:
        """What makes the whole work-group meet, for the start of the block that enters it."""
        ...

    @property
    def last(self) -> str:
        """The block (without `%`) that goes on to the join."""
        ...

    def variables(self) -> tuple[str, ...]:
        """The private variables it needs, for the start of the kernel."""
        ...

    def coming_in(self) -> tuple[str, ...]:
        """What the dispatching block ends with."""
        ...

    def blocks(self) -> Iterator[WrittenBlock]:
        """All other blocks."""
        ...

    def out(self, phi: Instruction, k: int) -> str:
        """What one of the join's phis is for replica k in the last block (with `%`)."""
        ...


@dataclass(frozen=True)
class Surroundings:
    """What a slow path needs to know of the kernel around it.

    Attributes:
        divergence: of the kernel.
        ids: rewrites its ids.
        at_start: the values that are computed at the kernel's start.
        names: what each replica calls values.
        write: writes an instruction for one replica.
        supply: hands out fresh names.
        keeps_loops_out: whether a region without a loop is copied, so as not to bring a loop into the kernel.
    """

    divergence: Divergence
    ids: IdRewriter
    at_start: frozenset[str]
    names: Sequence[Names]
    write: WriteReplica
    supply: NameSupply
    keeps_loops_out: bool = False


def slow_path(region: Region, entry: Entry, around: Surroundings, meeting: tuple[str, ...] = ()) -> SlowPath:
    """The slow path of a region that is entered at `entry` when the replicas part.

    Args:
        region: its blocks, its head and its join.
        entry: where each replica comes in.
        around: the kernel around it.
        meeting: what stands after each replica's way for the whole work-group to meet (`meetings.py`).
    """
    dispatch = around.supply.fresh(f"{region.head}.parted")
    values = _turn_values(region, entry, around)
    if values is not None:
        own, shared = _own_names(region, around), around.names[0]
        return Turns(around.divergence, region, entry, values, shared, own, dispatch, around.write, meeting)
    names = [Layered(_own_names(region, around), of_replica) for of_replica in around.names]
    return CopiesInSequence(
        around.divergence,
        region,
        entry,
        around.names,
        names,
        dispatch,
        around.write,
        around.supply,
        meeting,
    )


def _own_names(region: Region, around: Surroundings) -> Names:
    """Names for one copy of a region's blocks and of the values in them."""
    names: Names = {}
    for block in around.divergence.kernel.in_order(region.blocks):
        names[block.name] = "%" + around.supply.fresh(f"{block.name}.alone")
        for instruction in block.instructions:
            if instruction.name and instruction.name not in around.at_start:
                names[instruction.name] = "%" + around.supply.fresh(f"{instruction.name}.alone")
    return names


def _turn_values(region: Region, entry: Entry, around: Surroundings) -> TurnValues | None:
    """What changes from turn to turn, if the turns can be said and are shorter than copies; else None."""
    kernel = around.divergence.kernel
    inside = [i for block in kernel.in_order(region.blocks) for i in block.instructions]
    if any(i.name not in around.at_start and around.ids.handles(i) for i in inside):
        return None  # an id that is asked for in its place, differently for each replica
    barrier = has_barrier(around.divergence, region)
    if around.keeps_loops_out and not barrier and not has_loop(around.divergence, region):
        return None
    values = TurnValues(kernel, around.names, around.ids, around.supply)
    for operand in _coming_from_outside(inside, around.at_start):
        values.need(operand)
    values.need_on_arrival(region, entry)
    values.need_at_join(region)
    phis = [phi for phi in kernel.block[region.join].phis if around.divergence.is_divergent(phi)]
    values.need_results(phis)
    if not values.can_be_said:
        return None
    in_turns = len(inside) + values.instructions
    return values if barrier or in_turns < len(inside) * len(around.names) else None


def _coming_from_outside(inside: Sequence[Instruction], at_start: frozenset[str]) -> Iterator[Value]:
    """What a region's instructions use and what is not computed in it."""
    defined = {instruction.name for instruction in inside if instruction.name not in at_start}
    for instruction in inside:
        yield from (operand for operand in instruction.operands if operand.text not in defined)
