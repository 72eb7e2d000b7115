"""Copies of a kernel's instructions for its replicas: made first, so that all can be named, and written later."""

from __future__ import annotations

from collections.abc import Container
from typing import TypeVar

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Named
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import OriginMap, ValueMap, fill_in, without_operands
from coarsen.ir.types import VoidType
from coarsen.transform.ids import IdRewriter
from coarsen.transform.template import Template

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
