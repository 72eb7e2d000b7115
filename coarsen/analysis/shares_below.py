"""The share of work-items, or of iterations, that has a value below 0: comparisons with ids are made of it.

    id - n                                   min(n, global_size(0)) / global_size(0)
    y·local_size(0) + x - n, by local ids    a row of all work-items of a group
    group·4·local_size(0) + x - n            steps of four groups, each begun half on the mean

Where more than one id decides, and not so, the answer is that of a work-item in the middle (`means.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.size_forms import extent_of_id, without_queries
from coarsen.analysis.expressions import (
    ONE,
    ZERO,
    Expression,
    at_least_zero,
    ceiling,
    minimum,
    number,
    product,
    quotient,
    total,
)
from coarsen.analysis.means import Mean, Means, unit_of


class SharesBelow:
    """The shares of a kernel's values.

    Args:
        means: of the kernel.
    """

    def __init__(self, means: Means) -> None:
        self._means = means

    def of(self, gap: Polynomial, known: Mapping[str, Expression]) -> Mean | None:
        """Return the share of work-items, or iterations, for which a value is below 0.

        Args:
            gap: the value.
            known: the means of symbols that are neither ids nor iterations.
        """
        certain = self._of_remainder(self._means.sizes.expanded(gap))
        if certain is not None:
            return Mean(certain, False, True)
        gap = self._without_quotient(self._means.with_remainders(gap))
        rest, others = self._without(gap, known)
        value = self._means.sizes.resolved(rest)
        if value is None or others is None:
            return None
        varying = sorted(filter(self._means.varies, value.names))
        row = self._row(rest, [name for name in varying if extent_of_id(name) is not None])
        if row is not None:
            return self._below_in_row(*row, others)
        ids = [name for name in varying if extent_of_id(name) is not None]
        stepping = [name for name in ids if not (rest.factor_of(name) or rest).is_constant]
        if len(stepping) == 1 and len(ids) > 1:
            return self._below_in_steps(rest, stepping[0], others) or self._in_the_middle(total([value, others]))
        name = (*ids, *varying, "")[0]
        gain, extent = rest.factor_of(name), self._means.extent(name)
        if gain is None or not gain.is_constant or not gain.terms or extent is None:
            return self._in_the_middle(total([value, others]))
        inner = self._means.sizes.resolved(rest - gain * Polynomial.symbol(name))
        start = self._means.settled(inner)
        if start is None or inner is None or name in inner.names:
            return self._in_the_middle(total([value, others]))
        slope = gain.constant_part
        start = total([start, others])
        if slope < 0:  # counted from the other end
            start = total([start, product([number(slope), total([extent, number(-1)])])])
        below = product([number(-1), start])
        below = _rounded_up(below, abs(slope), is_mean=bool(known))
        share = quotient(minimum(extent, at_least_zero(below)), extent)
        return Mean(share, True, len(varying) == 1 and not known)

    def _row(self, gap: Polynomial, ids: list[str]) -> tuple[Polynomial, Polynomial, Expression] | None:
        """Several ids that number a value's work-items in a row, as y·width + x does.

        Returns:
            what they add to the value, what one of them more adds, and how many there are; None for any other ids.
        """
        if len(ids) < 2:
            return None
        first = next((name for name in ids if (gap.factor_of(name) or Polynomial({})).is_constant), None)
        gain = gap.factor_of(first) if first is not None else None
        if gain is None or gain.constant_part <= 0:
            return None
        unit, left, row, extents = gain, list(ids), Polynomial({}), list[Expression]()
        while left:
            name = next((name for name in left if _is_gained(gap, name, unit)), None)
            extent = extent_of_id(name) if name is not None else None
            count = self._means.sizes.resolved(extent) if extent is not None else None
            if name is None or extent is None or count is None:
                return None
            left.remove(name)
            extents.append(count)
            row = row - unit_of(gap, name)
            unit = without_queries(unit * extent)
        return gap - row, gain, product(extents)

    def _below_in_row(
        self, start: Polynomial, gain: Polynomial, extent: Expression, others: Expression
    ) -> Mean | None:
        """The share of a row's work-items for which a value is below 0."""
        resolved = self._means.sizes.resolved(start)
        settled = self._means.settled(resolved)
        if resolved is None or settled is None:
            return None
        below = product([number(-1), total([settled, others])])
        below = _rounded_up(below, gain.constant_part, is_mean=others != ZERO)
        is_exact = not any(map(self._means.varies, resolved.names)) and others == ZERO
        return Mean(quotient(minimum(extent, at_least_zero(below)), extent), True, is_exact)

    def _below_in_steps(self, gap: Polynomial, name: str, others: Expression) -> Mean | None:
        """The share for a value that one id changes by a size, such as a group's, and others within that."""
        gain, extent = gap.factor_of(name), self._means.extent(name)
        if gain is None or extent is None or min(gain.terms.values()) < 0:
            return None
        step = self._means.sizes.resolved(gain)
        start = self._means.settled(self._means.sizes.resolved(gap - gain * Polynomial.symbol(name)))
        if step is None or start is None or any(map(self._means.varies, step.names)):
            return None
        # The last step is begun half, on the mean.
        steps = total([quotient(product([number(-1), total([start, others])]), step), number(0.5)])
        return Mean(quotient(minimum(extent, at_least_zero(steps)), extent), True, False)

    def _in_the_middle(self, gap: Expression) -> Mean | None:
        """1 where a value is below 0 for a work-item in the middle, else 0."""
        settled = self._means.settled(gap)
        if settled is None:
            return None
        return Mean(minimum(ONE, at_least_zero(product([number(-1), settled]))), settled != gap, settled == gap)

    def _of_remainder(self, gap: Polynomial) -> Expression | None:
        """`x % w < w` is always true, `x % w >= w` never."""
        for symbol in gap.symbols:
            piece = self._means.sizes.quotient(symbol)
            if piece is not None:
                dividend, divisor = (self._means.sizes.expanded(part) for part in piece.parts)
                remainder = dividend - divisor * Polynomial.symbol(symbol)
                if not (gap - remainder + divisor).terms:
                    return ONE
                if (gap + remainder - divisor).terms == {(): -1}:
                    return ZERO
        return None

    def _without_quotient(self, gap: Polynomial) -> Polynomial:
        """`x / w < c` as x < c·w, `x / w > c` as x >= (c + 1)·w."""
        for symbol in gap.symbols:
            piece = self._means.sizes.quotient(symbol)
            factor = gap.factor_of(symbol)
            if piece is None or factor is None:
                continue
            dividend, divisor = piece.parts
            rest = gap - factor * Polynomial.symbol(symbol)
            if factor.terms == {(): 1}:
                return self._means.sizes.expanded(dividend) + rest * divisor
            if factor.terms == {(): -1}:
                above = (rest + Polynomial.constant(1)) * divisor - Polynomial.constant(1)
                return above - self._means.sizes.expanded(dividend)
        return gap

    def _without(self, gap: Polynomial, known: Mapping[str, Expression]) -> tuple[Polynomial, Expression | None]:
        """A value without what other symbols contribute, and the mean of that."""
        others: list[Expression] = []
        for symbol, mean in known.items():
            factor = gap.factor_of(symbol)
            resolved = self._means.sizes.resolved(factor) if factor is not None else None
            if factor is None or resolved is None:
                return gap, None
            gap = gap - factor * Polynomial.symbol(symbol)
            others.append(product([resolved, mean]))
        return gap, total(others)


def _rounded_up(distance: Expression, step: int, *, is_mean: bool) -> Expression:
    """Return how many steps a distance takes: of a mean, the mean of what is rounded up."""
    if not is_mean:
        return ceiling(distance, number(step))
    return quotient(total([distance, number((step - 1) / 2)]), number(step))


def _is_gained(gap: Polynomial, name: str, unit: Polynomial) -> bool:
    gain = gap.factor_of(name)
    return gain is not None and without_queries(gain).terms == unit.terms
