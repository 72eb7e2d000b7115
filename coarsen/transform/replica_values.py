"""What stands for a kernel's values in each replica."""

from __future__ import annotations

from collections.abc import Container, Sequence

from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.graph.rewriting import ValueMap
from coarsen.transform.ids import IdRewriter
from coarsen.transform.progression import Progression
from coarsen.transform.template import Template


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
