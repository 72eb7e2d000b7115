"""Counters of loops: those that take the same values each time, and those that are multiplied or divided.

    for (int k = -2; k <= 2; ++k)      -2 … 2
    for (int k = 0; k < n; ++k)        not known
    for (s = n; s > 0; s >>= 1)        ⌊log2 n⌋ + 1 iterations

The values of the first kind are found by running the loop's test, with the bits that the counter has: nothing is
assumed of wraps. The second kind is counted for predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.numbers import COMPARE, number_of, width_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.size_forms import SizeForms
from coarsen.analysis.algebra.symbols import PieceKind
from coarsen.analysis.control_flow import FlowGraph, Loop
from coarsen.analysis.expressions import (
    ONE,
    ZERO,
    Expression,
    ceiling,
    difference,
    floor,
    logarithm,
    maximum,
    number,
    product,
    quotient,
    total,
)
from coarsen.analysis.means import Means
from coarsen.ir.graph.details import Comparison
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType

# A box with a longer side is larger than any tile.
_MOST_VALUES = 16384
# So far from 0, the sum of all of a read's counters, and what is a tile's size beyond, is a number of 32 bits.
_LARGEST = 2**20


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


def _step(kernel: Kernel, phi: Instruction, again: Operand) -> int | None:
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


def _test(kernel: Kernel, phi: Instruction, condition: Operand, *, stays_if: bool) -> Callable[[int], bool] | None:
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
    relation = COMPARE[predicate[-2:]]
    modulus = 1 << width_of(phi.type)
    half = 0 if predicate.startswith("u") else modulus // 2

    def goes_on(value: int) -> bool:
        own, other = ((number + half) % modulus - half for number in (value, limit))
        holds = relation(own, other) if is_left else relation(other, own)
        return holds == stays_if

    return goes_on


# Loops whose counter is multiplied or divided each time: `s >>= 1`, `s /= 2`, `s *= 2`, `s <<= 1`.
#
# With s from a start on and a base b, and whole sizes:
#
#     s > c, divided by b      ⌊log_b(⌊start / (c + 1)⌋)⌋ + 1 iterations, exact
#     s < c, multiplied by b   ⌊log_b(⌈c / start⌉ - 1)⌋ + 1 iterations, exact
#     mean of s over n of them, divided by b down to 0: (b·start - 1) / ((b - 1)·n), exact for a power of b


@dataclass(frozen=True, slots=True)
class Geometric:
    """A comparison of `factor · counter` with a bound, tested each time that a loop goes round.

    Attributes:
        start: the counter's first value.
        base: that it is multiplied or divided by, at least 2.
        grows: whether it is multiplied.
        factor: of the counter in the comparison, not 0.
        bound: that it is compared with: `factor·counter + bound` with 0.
    """

    start: Expression
    base: int
    grows: bool
    factor: int
    bound: Expression

    def passed(self, means: Means, relation: str) -> Expression | None:
        """Return how many values in a row have the relation to the bound."""
        limit = product([number(-1 / self.factor), self.bound])
        if self.factor < 0:
            relation = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(relation, relation)
        if relation == "ne" and not self.grows and limit == ZERO:
            relation = "gt"
        if self.grows and relation in ("lt", "le"):
            reached = limit if relation == "lt" else total([floor(limit), ONE])
            count = logarithm(total([ceiling(reached, self.start), number(-1)]), self.base)
        elif not self.grows and relation in ("gt", "ge"):
            least = total([floor(limit), ONE]) if relation == "gt" else ceiling(limit)
            count = logarithm(floor(self.start, least) if least != ZERO else self.start, self.base)
        else:
            return None
        return means.settled(total([count, ONE]))


def geometric_of(sizes: SizeForms, loop: Loop, gap: Polynomial) -> Geometric | None:
    """Return the geometric counter in a comparison's difference, None where there is none.

    Args:
        sizes: the kernel's values.
        loop: that the comparison may leave.
        gap: the difference of what is compared.
    """
    for phi in sizes.forms.kernel.block[loop.header].phis:
        pace = pace_of(sizes, loop, phi)
        if pace is None:
            continue
        for symbol, is_next in ((f"%{phi.name}", False), (pace.following, True)):
            factor = gap.factor_of(symbol) if symbol else None
            if factor is None or not factor.is_constant or not factor.terms:
                continue
            rest = gap - factor * Polynomial.symbol(symbol)
            bound = sizes.resolved(rest) if sizes.is_invariant(rest, loop) else None
            start = sizes.resolved(pace.start)
            if bound is not None and start is not None:
                first = floor(start, number(pace.base)) if is_next else start
                return Geometric(first, pace.base, pace.grows, factor.constant_part, bound)
    return None


@dataclass(frozen=True, slots=True)
class Pace:
    """A counter's start and base, and the symbol of its next value where that is one of its own."""

    start: Polynomial
    base: int
    grows: bool
    following: str


def pace_of(sizes: SizeForms, loop: Loop, phi: Instruction) -> Pace | None:
    """Return how a phi at a loop's header is multiplied or divided by a number, None where it isn't."""
    incoming = list(zip(phi.operands, phi.incoming, strict=True))
    entering = [value for value, block in incoming if block not in loop.blocks]
    latches = [value for value, block in incoming if block in loop.blocks]
    if len(entering) != 1 or len(latches) != 1:
        return None
    following = sizes.forms.assuming(phi, latches[0])
    start = sizes.forms.form(entering[0])
    itself = Polynomial.symbol(f"%{phi.name}")
    factor = following.factor_of(f"%{phi.name}")
    if factor is not None and factor.is_constant and factor.constant_part > 1:
        is_product = not (following - factor * itself).terms
        return Pace(start, factor.constant_part, True, "") if is_product else None
    symbol = next(iter(following.symbols), "")
    piece = sizes.forms.symbols.piece(symbol)
    if piece is None or following.terms != {(symbol,): 1} or len(piece.parts) != 2:
        return None
    dividend, divisor = piece.parts
    is_quotient = piece.kind is PieceKind.QUOTIENT and dividend.terms == itself.terms and divisor.is_constant
    return Pace(start, divisor.constant_part, False, symbol) if is_quotient and divisor.constant_part > 1 else None


def mean_of_counter(pace: Pace, sizes: SizeForms, runs: Expression) -> Expression | None:
    """Return the mean of a divided counter over the iterations of its loop, taken to end at 0."""
    start = sizes.resolved(pace.start)
    if start is None or pace.grows:
        return None
    sum_of_all = difference(product([number(pace.base), start]), ONE)
    return quotient(sum_of_all, product([number(pace.base - 1), maximum(ONE, runs)]))
