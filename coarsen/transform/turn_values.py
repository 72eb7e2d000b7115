"""What changes from turn to turn when a loop over the replicas stands for their copies.

A value of which each replica has its own is, in a turn, that of the turn's replica. The cheapest way that is there
is taken:

    the replicas of an id          computed from the number of the turn:  %x.turn = %x + %turn * stride
    cheap arithmetic on such       computed again:                        %i.turn = sext %x.turn
    anything else                  kept in a private array:               %v.turn = load %v.kept[%turn]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.analysis.regions import Region
from coarsen.analysis.uses import names_in
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.printer import rename
from coarsen.ir.types import Type
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
    _results: dict[str, ReplicaArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.turn = "%" + self.supply.fresh("replica")
        self._types = {argument.name: argument.type for argument in self.kernel.arguments}
        self._types.update((i.name, i.type) for i in self.kernel.instructions() if i.name)

    @property
    def in_turn(self) -> Mapping[str, str]:
        """What a turn calls the values, for those that differ between replicas."""
        return self._in_turn

    @property
    def instructions(self) -> int:
        """How many instructions the turns need besides the region's own."""
        taking = len(self._results) * (2 + 2 * len(self.names))
        return len(self.variables) + len(self.before) + len(self.at_turn) + taking + _COUNTING

    def need(self, name: str) -> None:
        """A value that is used in a turn, as it is before the loop."""
        if name not in self._in_turn and self._differs(name):
            self._provide(name, _DEPTH)

    def need_on_arrival(self, region: Region, entry: Entry) -> None:
        """The values with which a replica comes into a region."""
        if entry.is_restart:
            for phi in self.kernel.block[entry.block].phis:
                self.need(phi.name)
            return
        for operand in self.kernel.block[entry.block].terminator.arguments:
            self.need(operand.text)
        for name in (*sorted(region.blocks), region.join):
            for phi in self.kernel.block[name].phis:
                for value, source in zip(phi.operands, phi.incoming, strict=True):
                    if source == entry.block and value.is_local:
                        self.need(value.text)

    def need_at_join(self, region: Region) -> None:
        """The values from before the region that phis of its join take when they are reached through it."""
        for phi in self.kernel.block[region.join].phis:
            for value, source in zip(phi.operands, phi.incoming, strict=True):
                inside = self.kernel.block_of.get(value.text) in region.blocks
                if value.is_local and source in region.blocks and not inside:
                    self.need(value.text)

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
        return tuple(names.get(name, "%" + name) for names in self.names)

    def _provide(self, name: str, depth: int) -> None:
        progression = self.ids.progression(self._replicas(name))
        definition = self.kernel.definition.get(name)
        if progression is not None:
            self._count(name, progression)
        elif depth and definition is not None and self._is_cheap(definition, depth):
            self._compute_again(definition, depth)
        else:
            self._keep(name)

    def _is_cheap(self, definition: Instruction, depth: int) -> bool:
        """Whether an instruction is arithmetic on ids and on values that all replicas share."""
        if definition.opcode not in _ARITHMETIC or self.ids.answered_at_start(definition):
            return False
        named = (name for operand in definition.operands for name in names_in(operand))
        return all(self._is_cheap_operand(name, depth) for name in named)

    def _is_cheap_operand(self, name: str, depth: int) -> bool:
        if not self._differs(name) or self.ids.progression(self._replicas(name)) is not None:
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
        for operand in definition.operands:
            if operand.is_local and operand.text not in self._in_turn and self._differs(operand.text):
                self._provide(operand.text, depth - 1)
        self._in_turn[definition.name] = self._named(definition.name, "alone")
        self.at_turn.append(rename(definition.text, self._in_turn | self._shared(definition)))

    def _shared(self, definition: Instruction) -> dict[str, str]:
        """What the operands that all replicas share are called."""
        shared = [operand.text for operand in definition.operands if operand.is_local]
        return {name: self._replicas(name)[0] for name in shared if not self._differs(name)}

    def _keep(self, name: str) -> None:
        array = self._array(name, self._types[name])
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
