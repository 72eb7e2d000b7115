"""Means over the work-items of an NDRange, and over the iterations of loops, of what their ids decide.

    for (i = get_global_id(0); i < n; i += get_global_size(0))     n / global_size(0) times: exact
    for (j = 0; j < get_local_id(0); ++j)                          0.5·local_size(0) - 0.5 times: exact
    if (get_local_id(0) < 16)                                      16 / local_size(0) of the work-items: exact

Where more than one id decides, and not as above, the mean is taken to be that of a work-item in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.size_forms import REMAINDER, SizeForms, extent_of_id, with_means, without_queries
from coarsen.analysis.expressions import (
    ONE,
    Expression,
    at_least_zero,
    ceiling,
    difference,
    minimum,
    number,
    product,
    quotient,
    replaced,
    total,
)


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

    def steps_of(self, symbol: str) -> Expression | None:
        """Return how many values a symbol of an address takes over the launch: 1 for a size; None where
        nothing says, and for what more than one id decides."""
        value = self.sizes.resolved(Polynomial.symbol(symbol))
        if value is None:
            return None
        varying = {name: self.extent(name) for name in value.names if self.varies(name)}
        ends = {name: total([extent, number(-1)]) for name, extent in varying.items() if extent is not None}
        if len(ends) < len(varying) or len(varying) > 1:
            return None
        return total([replaced(value, ends), ONE]) if varying else ONE

    def ids_of(self, symbol: str) -> frozenset[str]:
        """Return the ids and iterations that a symbol is computed from, none where it isn't known."""
        value = self.sizes.resolved(Polynomial.symbol(symbol))
        return frozenset() if value is None else frozenset(filter(self.varies, value.names))

    def settled(self, expression: Expression | None) -> Expression | None:
        """Return an expression with ids and iterations at their means; None where one has none."""
        if expression is None:
            return None
        varying = {name for name in expression.names if self.varies(name)}
        extents = {name: extent for name in varying if (extent := self.extent(name)) is not None}
        return with_means(expression, extents) if len(extents) == len(varying) else None

    def varies(self, name: str) -> bool:
        """Return True for an id, an iteration, and the remainder of one."""
        return extent_of_id(name) is not None or name in self.sizes.counters or name.startswith(REMAINDER)

    def with_remainders(self, polynomial: Polynomial) -> Polynomial:
        """Return a polynomial with x - c·(x / c) of ids x as one symbol, whose values are 0 to c - 1."""
        polynomial = self.sizes.expanded(polynomial)
        # Quotients of quotients first: what they are made of is then found as it was.
        for symbol in sorted(polynomial.symbols, key=lambda symbol: (-self.sizes.depth(symbol), symbol)):
            piece = self.sizes.quotient(symbol)
            factor = polynomial.factor_of(symbol)
            if piece is None or factor is None:
                continue
            dividend, divisor = (self.sizes.expanded(part) for part in piece.parts)
            times = (factor * Polynomial.constant(-1)).divided(divisor)
            extent = self.sizes.resolved(divisor)
            if times is None or not times.is_constant or extent is None or not self.ids_of(symbol):
                continue
            name = f"{REMAINDER}{symbol}"
            self.extents[name] = extent
            rest = polynomial - factor * Polynomial.symbol(symbol) - times * dividend
            polynomial = rest + times * Polynomial.symbol(name)
        return polynomial

    def steps(self, distance: Polynomial, step: Polynomial) -> Expression | None:
        """Return the mean of how many steps it takes to go a distance, none for a negative one.

        Args:
            distance: to be gone, of a work-item.
            step: the size of a step, above 0.
        """
        distance, step = self.with_remainders(distance), self.sizes.expanded(step)
        size, way = self.sizes.resolved(step), self.sizes.resolved(distance)
        if size is None or way is None or any(map(self.varies, size.names)):
            return None
        varying = sorted(filter(self.varies, way.names))
        if not varying:
            return at_least_zero(ceiling(way, size))
        shared = self._shared_out(distance, step, varying)
        if shared is not None:
            return shared
        if len(varying) == 1 and varying[0] in distance.symbols:
            summed = self._series(distance, varying[0])
            if summed is not None:
                rest = product([number(0.5), total([size, number(-1)])])  # a step is begun before it is needed
                return summed if size == ONE else quotient(total([summed, rest]), size)
        middle = self.settled(way)
        return None if middle is None else at_least_zero(ceiling(middle, size))

    def _shared_out(self, distance: Polynomial, step: Polynomial, varying: list[str]) -> Expression | None:
        """The mean where work-items together go every place just once: i = id; i < n; i += number of ids."""
        size = math.gcd(*step.terms.values())
        found = self.in_a_row(Polynomial({}) - distance, varying, Polynomial.constant(size))
        if found is None:
            return None
        taken, unit, shares = found
        rest = distance + taken
        whole = self.sizes.resolved(rest)
        if whole is None or without_queries(step).terms != unit.terms or any(map(self.varies, whole.names)):
            return None
        return quotient(at_least_zero(ceiling(whole, number(size))), product(shares))

    def in_a_row(
        self, form: Polynomial, names: Iterable[str], unit: Polynomial
    ) -> tuple[Polynomial, Polynomial, list[Expression]] | None:
        """Find ids that number a value's work-items in a row, as y·width + x does.

        Args:
            form: the value.
            names: the ids.
            unit: what one of them more adds.

        Returns:
            what they add to the value, what a whole row adds, how many there are of each; None for any other ids.
        """
        left, row, counts = list(names), Polynomial({}), list[Expression]()
        while left:
            name = next((name for name in left if _is_gained(form, name, unit)), None)
            extent = extent_of_id(name) if name is not None else None
            count = self.sizes.resolved(extent) if extent is not None else None
            if name is None or extent is None or count is None:
                return None
            left.remove(name)
            counts.append(count)
            row = row + (form.factor_of(name) or Polynomial({})) * Polynomial.symbol(name)
            unit = without_queries(unit * extent)
        return row, unit, counts

    def _series(self, distance: Polynomial, name: str) -> Expression | None:
        """The mean of max(0, distance) over one id: of an arithmetic series that ends at 0."""
        gain = distance.factor_of(name)
        extent = self.extent(name)
        if gain is None or not gain.is_constant or extent is None:
            return None
        slope = gain.constant_part
        start = self.sizes.resolved(distance - gain * Polynomial.symbol(name))
        if start is None or any(map(self.varies, start.names)):
            return None
        if slope > 0:  # counted from the other end
            start = total([start, product([number(slope), total([extent, number(-1)])])])
        steep = number(abs(slope))
        terms = minimum(extent, at_least_zero(ceiling(start, steep)))
        falling = product([number(abs(slope) / 2), terms, total([terms, number(-1)])])
        return quotient(difference(product([terms, start]), falling), extent)


def _is_gained(form: Polynomial, name: str, unit: Polynomial) -> bool:
    gain = form.factor_of(name)
    return gain is not None and without_queries(gain).terms == unit.terms
