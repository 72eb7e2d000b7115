"""A divergent region for all replicas as a loop: one turn for each.

before: head ─▶ region ─▶ join        after:  parted ─▶ turn ─▶ region ─▶ turn.end ─▶ turns.done ─▶ join
                                                          ▲                  │
                                                          └──────────────────┘
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coarsen.analysis.regions import Region
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import Derivation, DisplayName, NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Constant, Named, Operand
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.graph.rewriting import ValueMap, copy_instruction, for_replica
from coarsen.ir.types import ArrayType, FloatType, IntegerType, Type, VectorType, scalar
from coarsen.transform.ids import Progression
from coarsen.transform.names import NameSupply, like, own
from coarsen.transform.regions.plan import Entry
from coarsen.transform.regions.sequence import AllReplicas, Meet, ReplicaClone
from coarsen.transform.replicas import Replicas, new_block

IN_TURN = for_replica(None, Role.SLOW_PATH)
"""The origin of what all replicas go through, one after the other."""


class ReplicaLoop(AllReplicas):
    """The loop over the replicas.

    Args:
        around: the kernel around it, as for `AllReplicas`.
        entry: where each replica comes in.
        turn_values: what changes from turn to turn.
        arriving: what stands for values when a turn begins.
        values: what stands for them, and for the region's blocks, from then on.

    Attributes:
        last: the block that goes on to the join.
    """

    def __init__(
        self,
        around: Replicas,
        region: Region,
        entry: Entry,
        turn_values: InducedValues,
        arriving: ValueMap,
        values: ValueMap,
        dispatch: Block,
        meet: Meet,
    ) -> None:
        super().__init__(around, region, dispatch, meet)
        self._turn_values = turn_values
        self._start, self._end, self.last = (
            new_block(around.supply.spelling(f"{region.head}.{what}"), turn_values.origin)
            for what in ("turn", "turn.end", "turns.done")
        )
        for variable in turn_values.variables.take_from(0):
            around.variables.append(variable)
        self._alone = ReplicaClone(around, region, entry, 0, arriving, values, self._start, self._end, IN_TURN)

    def enter(self, build: Builder) -> None:
        """Build what the dispatching block ends with."""
        for instruction in self._turn_values.before.take_from(0):
            build.insert(instruction)
        build.branch(self._start)

    def blocks(self) -> Iterator[Block]:
        """Write the loop, and the block after it."""
        following = self._around.supply.free(NewName("replica.next", DisplayName("replica")))
        yield self._begin_turn()
        yield from self._alone.blocks()
        yield self._end_turn(following)
        yield self._take_results()

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
                self._turn_values.results[phi.name].store(build, value, self._turn_values.turn)
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
                self._results[phi, k] = self._turn_values.results[phi.name].load(build, number(NUMBER, k), name)
        build.branch(self._around.values[0].block(self._join))
        return self.last


# What changes from turn to turn when a loop over the replicas stands for their copies.
#
# A value of which each replica has its own is, in a turn, that of the turn's replica. The cheapest way that is
# there is taken:
#
#   the replicas of an id          computed from the number of the turn:  %x.turn = %x + %turn * stride
#   cheap arithmetic on such       computed again:                        %i.turn = sext %x.turn
#   a replica's own local memory   chosen:                                %tile.turn = select %is.1, @tile.1, @tile
#   anything else                  kept in a private array:               %v.turn = load %v.kept[%turn]

NUMBER = IntegerType(32)
"""The type of the number of a turn."""
_ARITHMETIC = frozenset(
    (
        *(Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.LSHR, Opcode.ASHR),
        *(Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT),
        *(Opcode.ICMP, Opcode.SELECT, Opcode.GETELEMENTPTR, Opcode.ADDRSPACECAST),
    )
)
_DEPTH = 8
_COUNTING = 5  # the instructions of an empty loop


class InducedValues:
    """Collects the values that turns need, and the instructions that provide them.

    Args:
        replicas: what stands for the kernel's values in each replica.
        origin: of the region that the loop is for.

    Attributes:
        replicas: as given.
        origin: of what is made for the loop.
        variables: the private arrays, for the start of the kernel; a block that stands nowhere, as the next two.
        before: what stands before the loop over the replicas.
        at_turn: what stands at the start of each turn.
        turn: the number of the turn: a phi without sources that stands nowhere.
        in_turn: what a turn has for the values that differ between replicas.
        results: the arrays that keep the join's phis of which each replica has its own, by name.
        can_be_said: whether all that was asked for can be provided.
    """

    def __init__(self, replicas: Replicas, origin: Origin) -> None:
        self.replicas = replicas
        self.supply = replicas.supply
        self.origin = origin.with_role(Role.REPLICA_LOOP)
        self.variables, self.before, self.at_turn = Block("variables"), Block("before"), Block("turn")
        name = self.supply.free(own("replica"))
        self.turn = Instruction(Opcode.PHI, NUMBER, name=name.spelling, origin=self.origin.called(name.display))
        self.in_turn: dict[Named, Operand] = {}
        self.can_be_said = True
        self._build = Builder(self.at_turn, self.origin)
        self._build_before = Builder(self.before, self.origin)
        self._is_turn_of: dict[int, Instruction] = {}
        self.results: dict[str, ReplicaArray] = {}

    @property
    def instructions(self) -> int:
        """Return how many instructions the turns need besides the region's own."""
        taking = len(self.results) * (2 + 2 * len(self.replicas.values))
        providing = (self.variables, self.before, self.at_turn)
        return sum(len(block.instructions) for block in providing) + taking + _COUNTING

    # What turns need.

    def need(self, operand: Operand) -> None:
        """Provide what an instruction uses in a turn, as it is before the loop."""
        for named in operand.referenced():
            if not self.replicas.differ(named):
                continue
            if operand is not named:
                self.can_be_said = False  # a constant expression can't name what a turn has chosen
            elif named not in self.in_turn:
                self._provide(named, _DEPTH)

    def need_on_arrival(self, region: Region, entry: Entry) -> None:
        """Provide the values with which a replica comes into a region."""
        block = self.replicas.kernel.block[entry.block]
        for operand in block.phis if entry.is_restart else block.terminator.arguments:
            self.need(operand)
        if not entry.is_restart:
            for phi in self._phis_of(*sorted(region.blocks), region.join):
                for value, source in phi.edges():
                    if source is block:
                        self.need(value)

    def need_at_join(self, region: Region) -> None:
        """Provide the values from before the region that phis of its join take from inside of it."""
        for phi in self._phis_of(region.join):
            for value, source in phi.edges():
                computing = value.block if isinstance(value, Instruction) else None
                if source.name in region.blocks and (computing is None or computing.name not in region.blocks):
                    self.need(value)

    def need_results(self, phis: Iterable[Instruction]) -> None:
        """Keep the join's phis of which each replica has its own in private arrays, until the loop is over."""
        for phi in phis:
            array = self._array(phi, phi.type)
            if array is not None:
                self.results[phi.name] = array

    # Providing values.

    def _provide(self, value: Named, depth: int) -> None:
        spacing = self.replicas.spacing(value)
        if spacing is not None:
            self._count(value, spacing)
        elif self.replicas.is_own_memory(value):
            self._choose(value)
        elif depth and isinstance(value, Instruction) and self._is_cheap(value, depth):
            self._compute_again(value, depth)
        else:
            self._keep(value)

    def _is_cheap(self, instruction: Instruction, depth: int) -> bool:
        """Return True if it is arithmetic on ids and on values that all replicas share."""
        if instruction.opcode not in _ARITHMETIC or self.replicas.is_at_start(instruction):
            return False
        return all(
            self._is_cheap_operand(named, operand is not named, depth)
            for operand in instruction.operands
            for named in operand.referenced()
        )

    def _is_cheap_operand(self, named: Named, in_constant: bool, depth: int) -> bool:
        if in_constant or not self.replicas.differ(named):
            return not self.replicas.differ(named)
        if self.replicas.spacing(named) is not None or self.replicas.is_own_memory(named):
            return True
        return depth > 0 and isinstance(named, Instruction) and self._is_cheap(named, depth - 1)

    def _count(self, value: Named, spacing: Progression) -> None:
        turn: Operand = self.turn
        type_ = spacing.first.type
        if type_ != NUMBER:
            is_wider = isinstance(type_, IntegerType) and type_.width > NUMBER.width
            opcode = Opcode.ZEXT if is_wider else Opcode.TRUNC
            turn = self._build.cast(opcode, turn, type_, self.supply.derived(value, Derivation.OFFSET))
        if spacing.distance != Constant(type_, "1"):
            turn = self._build.binary(
                Opcode.MUL, turn, spacing.distance, self.supply.derived(value, Derivation.OFFSET)
            )
        name = self.supply.derived(value, Derivation.ALONE)
        self.in_turn[value] = self._build.binary(Opcode.ADD, spacing.first, turn, name)

    def _compute_again(self, original: Instruction, depth: int) -> None:
        values = ValueMap()
        for named in (named for operand in original.operands for named in operand.referenced()):
            if named not in self.in_turn and self.replicas.differ(named):
                self._provide(named, depth - 1)
            values[named] = self.in_turn.get(named, self.replicas.of(named)[0])
        copy = copy_instruction(original, values, lambda origin: origin.with_role(Role.REPLICA_LOOP))
        name = self.supply.derived(original, Derivation.ALONE)
        copy.name, copy.origin = name.spelling, copy.origin.called(name.display)
        self.in_turn[original] = self._build.insert(copy)

    def _choose(self, value: Named) -> None:
        """A turn's own local memory, out of that of all replicas."""
        chosen, *others = self.replicas.of(value)
        for k, replica in enumerate(others, start=1):
            name = self.supply.derived(value, Derivation.ALONE)
            chosen = self._build.select(self._is_turn(k), replica, chosen, name)
        self.in_turn[value] = chosen

    def _is_turn(self, k: int) -> Instruction:
        """Add the test for replica k's turn."""
        if k not in self._is_turn_of:
            name = self.supply.free(like(self.turn).derived(Derivation.IS, f".{k}"))
            self._is_turn_of[k] = self._build.compare("eq", self.turn, number(NUMBER, k), name)
        return self._is_turn_of[k]

    def _keep(self, value: Named) -> None:
        array = self._array(value, value.type)
        if array is None:
            return
        for k, replica in enumerate(self.replicas.of(value)):
            array.store(self._build_before, replica, number(NUMBER, k))
        self.in_turn[value] = array.load(self._build, self.turn, self.supply.derived(value, Derivation.ALONE))

    def _array(self, original: Named, type_: Type) -> ReplicaArray | None:
        if not can_be_kept(type_):
            self.can_be_said = False
            return None
        build, name = Builder(self.variables, self.origin), self.supply.derived(original, Derivation.KEPT)
        return ReplicaArray(build, name, type_, len(self.replicas.values), self.supply)

    def _phis_of(self, *blocks: str) -> Iterator[Instruction]:
        for name in blocks:
            yield from self.replicas.kernel.block[name].phis


# A private array with an element for each replica, written by index, also one that is known only at run time.

_TRUTH, _BYTE, _INDEX = IntegerType(1), IntegerType(8), IntegerType(32)


def can_be_kept(type_: Type) -> bool:
    """Return True if an array can hold values of a type: numbers and vectors of them, not pointers or the like."""
    element = scalar(type_)
    if isinstance(type_, VectorType) and element == _TRUTH:
        return False
    return isinstance(element, IntegerType | FloatType)


class ReplicaArray:
    """A private array of values of one type; truth values are kept as bytes.

    Args:
        build: puts what reserves the array at the kernel's start.
        name: of the array, free in the kernel.
        type_: of the values; one that can be kept.
        count: the number of values.
        supply: names that are free in the kernel.
    """

    def __init__(self, build: Builder, name: NewName, type_: Type, count: int, supply: NameSupply) -> None:
        self._type = type_
        self._kept = _BYTE if type_ == _TRUTH else type_
        self._array = ArrayType(count, self._kept)
        self._supply = supply
        self._variable = build.allocate(self._array, name)

    def store(self, build: Builder, value: Operand, index: Operand) -> None:
        """Store a value at an index, a 32-bit integer."""
        if self._type == _TRUTH:
            value = build.cast(Opcode.ZEXT, value, _BYTE, self._derived(Derivation.BYTE))
        build.store(value, self._place(build, index))

    def load(self, build: Builder, index: Operand, name: NewName) -> Instruction:
        """Load the value at an index, a 32-bit integer, under a name."""
        place = self._place(build, index)
        if self._type != _TRUTH:
            return build.load(self._kept, place, name)
        byte = build.load(_BYTE, place, self._derived(Derivation.BYTE))
        return build.cast(Opcode.TRUNC, byte, _TRUTH, name)

    def _place(self, build: Builder, index: Operand) -> Instruction:
        indices = [number(_INDEX, 0), index]
        return build.element(self._array, self._variable, indices, self._derived(Derivation.PLACE))

    def _derived(self, derivation: Derivation) -> NewName:
        return self._supply.derived(self._variable, derivation)
