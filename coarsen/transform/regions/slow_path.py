"""The slow path of a region whose replicas have parted: each replica goes through the region alone.

It is written once, as a loop over the replicas (`replica_loop.py`), where that is shorter than one copy after the
other (`sequence.py`) and can be said. For a CPU, whose compiler may vectorise a kernel without loops over its
work-items, no loop is brought into a region that has none. Regions with barriers are never copied if it can be
avoided: PoCL's compile time doubles with each barrier that depends on a condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from coarsen.analysis.regions import Region
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import Derivation
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.graph.rewriting import OriginMap, ValueMap, for_replica
from coarsen.transform.names import NameSupply
from coarsen.transform.regions.plan import Entry
from coarsen.transform.regions.plan_regions import has_barrier, has_loop
from coarsen.transform.regions.replica_loop import IN_TURN, InducedValues, ReplicaLoop
from coarsen.transform.regions.sequence import CopiesInSequence, Meet
from coarsen.transform.replicas import Replicas, new_block

SlowPath = CopiesInSequence | ReplicaLoop
"""The way of all replicas, one after the other, through a region."""


def slow_path(region: Region, entry: Entry, around: Replicas, meet: Meet, *, keeps_loops_out: bool) -> SlowPath:
    """Return the slow path of a region that is entered at `entry` when the replicas part.

    Args:
        region: its blocks, its head and its join.
        entry: where each replica comes in.
        around: the kernel around it.
        meet: lets the whole work-group meet after each replica's way.
        keeps_loops_out: whether a region without a loop is copied, so as not to bring a loop into the kernel.
    """
    head = around.kernel.block[region.head]
    origin = head.terminator.origin.with_role(Role.DIVERGED)
    dispatch = new_block(around.supply.spelling(f"{region.head}.parted"), origin)
    turn_values = _turn_values(region, entry, around, keeps_loops_out)
    if turn_values is not None:
        arriving = ValueMap(around.values[0])
        for original, in_turn in turn_values.in_turn.items():
            arriving[original] = in_turn
        own = _own_copies(region, around, arriving, IN_TURN)
        return ReplicaLoop(around, region, entry, turn_values, arriving, own, dispatch, meet)
    values = [_own_copies(region, around, of_replica, _alone(k)) for k, of_replica in enumerate(around.values)]
    return CopiesInSequence(around, region, entry, values, dispatch, meet, _alone)


def _alone(replica: int) -> OriginMap:
    """The origin of what one replica goes through alone."""
    return for_replica(replica, Role.SLOW_PATH)


def _own_copies(region: Region, around: Replicas, arriving: ValueMap, origin: OriginMap) -> ValueMap:
    """Copies of a region's blocks and of the values in them, over what stands for values outside."""
    values = ValueMap(arriving)
    for block in around.kernel.in_order(region.blocks):
        values[block] = new_block(around.supply.spelling(f"{block.name}.alone"), origin(block.origin))
        for instruction in filter(around.has_copies, block.instructions):
            name = around.supply.derived(instruction, Derivation.ALONE)
            values[instruction] = around.copy_of_value(instruction, name, origin)
    return values


def _turn_values(region: Region, entry: Entry, around: Replicas, keeps_loops_out: bool) -> InducedValues | None:
    """Return what changes from turn to turn, if the turns can be said and are shorter than copies; else None."""
    inside = [i for block in around.kernel.in_order(region.blocks) for i in block.instructions]
    if any(map(around.is_answered_in_place, inside)):
        return None  # an id that is asked for in its place, differently for each replica
    barrier = has_barrier(around.divergence, region)
    if keeps_loops_out and not barrier and not has_loop(around.divergence, region):
        return None
    values = InducedValues(around, around.kernel.block[region.head].terminator.origin)
    for operand in _coming_from_outside(inside, around.has_copies):
        values.need(operand)
    values.need_on_arrival(region, entry)
    values.need_at_join(region)
    phis = around.divergence.kernel.block[region.join].phis
    values.need_results(phi for phi in phis if around.divergence.is_divergent(phi))
    if values.can_be_said:
        in_turns = len(inside) + values.instructions
        if barrier or in_turns < len(inside) * len(around.values):
            return values
    for given_up in (values.variables, values.before, values.at_turn):
        given_up.replace_instructions(())
    return None


def _coming_from_outside(
    inside: Sequence[Instruction], is_computed_there: Callable[[Instruction], bool]
) -> Iterator[Operand]:
    """Yield what a region's instructions use and what is not computed in it."""
    defined = set(filter(is_computed_there, inside))
    for instruction in inside:
        yield from (operand for operand in instruction.operands if operand not in defined)


# The test whether all replicas take the same side of a divergent branch.
#
# before                          after (factor 2, `in` being the side that is tested first)
# head:  br %c, in, out           head:         %head.all = and %c, %c.1
#                                               br %head.all, in, head.differ
#                                 head.differ:  %head.any = or %c, %c.1
#                                               br %head.any, parted, out


class AgreementTest:
    """The test at the end of one block.

    Args:
        block: the block that ends with the test.
        conditions: the divergent branch's condition for each replica.
        targets: where the branch leads, if the condition holds and if it doesn't.
        is_true_first: whether the first of them is tested first.
        parted: the block that is entered when the replicas part.
        origin: of the branch.
        supply: hands out fresh names.

    Attributes:
        block: the block that ends with the test.
        differ: the block that follows: to the other target if all agree on that one, else to `parted`.
    """

    def __init__(
        self,
        block: Block,
        conditions: Sequence[Operand],
        targets: Sequence[Block],
        *,
        is_true_first: bool,
        parted: Block,
        origin: Origin,
        supply: NameSupply,
    ) -> None:
        self.block = block
        self._conditions = conditions
        self._is_true_first = is_true_first
        self._first, self._other = targets if is_true_first else reversed(targets)
        self._parted = parted
        self._origin = origin.with_role(Role.VOTE)
        self._supply = supply
        self.differ = new_block(supply.spelling(f"{block.name}.differ"), origin.with_role(Role.DIVERGED))

    def build_first_half(self) -> None:
        """Build what stands in place of the branch: to the first target if all agree on it."""
        build = Builder(self.block, self._origin)
        if self._is_true_first:
            build.branch_if(self._all(build), self._first, self.differ)
        else:
            build.branch_if(self._any(build), self.differ, self._first)

    def build_second_half(self) -> None:
        """Build what the block that follows holds."""
        build = Builder(self.differ, self._origin)
        if self._is_true_first:
            build.branch_if(self._any(build), self._parted, self._other)
        else:
            build.branch_if(self._all(build), self._other, self._parted)

    def block_before(self, target: Block) -> Block:
        """Return the block from which one of the targets is reached when all agree on it."""
        return self.block if target is self._first else self.differ

    def _all(self, build: Builder) -> Operand:
        return self._reduction(build, Opcode.AND, Derivation.ALL)

    def _any(self, build: Builder) -> Operand:
        return self._reduction(build, Opcode.OR, Derivation.ANY)

    def _reduction(self, build: Builder, opcode: Opcode, quantifier: Derivation) -> Operand:
        """`and` or `or` over the conditions of all replicas."""
        name = self._supply.derived(self.block, quantifier)
        *between, last = self._conditions[1:]
        result = self._conditions[0]
        for condition in between:
            partial = self._supply.free(name.derived(Derivation.PARTIAL))
            result = build.binary(opcode, result, condition, partial)
        return build.binary(opcode, result, last, name)
