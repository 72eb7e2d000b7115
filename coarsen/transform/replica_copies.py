"""A copy of each value and block of a kernel for each replica that has its own, named but not yet written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Named
from coarsen.ir.graph.rewriting import OriginMap, ValueMap, for_replica, same_origin
from coarsen.transform.copies import Copies
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply, like
from coarsen.transform.template import Template


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
