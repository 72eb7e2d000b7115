"""The kernel that is replicated, and what stands for its values and blocks in each replica.

Copies are made first, so that all can be named, and written later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import OriginMap, ValueMap, fill_in, for_replica, same_origin, without_operands
from coarsen.ir.types import VoidType
from coarsen.transform.ids import IdRewriter, Progression
from coarsen.transform.names import NameSupply, like

_Named = TypeVar("_Named", bound=Named)


class Replicas:
    """The copies of a kernel's values and blocks.

    Args:
        divergence: of the kernel.
        module: into which copies are written, owned by the caller: the kernel's without its body.
        shared: what stands there for the kernel's arguments, variables and callees.
        copied: the blocks of regions that are replicated whole.
        ids: answers the kernel's queries.
        supply: hands out fresh names.
        own_memory: what stands for arguments and variables of which each replica has its own, for each replica.

    Attributes:
        divergence: of the kernel.
        kernel: of which copies are made.
        module: into which they are written.
        shared: what stands for what all replicas share.
        values: what stands for values and blocks in each replica, what they share included.
        supply: hands out fresh names.
        variables: the private variables of the kernel's start; a block that stands nowhere.
    """

    def __init__(
        self,
        divergence: Divergence,
        module: Module,
        shared: ValueMap,
        copied: frozenset[str],
        ids: IdRewriter,
        supply: NameSupply,
        own_memory: Sequence[Mapping[Named, Named]],
    ) -> None:
        self.divergence, self.kernel, self.module = divergence, divergence.kernel, module
        self.shared, self.supply = shared, supply
        self.values = [ValueMap(shared) for _ in own_memory]
        self.variables = Block("variables")
        self._ids = ids
        self._at_start: set[Instruction] = set()
        self._own_memory = frozenset[Named]().union(*own_memory)
        for values, own in zip(self.values, own_memory, strict=True):
            for original, of_replica in own.items():
                values[original] = of_replica
        for block in self.kernel.blocks:
            is_copied = block.name in copied
            for values, name, origin in self._each(block, is_copied):
                values[block] = new_block(name.spelling, origin(block.origin))
            for instruction in block.instructions:
                if instruction.name:
                    self._add(instruction, is_copied)

    def _add(self, instruction: Instruction, is_copied: bool) -> None:
        answers = self._ids.answered_at_start(instruction)
        if answers:
            self._at_start.add(instruction)
            for k, values in enumerate(self.values):
                values[instruction] = answers[k if len(answers) > 1 else 0]
            return
        is_copied = is_copied or self.divergence.is_divergent(instruction)
        for values, name, origin in self._each(instruction, is_copied):
            values[instruction] = self.copy_of_value(instruction, name, origin)

    def _each(self, original: Named, is_copied: bool) -> Iterator[tuple[ValueMap, NewName, OriginMap]]:
        """For each copy of a value or block: the map that has it, its name and its origin."""
        name = like(original)
        if not is_copied:
            yield self.shared, name, same_origin
            return
        for k, values in enumerate(self.values):
            yield values, self.supply.replica(name, k), for_replica(k)

    # What stands for a value in the replicas.

    def of(self, value: Named) -> tuple[Operand, ...]:
        """Return what stands for a value in each replica."""
        return tuple(values.find(value) for values in self.values)

    def differ(self, value: Named) -> bool:
        """Return True if not all replicas have the same."""
        return len(set(self.of(value))) > 1

    def spacing(self, value: Named) -> Progression | None:
        """Return where the replicas of a value stand if it is an id; else None."""
        return self._ids.progression(self.of(value))

    def is_own_memory(self, value: Named) -> bool:
        """Return True for local memory of which each replica has its own."""
        return value in self._own_memory

    def is_at_start(self, instruction: Instruction) -> bool:
        """Return True for a result that is computed at the kernel's start."""
        return instruction in self._at_start

    # Copies.

    def has_copies(self, original: Instruction) -> bool:
        """Return True for a result that is copied, not computed at the kernel's start."""
        return not isinstance(original.type, VoidType) and original not in self._at_start

    def is_answered_in_place(self, original: Instruction) -> bool:
        """Return True for a query that is answered in its place, since its dimension is known at run time only."""
        return original not in self._at_start and self._ids.handles(original)

    def copy_of_value(self, original: Instruction, name: NewName, origin: OriginMap) -> Instruction:
        """Return a copy of an instruction with a result, under a name that is free, to be written later."""
        copied = without_operands(original, origin)
        if self._ids.handles(original):
            copied = Instruction(Opcode.SELECT, original.type, origin=copied.origin)
        copied.origin = copied.origin.called(name.display)
        return _named(copied, name.spelling)

    def write(self, original: Instruction, replica: int, values: ValueMap, into: Block, origin: OriginMap) -> None:
        """Write a copy of an instruction that is no phi at the end of a block.

        Args:
            original: the instruction.
            replica: for which it is written.
            values: what stands for what; for the original itself the copy, if it has a result.
            into: the block.
            origin: of a copy without result.
        """
        if original in self._at_start:
            return
        is_void = isinstance(original.type, VoidType)
        copied = without_operands(original, origin) if is_void else values.find(original)
        assert isinstance(copied, Instruction)
        if self._ids.handles(original):
            build = Builder(into, copied.origin)
            self._ids.select(build, original, values.operand(original.operands[0]), copied, replica)
        else:
            fill_in(copied, original, values)
            into.append(copied)


def new_block(name: str, origin: Origin) -> Block:
    """Return a block under a name that is free."""
    return _named(Block(name, origin), name)


def _named(named: _Named, name: str) -> _Named:
    named.name, named.has_unique_name = name, True
    return named
