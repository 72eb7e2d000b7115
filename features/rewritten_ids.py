"""What the rewriting of work-item ids adds to a kernel, as instructions that can be counted.

The transform (`transform/ids.py`) answers an id or size query at the kernel's start; here its text is read
back, so that counts follow what it really writes:

    before                    counted, at the start of the entry block (factor 2)
    %x = get_global_id(0)     %id, %offset, two to scale it, one more with the offset, one for the other replica

A query whose dimension is only known at run time keeps its place and becomes three instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.ir.kernel import Instruction, Kernel, Value, ValueKind
from coarsen.ir.opencl.queries import Query, queried_dimension, query_of
from coarsen.ir.types import IntegerType
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply
from coarsen.variant.coarsening import Coarsening

_IDS = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID})
_LINE = re.compile(r"%(?P<name>\S+) = (?P<opcode>\w+) (?P<rest>.*)")
_CALLEE = re.compile(r"@(\w+)\((?:i32 (%?[\w.]+))?")
_OPERAND = re.compile(r"%([-\w$.]+)")


@dataclass(frozen=True)
class RewrittenIds:
    """A kernel's id and size queries along one dimension, rewritten for one factor above 1.

    `prologue` is what stands at the start of the entry block; `standing_for` gives, for each query that is
    gone, the value of the last replica, the one with the longest chain behind it; `standing_for_first` that of the
    first replica, which the branches of shared blocks depend on.
    """

    kernel: Kernel
    coarsening: Coarsening
    prologue: tuple[Instruction, ...]
    standing_for: Mapping[str, str]
    standing_for_first: Mapping[str, str]
    _rewriter: IdRewriter

    def replacement(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """What stands in an instruction's place, for one replica: itself if it is no query, or nothing."""
        if instruction.name in self.standing_for:
            return ()
        if not self._rewriter.handles(instruction):
            return (instruction,)
        return tuple(map(_read, self._rewriter.selection(instruction, instruction.name, 0, {})))

    @cached_property
    def divergent_prologue(self) -> frozenset[str]:
        """The values of the prologue that differ between work-items along the coarsened dimension."""
        divergent: set[str] = set()
        for instruction in self.prologue:
            sources = {operand.text for operand in instruction.operands if operand.is_local}
            if self._is_own_id(instruction) or not divergent.isdisjoint(sources):
                divergent.add(instruction.name)
        return frozenset(divergent)

    def _is_own_id(self, instruction: Instruction) -> bool:
        return query_of(instruction) in _IDS and queried_dimension(instruction) == self.coarsening.dimension


def rewrite_ids(kernel: Kernel, coarsening: Coarsening) -> RewrittenIds:
    """Rewrite a kernel's queries for a coarsening with a factor above 1."""
    rewriter = IdRewriter(kernel, coarsening, NameSupply(kernel))
    replicas = dict(_replicas(kernel, rewriter))
    standing_for = {name: values[-1] for name, values in replicas.items()}
    for instruction in kernel.instructions():
        if rewriter.handles(instruction) and instruction.name not in standing_for:
            list(rewriter.selection(instruction, instruction.name, 0, {}))  # for what it adds to the prologue
    prologue = tuple(map(_read, rewriter.prologue))
    first = {name: values[0] for name, values in replicas.items()}
    return RewrittenIds(kernel, coarsening, prologue, standing_for, first, rewriter)


def _replicas(kernel: Kernel, rewriter: IdRewriter) -> Iterator[tuple[str, list[str]]]:
    for instruction in kernel.instructions():
        replicas = rewriter.answered_at_start(instruction)
        if replicas:
            yield instruction.name, [value.removeprefix("%") for value in replicas]


def _read(line: str) -> Instruction:
    """An instruction as the id rewriter writes it: a call, integer arithmetic, comparison or selection."""
    match = _LINE.match(line)
    if match is None:
        raise ValueError(f"not an instruction of the id rewriter: {line!r}")
    integer = IntegerType(64)
    operands = [Value(ValueKind.INSTRUCTION, integer, name) for name in _OPERAND.findall(match["rest"])]
    callee = _CALLEE.search(match["rest"])
    if callee is not None:
        if callee[2] and not callee[2].startswith("%"):
            operands.append(Value(ValueKind.CONSTANT, IntegerType(32), callee[2]))
        operands.append(Value(ValueKind.FUNCTION, integer, callee[1]))
    return Instruction(match["name"], match["opcode"], integer, tuple(operands), line)
