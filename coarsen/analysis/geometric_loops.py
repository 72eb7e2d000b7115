"""Loops whose counter is multiplied or divided each time: `s >>= 1`, `s /= 2`, `s *= 2`, `s <<= 1`.

With s from a start on and a base b, and whole sizes:

    s > c, divided by b      ⌊log_b(⌊start / (c + 1)⌋)⌋ + 1 iterations, exact
    s < c, multiplied by b   ⌊log_b(⌈c / start⌉ - 1)⌋ + 1 iterations, exact
    mean of s over n of them, divided by b down to 0: (b·start - 1) / ((b - 1)·n), exact for a power of b
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.predict.symbols import PieceKind
from coarsen.analysis.algebra.size_forms import SizeForms
from coarsen.analysis.control_flow import Loop
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
from coarsen.analysis.means import Mean, Means
from coarsen.ir.kernel import Instruction


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

    def passed(self, means: Means, relation: str) -> Mean | None:
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
        runs = total([count, ONE])
        settled = means.settled(runs)
        return None if settled is None else Mean(settled, settled != runs, settled == runs)


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
