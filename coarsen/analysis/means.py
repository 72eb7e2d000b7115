"""Means over the work-items of an NDRange, and over the iterations of loops, of what their ids decide.

    for (i = get_global_id(0); i < n; i += get_global_size(0))     n / global_size(0) times: exact
    for (j = 0; j < get_local_id(0); ++j)                          0.5·local_size(0) - 0.5 times: exact
    if (get_local_id(0) < 16)                                      16 / local_size(0) of the work-items: exact

Where more than one id decides, and not as above, the mean is taken to be that of a work-item in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.analysis.expressions import (
    ONE,
    ZERO,
    Expression,
    ceiling,
    difference,
    maximum,
    minimum,
    number,
    product,
    quotient,
    total,
)
from coarsen.analysis.polynomial import Polynomial
from coarsen.analysis.size_forms import SizeForms, extent_of_id, with_means, without_queries


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, and whether it is exact for sizes that leave nothing over."""

    value: Expression
    varies: bool
    is_exact: bool


class Means:
    """Means of a kernel's values.

    Args:
        sizes: the kernel's values as expressions.
        extents: how many values each iteration of a loop that is followed has, by the iteration's symbol.
    """

    def __init__(self, sizes: SizeForms, extents: dict[str, Expression]) -> None:
        self.sizes = sizes
        self.extents = extents

    def extent(self, name: str) -> Expression | None:
        """Return how many values an id or an iteration has; None for another name, and where it isn't known."""
        extent = extent_of_id(name)
        return self.sizes.resolved(extent) if extent is not None else self.extents.get(name)

    def settled(self, expression: Expression | None) -> Expression | None:
        """Return an expression with ids and iterations at their means; None where one has none."""
        if expression is None:
            return None
        varying = {name for name in expression.names if self._varies(name)}
        extents = {name: extent for name in varying if (extent := self.extent(name)) is not None}
        return with_means(expression, extents) if len(extents) == len(varying) else None

    def _varies(self, name: str) -> bool:
        return extent_of_id(name) is not None or name in self.sizes.counters

    def steps(self, distance: Polynomial, step: Polynomial) -> Mean | None:
        """Return the mean of how many steps it takes to go a distance, none for a negative one.

        Args:
            distance: to be gone, of a work-item.
            step: the size of a step, above 0.
        """
        distance, step = self.sizes.expanded(distance), self.sizes.expanded(step)
        size, way = self.sizes.resolved(step), self.sizes.resolved(distance)
        if size is None or way is None or any(map(self._varies, size.names)):
            return None
        varying = sorted(filter(self._varies, way.names))
        if not varying:
            return Mean(_positive(ceiling(way, size), distance), False, True)
        shared = self._shared_out(distance, step, varying)
        if shared is not None:
            return Mean(shared, True, True)
        if len(varying) == 1 and varying[0] in distance.symbols:
            summed = self._in_a_row(distance, varying[0])
            if summed is not None:
                rest = product([number(0.5), total([size, number(-1)])])  # a step is begun before it is needed
                value = summed if size == ONE else quotient(total([summed, rest]), size)
                return Mean(value, True, size == ONE)
        middle = self.settled(way)
        return None if middle is None else Mean(maximum(ZERO, ceiling(middle, size)), True, False)

    def _shared_out(self, distance: Polynomial, step: Polynomial, varying: list[str]) -> Expression | None:
        """The mean where work-items together go every place just once: i = id; i < n; i += number of ids."""
        unit, left, rest = Polynomial.constant(1), dict.fromkeys(varying), distance
        shares: list[Expression] = []
        while left:
            following = next((name for name in left if _is_taken(distance, name, unit)), None)
            extent = extent_of_id(following) if following is not None else None
            if following is None or extent is None:
                return None
            del left[following]
            rest = rest + unit_of(distance, following)
            unit = without_queries(unit * extent)
            shares.extend(part for part in (self.sizes.resolved(extent),) if part is not None)
        whole = self.sizes.resolved(rest)
        if whole is None or without_queries(step).terms != unit.terms or any(map(self._varies, whole.names)):
            return None
        return quotient(_positive(whole, rest), _joined(shares, self.sizes.resolved(step)))

    def _in_a_row(self, distance: Polynomial, name: str) -> Expression | None:
        """The mean of max(0, distance) over one id: of an arithmetic series that ends at 0."""
        gain = distance.factor_of(name)
        extent = self.extent(name)
        if gain is None or not gain.is_constant or extent is None:
            return None
        slope = gain.constant_part
        start = self.sizes.resolved(distance - gain * Polynomial.symbol(name))
        if start is None or any(map(self._varies, start.names)):
            return None
        if slope > 0:  # counted from the other end
            start = total([start, product([number(slope), total([extent, number(-1)])])])
        steep = number(abs(slope))
        terms = minimum(extent, maximum(ZERO, ceiling(start, steep)))
        falling = product([number(abs(slope) / 2), terms, total([terms, number(-1)])])
        return quotient(difference(product([terms, start]), falling), extent)

    def share_below(self, gap: Polynomial) -> Mean | None:
        """Return the share of work-items, or iterations, for which a value is below 0."""
        gap = self.sizes.expanded(gap)
        value = self.sizes.resolved(gap)
        if value is None:
            return None
        varying = sorted(filter(self._varies, value.names))
        name = next((name for name in varying if extent_of_id(name) is not None), varying[0] if varying else "")
        gain = gap.factor_of(name) if name else None
        extent = self.extent(name)
        if gain is None or not gain.is_constant or gain.constant_part == 0 or extent is None:
            settled = self.settled(value)
            below = None if settled is None else minimum(ONE, maximum(ZERO, product([number(-1), settled])))
            return None if below is None else Mean(below, bool(varying), not varying)
        start = self.settled(self.sizes.resolved(gap - gain * Polynomial.symbol(name)))
        if start is None:
            return None
        slope = gain.constant_part
        if slope < 0:  # counted from the other end
            start = total([start, product([number(slope), total([extent, number(-1)])])])
        below = ceiling(product([number(-1), start]), number(abs(slope)))
        return Mean(quotient(minimum(extent, maximum(ZERO, below)), extent), True, len(varying) == 1)


def _positive(value: Expression, polynomial: Polynomial) -> Expression:
    """A value, or 0 for a negative one; sizes are never negative."""
    return value if all(factor >= 0 for factor in polynomial.terms.values()) else maximum(ZERO, value)


def unit_of(distance: Polynomial, name: str) -> Polynomial:
    """Return what a name contributes to a distance that it shortens."""
    gain = distance.factor_of(name) or Polynomial({})
    return Polynomial({}) - gain * Polynomial.symbol(name)


def _is_taken(distance: Polynomial, name: str, unit: Polynomial) -> bool:
    gain = distance.factor_of(name)
    return gain is not None and without_queries(Polynomial({}) - gain).terms == unit.terms


def _joined(shares: list[Expression], step: Expression | None) -> Expression:
    return step if step is not None and len(shares) > 1 else product(shares)
