"""The kernel that is replicated: as analyses know it, and as the graph of which copies are made."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TypeVar

from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import named_in
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import OriginMap, ValueMap, fill_in, for_replica, same_origin, without_operands
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import VoidType
from coarsen.transform.ids import IdRewriter, Progression
from coarsen.transform.names import NameSupply, like


class Template:
    """A kernel of which copies are made; its own graph is sealed.

    Args:
        kernel: in normal form.
        module: into which copies are written, owned by whoever makes the template: the kernel's without its body.
        values: what stands there for the kernel's arguments, variables and callees.

    Attributes:
        kernel: as analyses know it.
        module: into which copies are written.
        values: what stands there for the kernel's arguments, variables and callees.
        function: the kernel's graph.
        block: its blocks, by name.
        known: its instructions as analyses know them.
    """

    def __init__(self, kernel: Kernel, module: Module, values: ValueMap) -> None:
        self.kernel = kernel
        self.module = module
        self.values = values
        self.function = kernel.graph.function(kernel.name)
        self.block: Mapping[str, Block] = {block.name: block for block in self.function.blocks}
        self.known: Mapping[Instruction, Instruction] = dict(
            zip(self.function.instructions(), kernel.instructions(), strict=True)
        )
        self._values = {named.name: named for named in named_in(self.function) if named.name not in self.block}

    def value(self, name: str) -> Named:
        """Return an argument or an instruction's result by its name, or with an `@` a program-scope variable."""
        return self.kernel.graph.variables[name[1:]] if name.startswith("@") else self._values[name]

    def in_order(self, names: frozenset[str]) -> list[Block]:
        """Return the blocks of some names, in the kernel's order."""
        return [self.block[block.name] for block in self.kernel.in_order(names)]


class ReplicaCopies:
    """What stands for a kernel's values and blocks in each replica.

    Args:
        template: the kernel.
        divergence: of the kernel.
        copied: the blocks of regions that are replicated whole.
        ids: answers its queries.
        supply: hands out fresh names.
        own_memory: what stands for arguments and variables of which each replica has its own, for each replica.

    Attributes:
        shared: what stands for what all replicas share.
        values: what stands for values and blocks in each replica, what they share included.
        at_start: the results that are computed at the kernel's start.
        copies: makes and writes copies.
    """

    def __init__(
        self,
        template: Template,
        divergence: Divergence,
        copied: frozenset[str],
        ids: IdRewriter,
        supply: NameSupply,
        own_memory: Sequence[Mapping[Named, Named]],
    ) -> None:
        self.shared = ValueMap(template.values)
        self.values = [ValueMap(self.shared) for _ in own_memory]
        self.at_start: set[Instruction] = set()
        self.copies = Copies(template, ids, self.at_start)
        self._template = template
        self._divergence = divergence
        self._ids = ids
        self._supply = supply
        for values, own in zip(self.values, own_memory, strict=True):
            for original, of_replica in own.items():
                values[original] = of_replica
        for block in template.function.blocks:
            is_copied = block.name in copied
            for values, name, origin in self._each(block, is_copied):
                values[block] = self.copies.of_block(block, name.spelling, origin)
            for instruction in block.instructions:
                if instruction.name:
                    self._add(instruction, is_copied)

    def _add(self, instruction: Instruction, is_copied: bool) -> None:
        known = self._template.known[instruction]
        answers = self._ids.answered_at_start(known)
        if answers:
            self.at_start.add(instruction)
            for k, values in enumerate(self.values):
                values[instruction] = answers[k if len(answers) > 1 else 0]
            return
        for values, name, origin in self._each(instruction, is_copied or self._divergence.is_divergent(known)):
            values[instruction] = self.copies.of_value(instruction, name, origin)

    def _each(self, original: Named, is_copied: bool) -> Iterator[tuple[ValueMap, NewName, OriginMap]]:
        """For each copy of a value or block: the map that has it, its name and its origin."""
        name = like(original)
        if not is_copied:
            yield self.shared, name, same_origin
            return
        for k, values in enumerate(self.values):
            yield values, self._supply.replica(name, k), for_replica(k)


# Copies of a kernel's instructions for its replicas: made first, so that all can be named, and written later.

_Named = TypeVar("_Named", bound=Named)


class Copies:
    """Makes and writes copies.

    Args:
        template: of which copies are made.
        ids: answers the kernel's queries.
        at_start: the results that are computed at the kernel's start.
    """

    def __init__(self, template: Template, ids: IdRewriter, at_start: Container[Instruction]) -> None:
        self._template = template
        self._ids = ids
        self._at_start = at_start

    def has_copies(self, original: Instruction) -> bool:
        """Return True for a result that is copied, not computed at the kernel's start."""
        return not isinstance(original.type, VoidType) and original not in self._at_start

    def is_answered_in_place(self, original: Instruction) -> bool:
        """Return True for a query that is answered in its place, since its dimension is known at run time only."""
        return original not in self._at_start and self._is_changed_query(original)

    def of_value(self, original: Instruction, name: NewName, origin: OriginMap) -> Instruction:
        """Return a copy of an instruction with a result, under a name that is free, to be written later."""
        copied = without_operands(original, origin)
        if self._is_changed_query(original):
            copied = Instruction(Opcode.SELECT, original.type, origin=copied.origin)
        copied.origin = copied.origin.called(name.display)
        return _named(copied, name.spelling)

    def _is_changed_query(self, original: Instruction) -> bool:
        return original.opcode is Opcode.CALL and self._ids.handles(self._template.known[original])

    def of_block(self, original: Block, name: str, origin: OriginMap) -> Block:
        """Return a copy of a block, under a name that is free, that holds nothing yet."""
        return _named(Block(name, origin(original.origin)), name)

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
        if self._is_changed_query(original):
            build = Builder(into, copied.origin)
            known = self._template.known[original]
            self._ids.select(build, known, values.operand(original.operands[0]), copied, replica)
        else:
            fill_in(copied, original, values)
            into.append(copied)


def new_block(name: str, origin: Origin) -> Block:
    """Return a block under a name that is free."""
    return _named(Block(name, origin), name)


def _named(named: _Named, name: str) -> _Named:
    named.name, named.has_unique_name = name, True
    return named


class ReplicaValues:
    """The replicas of a kernel's values.

    Args:
        template: the kernel.
        values: what stands for its values in each replica.
        ids: knows which are ids.
        at_start: the results that are computed at the kernel's start.
        own_memory: the arguments and variables of which each replica has its own.

    Attributes:
        count: the number of replicas.
    """

    def __init__(
        self,
        template: Template,
        values: Sequence[ValueMap],
        ids: IdRewriter,
        at_start: Container[Instruction],
        own_memory: Container[Named],
    ) -> None:
        self.count = len(values)
        self._template = template
        self._values = values
        self._ids = ids
        self._at_start = at_start
        self._own_memory = own_memory

    def block(self, name: str) -> Block:
        """Return a block of the kernel, to read it."""
        return self._template.block[name]

    def of(self, value: Named) -> tuple[Operand, ...]:
        """Return what stands for a value in each replica."""
        return tuple(values.find(value) for values in self._values)

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
