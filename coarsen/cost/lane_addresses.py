"""The lanes of a sub-group: which work-items they are at a coarsening, and the address of each lane's access.

    local size 16x16, 32 lanes     lane 17 is work-item (1, 1)
    factor 4, stride 2, replica 1  local id 3 stands for local id (3 / 2)·8 + 3 % 2 + 2 = 11

Lanes are numbered as all vendors do: dimension 0 first, sub-groups one after the other. Of the form of an access:

    data[get_global_id(1) * width + get_global_id(0)], 4 bytes, 32 lanes along dimension 0

    lane 5      20 + 4·start(0) + 4·width·group_id(1)·get_local_size(1)
    offsets     0, 4, 8, … 124; where the first of them stands is a multiple of 4 that nobody knows

A form may hold values that move with ids as long as no edge is met: `min(id, n - 1)`, `id / width`. Such addresses
are those away from edges, and are said not to be exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.algebra.symbols import Piece, PieceKind, answer, queried
from coarsen.errors import InvalidInputError
from coarsen.ir.opencl.queries import Query
from coarsen.variant.coarsening import Coarsening, Level

Place = tuple[int, int, int]
_DIMENSIONS = range(3)
_FIRST: Place = (0, 0, 0)
# More than any work-group has; a larger one, given by mistake, is not walked through.
_MOST_SUB_GROUPS = 64
# Values that move as what they are made of does, wherever a work-item stands.
_MOVING = frozenset({PieceKind.CARRIED, PieceKind.LEFT, PieceKind.TRIPS})
_SIZES = (Query.LOCAL_SIZE, Query.ENQUEUED_LOCAL_SIZE)


@dataclass(frozen=True, slots=True)
class LaneItem:
    """A work-item of the original launch that a lane stands for.

    Attributes:
        local: its local ids.
        group: how many groups further on it is than the first of those that were merged.
    """

    local: Place
    group: Place = (0, 0, 0)


def lane_places(local_size: Place, lanes: int, first: int = 0) -> tuple[Place, ...]:
    """Return the local ids of the lanes of a sub-group; fewer than `lanes` at the end of the work-group.

    Args:
        local_size: of the launch, in work-items.
        lanes: of a full sub-group.
        first: the number of the first lane in the work-group.
    """
    width, height, depth = local_size
    end = min(first + lanes, width * height * depth)
    return tuple((n % width, n // width % height, n // (width * height)) for n in range(first, end))


def uncoarsened_size(local_size: Place, coarsenings: Sequence[Coarsening]) -> Place:
    """Return the local size of the original launch for one of the coarsened kernel."""
    sizes = list(local_size)
    for each in coarsenings:
        if each.level is Level.ITEM:
            sizes[each.dimension] *= each.factor
    return sizes[0], sizes[1], sizes[2]


def coarsened_size(local_size: Place, coarsenings: Sequence[Coarsening]) -> Place:
    """Return the local size of the coarsened launch for one of the original kernel.

    Raises:
        InvalidInputError: a factor does not divide it, or a stride what is left.
    """
    sizes = list(local_size)
    for each in coarsenings:
        if each.level is Level.ITEM:
            size = sizes[each.dimension]
            if size % (each.factor * each.stride):
                raise InvalidInputError(
                    f"a local size of {size} along dimension {each.dimension} can't be divided for {each}"
                )
            sizes[each.dimension] = size // each.factor
    return sizes[0], sizes[1], sizes[2]


_Values = dict[tuple[str, LaneItem], Polynomial | None]


@dataclass(frozen=True, slots=True)
class LaneAddresses:
    """The addresses of lanes.

    Attributes:
        places: the bytes from where the variable starts to each lane's access, less what nobody knows.
        grain: what nobody knows, and what other sub-groups begin further on, is a multiple of this many bytes, the
            same for all lanes; 0 where there is none.
        is_exact: False where they are those away from edges.
    """

    places: tuple[int, ...]
    grain: int
    is_exact: bool

    @property
    def offsets(self) -> tuple[int, ...]:
        """The bytes from the first lane's access to each."""
        return tuple(place - self.places[0] for place in self.places)


class Lanes:
    """The lanes of the first sub-group of a work-group, whose shape stands for all, and what forms are for them.

    Args:
        forms: of the original kernel.
        coarsenings: that the lanes' work-items are merged by.
        lanes: of a sub-group.
        local_size: of the coarsened launch; None where it isn't known: then lanes stand along dimension 0.
    """

    def __init__(
        self,
        forms: IndexForms,
        coarsenings: Sequence[Coarsening] = (),
        lanes: int = 32,
        local_size: Place | None = None,
    ) -> None:
        self._symbols, self._kernel = forms.symbols, forms.kernel
        self._coarsenings = tuple(coarsenings)
        size = local_size or (lanes, 1, 1)
        self.places = lane_places(size, lanes)
        self._other_starts = lane_places(size, (_MOST_SUB_GROUPS - 1) * lanes, lanes)[::lanes]
        known = uncoarsened_size(local_size, coarsenings) if local_size else None
        self._sizes = known
        # Sub-groups begin at multiples of their lanes along dimension 0 where no size is known.
        self._apart = known or (uncoarsened_size((lanes, 1, 1), coarsenings)[0], 1, 1)
        self._values: _Values = {}
        self._inexact: set[str] = set()

    def addresses(self, form: Polynomial) -> LaneAddresses | None:
        """Return the addresses of an access; None where lanes are no known number of bytes apart.

        Args:
            form: of the access, without where its variable starts.
        """
        found = [self.value(form, self.item(place)) for place in self.places]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return None
        rest = known[0] - Polynomial.constant(known[0].constant_part)
        if any((each - rest).number is None for each in known):
            return None
        grain = math.gcd(*rest.terms.values(), *self._steps(form, known[0]))
        exact = self._inexact.isdisjoint(self._symbols.origins(form))
        return LaneAddresses(tuple(each.constant_part for each in known), grain, exact)

    def _steps(self, form: Polynomial, first: Polynomial) -> Iterator[int]:
        """Yield the numbers of bytes by which the work-group's other sub-groups begin further on."""
        for place in self._other_starts:
            start = self.value(form, self.item(place))
            yield from (start - first).terms.values() if start is not None else (1,)

    def gain(self, form: Polynomial, place: Place, replicas: Sequence[int] | None = None) -> Polynomial | None:
        """Return the bytes from the first lane's access to another's; None where they aren't the same everywhere.

        Args:
            form: of the access.
            place: the other's local ids in the coarsened launch.
            replicas: the number of its replica of each coarsening; the first lane's are the first ones.
        """
        first, other = self.value(form, self.item(_FIRST)), self.value(form, self.item(place, replicas))
        return None if first is None or other is None else other - first

    def item(self, place: Place, replicas: Sequence[int] | None = None) -> LaneItem:
        """Return the original work-item that a replica of a coarsened one stands for.

        Args:
            place: local ids in the coarsened launch.
            replicas: the number of the replica, from 0, of each coarsening; None for the first ones.
        """
        local, group = list(place), [0, 0, 0]
        numbers = replicas or [0] * len(self._coarsenings)
        for each, replica in reversed(list(zip(self._coarsenings, numbers, strict=True))):
            if each.level is Level.GROUP:
                group[each.dimension] = group[each.dimension] * each.factor + replica
            else:
                whole, rest = divmod(local[each.dimension], each.stride)
                local[each.dimension] = whole * each.stride * each.factor + rest + replica * each.stride
        return LaneItem((local[0], local[1], local[2]), (group[0], group[1], group[2]))

    def value(self, form: Polynomial, item: LaneItem) -> Polynomial | None:
        """Return a form for a work-item: over what is the same for all lanes; None where that isn't known."""
        found = {symbol: self._value(symbol, item) for symbol in form.symbols}
        known = {symbol: value for symbol, value in found.items() if value is not None}
        return form.replaced(known.__getitem__) if len(known) == len(found) else None

    def _value(self, symbol: str, item: LaneItem) -> Polynomial | None:
        key = symbol, item
        if key not in self._values:
            query, piece = queried(symbol), self._symbols.piece(symbol)
            if query is not None:
                self._values[key] = self._answer(symbol, *query, item)
            elif piece is not None and piece.kind is PieceKind.QUOTIENT:
                quotient = self._quotient(piece, item)
                self._values[key] = self._moved(symbol, piece, item) if quotient is None else quotient
            else:
                self._values[key] = self._moved(symbol, piece, item)
        return self._values[key]

    def _answer(self, symbol: str, query: Query, dimension: int, item: LaneItem) -> Polynomial:
        further = Polynomial.constant(item.group[dimension])
        if query in _SIZES:
            return self._size(dimension)
        if query is Query.LOCAL_ID:
            return Polynomial.constant(item.local[dimension])
        if query is Query.GROUP_ID:
            return Polynomial.symbol(symbol) + further
        if query is Query.GLOBAL_ID:
            start = Polynomial.symbol(f"start({dimension})").scaled(self._apart[dimension])
            return start + self._size(dimension) * further + Polynomial.constant(item.local[dimension])
        return Polynomial.symbol(symbol)

    def _size(self, dimension: int) -> Polynomial:
        if self._sizes is not None:
            return Polynomial.constant(self._sizes[dimension])
        return answer(Query.LOCAL_SIZE, dimension)

    def _quotient(self, piece: Piece, item: LaneItem) -> Polynomial | None:
        """Divide what is no less than 0 by a number of which all that isn't known is a multiple."""
        dividend, divisor = (self.value(part, item) for part in piece.parts)
        by = divisor.number if divisor is not None else None
        if dividend is None or not by or by < 0 or dividend.constant_part < 0:
            return None
        whole = Polynomial({product: c for product, c in dividend.terms.items() if product})
        exact = whole.divided(Polynomial.constant(by))
        return None if exact is None else exact + Polynomial.constant(dividend.constant_part // by)

    def _moved(self, symbol: str, piece: Piece | None, item: LaneItem) -> Polynomial | None:
        """Return a value as it is for the first lane, and what it gains on the way to another."""
        moves = {d: item.local[d] for d in _DIMENSIONS if item.local[d]}
        itself = Polynomial.symbol(symbol)
        computed = self._kernel.definition.get(symbol[1:]) if symbol.startswith("%") else None
        if any(item.group) and (piece is not None or (computed is not None and computed.opcode != "alloca")):
            return None
        total = itself
        for dimension, distance in moves.items():
            gain = self._symbols.difference(itself, dimension)
            if gain is None or any(self._symbols.difference(gain, each) != ZERO for each in moves):
                return None
            total = total + gain.scaled(distance)
        is_moving = piece is None or piece.kind in _MOVING
        if not is_moving and moves and (total != itself or (piece and piece.kind is PieceKind.QUOTIENT)):
            self._inexact.add(symbol)
        return total
