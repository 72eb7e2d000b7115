"""Comparisons that hold wherever a block is executed: those of the branches that lead to it.

    if (row >= height) return;
    for (uint column = 0; column < width; column++)
        …                                              row < height, column < width

A branch's edge counts where the block that it leads to has no other way in and dominates the one that is asked
about. The values are those of the last time that the edge was taken: what is defined above a block can't be
defined anew between that block and one that it dominates without passing it again. Relations are of whole numbers
without signs; of a comparison with signs, whoever asks has to show that the smaller one is not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import number_of
from coarsen.analysis.control_flow import FlowGraph
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType

_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
# Longer conjunctions are of no use.
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Below:
    """One value is less than another of its type; `is_signed`: as numbers with signs."""

    smaller: Operand
    larger: Operand
    is_signed: bool


def held_at(kernel: Kernel, flow: FlowGraph, block: str) -> tuple[Below, ...]:
    """Return the comparisons that hold at a block, those of the nearest branches first.

    Args:
        kernel: in normal form.
        flow: its control flow.
        block: its name.
    """
    found: list[Below] = []
    place = block
    while place != flow.entry and place in flow.immediate_dominator:
        sources = flow.predecessors(place)
        if len(set(sources)) == 1:
            found += _held_on(kernel, sources[0], place)
        place = flow.immediate_dominator[place]
    return tuple(found)


def _held_on(kernel: Kernel, source: str, target: str) -> Iterator[Below]:
    """Yield what holds on the edge between two blocks."""
    branch = kernel.block[source].terminator
    if branch.opcode == "br" and len(set(branch.targets)) == 2:
        yield from _implied(kernel, branch.arguments[0], holds=target == branch.targets[0])


def _implied(kernel: Kernel, condition: Operand, *, holds: bool, depth: int = 0) -> Iterator[Below]:
    """Yield what follows from a condition that is known to hold, or not to."""
    if condition.kind is not ValueKind.INSTRUCTION or depth > _DEEPEST:
        return
    instruction = kernel.definition[condition.text]
    if instruction.opcode == "icmp":
        yield from _relation(instruction, holds=holds)
    for part, is_met in _parts(instruction, holds=holds):
        yield from _implied(kernel, part, holds=is_met, depth=depth + 1)


def _relation(comparison: Instruction, *, holds: bool) -> Iterator[Below]:
    left, right = comparison.operands
    sign, relation = predicate(comparison)[:-2], predicate(comparison)[-2:]
    if not isinstance(left.type, IntegerType) or relation not in _OPPOSITE:
        return
    relation = relation if holds else _OPPOSITE[relation]
    if relation in ("lt", "gt"):
        smaller, larger = (left, right) if relation == "lt" else (right, left)
        yield Below(smaller, larger, sign == "s")


def _parts(instruction: Instruction, *, holds: bool) -> Iterator[tuple[Operand, bool]]:
    """Yield the conditions that a condition is made of, as far as each is known, with whether it holds."""
    operands = instruction.operands
    if not isinstance(instruction.type, IntegerType) or instruction.type.width != 1:
        return
    if instruction.opcode == ("and" if holds else "or"):
        yield from ((operand, holds) for operand in operands)
    elif instruction.opcode == "xor" and number_of(operands[1]) in (1, -1):
        yield operands[0], not holds
    elif instruction.opcode == "select":
        # `a && b` is select a, b, false; `a || b` is select a, true, b.
        taken, left_out = (operands[1], operands[2]) if holds else (operands[2], operands[1])
        if number_of(left_out) is not None and bool(number_of(left_out)) != holds:
            yield operands[0], holds
            yield taken, holds
