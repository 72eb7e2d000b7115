"""Which accesses neighbouring work-items can make to neighbouring elements: Algorithm 1 of the paper, section 5.2.

For the accesses without higher-order reuse, all of them first, then subsets, the largest first, a time for each
statement is asked for that keeps all dependences (2) and is the same for neighbouring elements (3), and a place
that is one further for the next element (4). What no solution serves has to be copied to local memory. Beyond the
paper, neighbours must have all other places in common, or they would stand in different rows of a work-group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, product
from typing import Literal

import islpy as isl
import numpy as np

from coarsen.loops.dependences import Dependence
from coarsen.loops.nest import Access, Coefficients, Nest, Statement, reuse_of
from coarsen.loops.schedules import Band, Piece, Rows, Unknowns, in_one_step

MOST_REFERENCES = 8
"""The most accesses of which all subsets are tried; where there are more, those of the first."""


@dataclass(frozen=True)
class Reference:
    """An access of a statement."""

    statement: str
    access: Access


@dataclass(frozen=True)
class Transformation:
    """What Algorithm 1 found for a launch.

    Attributes:
        served: the accesses whose neighbouring elements neighbouring work-items reach at the same time.
        copied: those without higher-order reuse for which that can't be.
        times: by statement, the coefficients of its iterators in each sequential loop, none where all instances
            may run at once. Where no time of one dimension keeps all dependences, they are those of isl's band.
        places: by statement, coefficients of its iterators for each dimension of the NDRange, the innermost, 0,
            first.
        is_one_dimensional: whether a time of one dimension keeps all dependences.
        left_out: how many accesses were not tried, since there were more than `MOST_REFERENCES`.
    """

    served: tuple[Reference, ...]
    copied: tuple[Reference, ...]
    times: Mapping[str, Rows]
    places: Mapping[str, Rows]
    is_one_dimensional: bool = True
    left_out: int = 0


def transformation(nest: Nest, found: Sequence[Dependence], piece: Piece) -> Transformation:
    """Return the time and the places of a launch's statements, and which accesses they serve.

    What stays the same in the launch, the sequential loops around it, is fixed.
    """
    return _Question(nest, found, piece).answer()


def rows_around(piece: Piece, name: str) -> Rows:
    """Return the coefficients of a statement's iterators in the sequential loops around a launch."""
    found: list[Coefficients] = []
    for band in piece.around:
        found += [row for row in band.rows[name] if adds_a_dimension(found, row)]
    return tuple(found)


class _Question:
    def __init__(self, nest: Nest, found: Sequence[Dependence], piece: Piece) -> None:
        self._nest, self._piece = nest, piece
        self._statements = [nest.statement(name) for name in piece.statements]
        self._around = {each.name: rows_around(piece, each.name) for each in self._statements}
        self._fixed: dict[str, list[str]] = {}
        for each in self._statements:
            counted = [_iterators_in(each, [row]) for row in self._around[each.name]]
            self._fixed[each.name] = [names[0] for names in counted if len(names) == 1]
        self._times = Unknowns(nest, self._statements, self._fixed)
        self._kept = self._times.all
        for dependence in found:
            if {dependence.source, dependence.sink} <= {*piece.statements}:
                ends = nest.statement(dependence.source), nest.statement(dependence.sink)
                relation = isl.Map(dependence.relation).intersect(in_one_step(piece.around, *ends))
                if not relation.is_empty():
                    self._kept = self._kept.intersect(self._times.distance(relation, 1))
        # Writes first: where not both can be had, stores count for more. An element that is read and written is
        # asked for once.
        self._candidates: list[Reference] = []
        for each in self._statements:
            for access in (*each.writes, *each.reads):
                is_higher = reuse_of(access, each, self._around[each.name]).is_higher_order
                is_wanted = access.subscripts and not is_higher and not nest.arrays[access.array].is_scalar
                if is_wanted and Reference(each.name, access) not in self._candidates:
                    self._candidates.append(Reference(each.name, access))

    def answer(self) -> Transformation:
        solved = next(self._solutions(), None)
        served, times, places = solved or ([], *self._of_the_band())
        copied = tuple(each for each in self._candidates if each not in served)
        left_out = max(0, len(self._candidates) - MOST_REFERENCES)
        return Transformation(tuple(served), copied, times, places, solved is not None, left_out)

    def _solutions(self) -> Iterator[tuple[list[Reference], Mapping[str, Rows], Mapping[str, Rows]]]:
        """Yield accesses that can be served, the most first, with the times and the places that serve them."""
        every = ((each, self._adjacent(each)) for each in self._candidates[:MOST_REFERENCES])
        reachable = [(each, pairs) for each, pairs in every if not pairs.is_empty()]
        same_time = [_at_distance(self._times, pairs, 0) for _, pairs in reachable]
        for count in range(len(reachable), -1, -1):
            for numbers in combinations(range(len(reachable)), count):
                wanted = reduce(isl.Set.intersect, (same_time[number] for number in numbers), self._kept)
                solved = self._times.simplest(wanted)
                if solved is not None:
                    # None where a time is the same in the whole launch.
                    is_loop = {name: adds_a_dimension(self._around[name], row) for name, row in solved.items()}
                    times = {name: (row,) if is_loop[name] else () for name, row in solved.items()}
                    chosen = [reachable[number] for number in numbers]
                    places = self._places(times, chosen)
                    if places is not None:
                        yield [each for each, _ in chosen], times, places

    def _of_the_band(self) -> tuple[Mapping[str, Rows], Mapping[str, Rows]]:
        """The loops of isl's band: those that are not parallel as times, the others as places."""
        times, places = {}, {}
        for statement in self._statements:
            rows = list(_rows_inside(self._piece.band, statement.name))
            times[statement.name] = tuple(row for row, is_parallel in rows if not is_parallel)
            parallel = [row for row, is_parallel in rows if is_parallel]
            units = [row for row in self._units(statement) if row in parallel]
            places[statement.name] = (*units, *(row for row in parallel if row not in units))
        return times, places

    def _adjacent(self, reference: Reference) -> isl.Map:
        """Pairs of instances of which the second reaches the next element: the premise of (3)."""
        statement = self._nest.statement(reference.statement)
        access = isl.Map(self._nest.access(statement, reference.access))
        access = access.intersect_domain(isl.Set(self._nest.domain(statement)))
        indices = ", ".join(f"x{number}" for number in range(len(reference.access.subscripts)))
        array = reference.access.array
        following = isl.Map(f"{{ {array}[{indices}] -> {array}[{indices} + 1] }}")
        pairs = access.apply_range(following).apply_range(access.reverse())
        return pairs.intersect(in_one_step(self._piece.around, statement, statement))

    def _places(
        self, times: Mapping[str, Rows], chosen: Sequence[tuple[Reference, isl.Map]]
    ) -> dict[str, Rows] | None:
        """The places of each statement, the innermost first; None if the chosen accesses can't be served."""
        found: dict[str, Rows] = {}
        for statement in self._statements:
            name = statement.name
            own = [adjacent for reference, adjacent in chosen if reference.statement == name]
            taken = [*self._around[name], *times[name]]
            rows: list[Coefficients] = []
            if own:
                unknowns = Unknowns(self._nest, [statement], self._fixed)
                steps = (_at_distance(unknowns, pairs, 1) for pairs in own)
                solved = unknowns.simplest(reduce(isl.Set.intersect, steps))
                if solved is None or not adds_a_dimension(taken, solved[name]):
                    return None
                rows.append(solved[name])
            # Neighbours along the innermost dimension are the same along all others: rows of one iterator, then
            # all others from -1 to 1, the smallest first.
            every = product((0, 1, -1), repeat=len(statement.iterators))
            others = sorted(every, key=lambda row: (sum(map(abs, row)), row.count(-1)))
            for row in (*self._units(statement), *others):
                if adds_a_dimension([*taken, *rows], row):
                    value = statement.values([row])
                    if all(pairs.is_subset(value.apply_range(value.reverse())) for pairs in own):
                        rows.append(row)
            if len(taken) + len(rows) < len(statement.iterators):
                return None
            found[name] = tuple(rows)
        return found

    def _units(self, statement: Statement) -> list[Coefficients]:
        """The rows of one iterator, those first along which the most accesses go to the next element."""

        def rank(name: str) -> tuple[int, int]:
            following = sum(is_next_along(each, name) for each in statement.accesses)
            return -following, -statement.iterators.index(name)

        names = [name for name in statement.iterators if name not in self._fixed[statement.name]]
        return [tuple(int(name == other) for other in statement.iterators) for name in sorted(names, key=rank)]


def _at_distance(unknowns: Unknowns, pairs: isl.Map, distance: int) -> isl.Set:
    """The functions that are as much further, no less and no more, for the second of all pairs."""
    return unknowns.distance(pairs, distance).intersect(unknowns.distance(pairs, distance, -1))


def _rows_inside(band: Band, name: str) -> Iterator[tuple[Coefficients, bool]]:
    """The loops of a statement in a band and below, each with whether it is parallel."""
    yield from zip(band.rows.get(name, ()), band.coincident, strict=False)
    for each in band.below:
        yield from _rows_inside(each, name)


def is_next_along(access: Access, iterator: str) -> bool:
    """Return True for an access that is to the next element when an iterator grows by 1."""
    column = [row[0] for row in access.matrix([iterator])]
    return column == [*[0] * (len(column) - 1), 1]


def _iterators_in(statement: Statement, rows: Sequence[Coefficients]) -> list[str]:
    """The iterators that have a coefficient in one of the rows."""
    return [name for place, name in enumerate(statement.iterators) if any(row[place] for row in rows)]


def adds_a_dimension(rows: Sequence[Coefficients], row: Coefficients) -> bool:
    """Return True for a row that is no combination of others."""
    if not any(row):
        return False
    return not rows or bool(np.linalg.matrix_rank(np.array([*rows, row])) > np.linalg.matrix_rank(np.array(rows)))


# Where the arrays of a launch are best kept, and why: sections 5.2 and 5.4.

Memory = Literal["direct", "local", "constant", "register"]


@dataclass(frozen=True)
class Placement:
    """Where a statement's accesses of an array go, and the reason as a clause."""

    statement: str
    array: str
    memory: Memory
    reason: str


def placements(nest: Nest, piece: Piece, found: Transformation) -> Iterator[Placement]:
    """Yield where each array of a launch is best kept, by what Algorithm 1 says of the launch."""
    for name in piece.statements:
        statement = nest.statement(name)
        for array in dict.fromkeys(access.array for access in statement.accesses if access.subscripts):
            yield Placement(name, array, *_memory(nest, statement, array, rows_around(piece, name), found))


def _memory(
    nest: Nest, statement: Statement, array: str, around: Rows, found: Transformation
) -> tuple[Memory, str]:
    """The memory for a statement's accesses of an array, and the reason."""
    own = [access for access in statement.accesses if access.array == array]
    reuses = [reuse_of(access, statement, around) for access in own]
    used = {each for access in own for form in access.subscripts for each in form.symbols}
    spread, inner = (_iterators_in(statement, rows[statement.name]) for rows in (found.places, found.times))
    is_written = any(access.array == array for each in nest.statements for access in each.writes)
    if nest.arrays[array].is_scalar:
        return "register", "each work-item has its own"
    if any(each.statement == statement.name and each.access in own for each in found.copied):
        return "local", "no legal order has neighbours at neighbouring elements"
    if not all(each.is_higher_order for each in reuses):
        count = max(each.neighbours for each in reuses)
        border = f"; {count} accesses differ by numbers: a copy with its border may pay" if count > 1 else ""
        return "direct", f"neighbours are at neighbouring elements{border}"
    if not is_written and not used & {*spread}:
        return "constant", "it is only read, by all work-items the same at a time"
    if inner and not used & {*inner}:
        return "register", f"a work-item has its own, the same along {', '.join(inner)}"
    along = dict.fromkeys(each for reuse in reuses for each in reuse.redundant)
    return "local", f"elements are used again along {' and '.join(along) or 'a combination of loops'}"
