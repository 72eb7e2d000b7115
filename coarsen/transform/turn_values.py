"""What changes from turn to turn when a loop over the replicas stands for their copies.

A value of which each replica has its own is, in a turn, that of the turn's replica. The cheapest way that is there
is taken:

    the replicas of an id          computed from the number of the turn:  %x.turn = %x + %turn * stride
    cheap arithmetic on such       computed again:                        %i.turn = sext %x.turn
    a replica's own local memory   chosen:                                %tile.turn = select %is.1, @tile.1, @tile
    anything else                  kept in a private array:               %v.turn = load %v.kept[%turn]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.analysis.regions import Region
from coarsen.analysis.uses import names_in
from coarsen.ir.kernel import Instruction, Kernel, Value, ValueKind
from coarsen.ir.printer import rename
from coarsen.ir.types import PointerType, Type
from coarsen.transform.alone import Entry
from coarsen.transform.ids import IdRewriter, Progression
from coarsen.transform.names import NameSupply
from coarsen.transform.replica_array import ReplicaArray, can_be_kept

_ARITHMETIC = frozenset(
    (
        *("add", "sub", "mul", "shl", "lshr", "ashr", "and", "or", "xor"),
        *("trunc", "zext", "sext", "icmp", "select", "getelementptr", "addrspacecast"),
    )
)
_DEPTH = 8
_COUNTING = 5  # the instructions of an empty loop


@dataclass
class TurnValues:
    """Collects the values that turns need, and the instructions that provide them.

    Attributes:
        kernel: whose values they are.
        names: what each replica calls them.
        ids: knows which are ids.
        supply: hands out fresh names.
        variables: the private arrays, for the start of the kernel.
        before: what stands before the loop over the replicas.
        at_turn: what stands at the start of each turn.
        turn: the number of the turn, a 32-bit integer (with `%`).
        can_be_said: whether all that was asked for can be provided.
    """

    kernel: Kernel
    names: Sequence[Mapping[str, str]]
    ids: IdRewriter
    supply: NameSupply
    variables: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    at_turn: list[str] = field(default_factory=list)
    can_be_said: bool = True
    turn: str = field(init=False)
    _in_turn: dict[str, str] = field(default_factory=dict)
    _is_turn_of: dict[int, str] = field(default_factory=dict)
    _results: dict[str, ReplicaArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.turn = "%" + self.supply.fresh("replica")
        self._own_memory = frozenset(self.ids.own_names(1))

    @property
    def in_turn(self) -> Mapping[str, str]:
        """What a turn calls the values, for those that differ between replicas."""
        return self._in_turn

    @property
    def instructions(self) -> int:
        """How many instructions the turns need besides the region's own."""
        taking = len(self._results) * (2 + 2 * len(self.names))
        return len(self.variables) + len(self.before) + len(self.at_turn) + taking + _COUNTING

    def need(self, operand: Value) -> None:
        """What an instruction uses in a turn, as it is before the loop."""
        for name in names_in(operand):
            if not self._differs(name):
                continue
            if operand.kind is ValueKind.CONSTANT:
                self.can_be_said = False  # a constant expression can't name what a turn has chosen
            elif name not in self._in_turn:
                self._provide(name, _DEPTH)

    def need_on_arrival(self, region: Region, entry: Entry) -> None:
        """The values with which a replica comes into a region."""
        if entry.is_restart:
            for phi in self.kernel.block[entry.block].phis:
                self.need(Value(ValueKind.INSTRUCTION, phi.type, phi.name))
            return
        for operand in self.kernel.block[entry.block].terminator.arguments:
            self.need(operand)
        for name in (*sorted(region.blocks), region.join):
            for phi in self.kernel.block[name].phis:
                for value, source in zip(phi.operands, phi.incoming, strict=True):
                    if source == entry.block:
                        self.need(value)

    def need_at_join(self, region: Region) -> None:
        """The values from before the region that phis of its join take when they are reached through it."""
        for phi in self.kernel.block[region.join].phis:
            for value, source in zip(phi.operands, phi.incoming, strict=True):
                if source in region.blocks and self.kernel.block_of.get(value.text) not in region.blocks:
                    self.need(value)

    def need_results(self, phis: Iterable[Instruction]) -> None:
        """The join's phis of which each replica has its own: kept in private arrays until the loop is over."""
        for phi in phis:
            array = self._array(phi.name, phi.type)
            if array is not None:
                self._results[phi.name] = array

    def keep_result(self, phi: Instruction, value: str) -> list[str]:
        """The instructions that keep a turn's result."""
        return self._results[phi.name].store(value, self.turn)

    def take_result(self, phi: Instruction, k: int, name: str) -> list[str]:
        """The instructions that take replica k's result, as `name` (with `%`), behind the loop."""
        return self._results[phi.name].load(name, str(k))

    def _differs(self, name: str) -> bool:
        return len(set(self._replicas(name))) > 1

    def _replicas(self, name: str) -> tuple[str, ...]:
        own = name if name.startswith("@") else "%" + name
        return tuple(names.get(name, own) for names in self.names)

    def _provide(self, name: str, depth: int) -> None:
        progression = self.ids.progression(self._replicas(name))
        definition = self.kernel.definition.get(name)
        if progression is not None:
            self._count(name, progression)
        elif name in self._own_memory:
            self._choose(name)
        elif depth and definition is not None and self._is_cheap(definition, depth):
            self._compute_again(definition, depth)
        else:
            self._keep(name)

    def _is_cheap(self, definition: Instruction, depth: int) -> bool:
        """Whether an instruction is arithmetic on ids and on values that all replicas share."""
        if definition.opcode not in _ARITHMETIC or self.ids.answered_at_start(definition):
            return False
        return all(
            self._is_cheap_operand(name, operand.kind, depth)
            for operand in definition.operands
            for name in names_in(operand)
        )

    def _is_cheap_operand(self, name: str, kind: ValueKind, depth: int) -> bool:
        if kind is ValueKind.CONSTANT:
            return not self._differs(name)
        if not self._differs(name) or self.ids.progression(self._replicas(name)) is not None:
            return True
        if name in self._own_memory:
            return True
        definition = self.kernel.definition.get(name)
        return depth > 0 and definition is not None and self._is_cheap(definition, depth - 1)

    def _count(self, name: str, progression: Progression) -> None:
        type_, turn = progression.type, self.turn
        if type_ != "i32":
            turn = self._named(name, "offset")
            opcode = "zext" if int(type_[1:]) > 32 else "trunc"
            self.at_turn.append(f"{turn} = {opcode} i32 {self.turn} to {type_}")
        if progression.distance != "1":
            distance = self._named(name, "offset")
            self.at_turn.append(f"{distance} = mul {type_} {turn}, {progression.distance}")
            turn = distance
        self._in_turn[name] = self._named(name, "alone")
        self.at_turn.append(f"{self._in_turn[name]} = add {type_} {progression.first}, {turn}")

    def _compute_again(self, definition: Instruction, depth: int) -> None:
        for name in (name for operand in definition.operands for name in names_in(operand)):
            if name not in self._in_turn and self._differs(name):
                self._provide(name, depth - 1)
        self._in_turn[definition.name] = self._named(definition.name, "alone")
        self.at_turn.append(rename(definition.text, self._in_turn | self._shared(definition)))

    def _shared(self, definition: Instruction) -> dict[str, str]:
        """What the operands that all replicas share are called."""
        shared = [operand.text for operand in definition.operands if operand.is_local]
        return {name: self._replicas(name)[0] for name in shared if not self._differs(name)}

    def _choose(self, name: str) -> None:
        """A turn's own local memory, out of that of all replicas."""
        first, *others = self._replicas(name)
        type_ = self._type_of(name)
        for k, replica in enumerate(others, start=1):
            chosen = self._named(name.strip("@"), "alone")
            self.at_turn.append(f"{chosen} = select i1 {self._is_turn(k)}, {type_} {replica}, {type_} {first}")
            first = chosen
        self._in_turn[name] = first

    def _is_turn(self, k: int) -> str:
        """Whether it is replica k's turn."""
        if k not in self._is_turn_of:
            self._is_turn_of[k] = "%" + self.supply.fresh(f"{self.turn[1:]}.is.{k}")
            self.at_turn.append(f"{self._is_turn_of[k]} = icmp eq i32 {self.turn}, {k}")
        return self._is_turn_of[k]

    def _type_of(self, name: str) -> Type:
        if name.startswith("@"):
            return PointerType(self.kernel.globals[name[1:]].address_space)
        return self.kernel.type_of[name]

    def _keep(self, name: str) -> None:
        array = self._array(name, self._type_of(name))
        if array is None:
            return
        for k, replica in enumerate(self._replicas(name)):
            self.before.extend(array.store(replica, str(k)))
        self._in_turn[name] = self._named(name, "alone")
        self.at_turn.extend(array.load(self._in_turn[name], self.turn))

    def _array(self, name: str, type_: Type) -> ReplicaArray | None:
        if not can_be_kept(type_):
            self.can_be_said = False
            return None
        array = ReplicaArray(self._named(name, "kept"), type_, len(self.names), self.supply)
        self.variables.append(array.variable)
        return array

    def _named(self, name: str, what: str) -> str:
        return "%" + self.supply.fresh(f"{name}.{what}")
