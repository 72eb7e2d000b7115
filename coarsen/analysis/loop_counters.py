"""Counters of loops that take the same values each time: from one number to another, in steps of one.

    for (int k = -2; k <= 2; ++k)      -2 … 2
    for (int k = 0; k < n; ++k)        not known

The values are found by running the loop's test, with the bits that the counter has: nothing is assumed of wraps.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import number_of, width_of
from coarsen.analysis.control_flow import FlowGraph, Loop
from coarsen.ir.graph.details import Comparison
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value
from coarsen.ir.types import IntegerType

# A box with a longer side is larger than any tile.
_MOST_VALUES = 16384
# So far from 0, the sum of all of a read's counters, and what is a tile's size beyond, is a number of 32 bits.
_LARGEST = 2**20
_Test = Callable[[int, int], bool]
_RELATIONS: Mapping[str, _Test] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Counter:
    """A phi of a loop's header that has each of the values from `least` to `greatest` in the loop's body, once."""

    phi: str
    loop: Loop
    least: int
    greatest: int


def counters_of(kernel: Kernel, flow: FlowGraph) -> Mapping[str, Counter]:
    """Return the counters of a kernel's loops, by the names of their phis.

    Only loops that are left at their header's test alone have any, and whose body is run at least once.
    """
    return {counter.phi: counter for loop in flow.loops for counter in _of_loop(kernel, flow, loop)}


def _of_loop(kernel: Kernel, flow: FlowGraph, loop: Loop) -> Iterator[Counter]:
    leaving = {block for block in loop.blocks for target in flow.successors(block) if target not in loop.blocks}
    latches = [start for start, end in flow.back_edges if end == loop.header]
    head = kernel.block[loop.header]
    is_tested = head.terminator.opcode == "br" and len(set(head.terminator.targets)) == 2
    if leaving != {loop.header} or len(latches) != 1 or not is_tested:
        return
    for phi in head.phis:
        values = _values(kernel, loop, phi, latches[0])
        if values is not None:
            yield Counter(phi.name, loop, *values)


def _values(kernel: Kernel, loop: Loop, phi: Instruction, latch: str) -> tuple[int, int] | None:
    """The least and the greatest value that a phi has in the body."""
    if not isinstance(phi.type, IntegerType) or len(phi.incoming) != 2 or latch not in phi.incoming:
        return None
    again = phi.operands[phi.incoming.index(latch)]
    start = number_of(phi.operands[1 - phi.incoming.index(latch)])
    step = _step(kernel, phi, again)
    branch = kernel.block[loop.header].terminator
    test = _test(kernel, phi, branch.arguments[0], stays_if=branch.targets[0] in loop.blocks)
    if start is None or step not in (1, -1) or test is None:
        return None
    half = 1 << (width_of(phi.type) - 1)
    value, count = (start + half) % (2 * half) - half, 0
    first = value
    while test(value):
        count, value = count + 1, (value + step + half) % (2 * half) - half
        if count > _MOST_VALUES:
            return None
    last = first + step * (count - 1)
    least, greatest = sorted((first, last))
    is_small = -min(half, _LARGEST) <= least and greatest < min(half, _LARGEST)
    return (least, greatest) if count and is_small else None


def _step(kernel: Kernel, phi: Instruction, again: Value) -> int | None:
    if again.kind is not ValueKind.INSTRUCTION:
        return None
    added = kernel.definition[again.text]
    if added.opcode not in ("add", "sub"):
        return None
    left, right = added.operands
    if added.opcode == "add" and right.text == phi.name and right.kind is ValueKind.INSTRUCTION:
        left, right = right, left
    number = number_of(right)
    if left.kind is not ValueKind.INSTRUCTION or left.text != phi.name or number is None:
        return None
    return number if added.opcode == "add" else -number


def _test(kernel: Kernel, phi: Instruction, condition: Value, *, stays_if: bool) -> Callable[[int], bool] | None:
    """Return the loop's test of a phi's value, which says if the loop goes on; None for any other test."""
    if condition.kind is not ValueKind.INSTRUCTION:
        return None
    comparison = kernel.definition[condition.text]
    if comparison.opcode != "icmp" or not isinstance(comparison.detail, Comparison):
        return None
    left, right = comparison.operands
    is_left = left.kind is ValueKind.INSTRUCTION and left.text == phi.name
    if not is_left and not (right.kind is ValueKind.INSTRUCTION and right.text == phi.name):
        return None
    limit = number_of(right if is_left else left)
    if limit is None:
        return None
    predicate = comparison.detail.predicate
    relation = _RELATIONS[predicate[-2:]]
    modulus = 1 << width_of(phi.type)
    half = 0 if predicate.startswith("u") else modulus // 2

    def goes_on(value: int) -> bool:
        own, other = ((number + half) % modulus - half for number in (value, limit))
        holds = relation(own, other) if is_left else relation(other, own)
        return holds == stays_if

    return goes_on
