"""Which accesses neighbouring work-items can make to neighbouring elements: Algorithm 1 of the paper, section 5.2.

For the accesses without higher-order reuse, all of them first, then subsets, the largest first, a time for each
statement is asked for that keeps all dependences (2) and is the same for neighbouring elements (3), and a place
that is one further for the next element (4). What no solution serves has to be copied to local memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import islpy as isl
import numpy as np

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.loops.dependences import Dependence
from coarsen.loops.nest import Access, Nest, Reuse, Statement, affine_text, reuse_of
from coarsen.loops.schedules import Piece, Unknowns

MOST_REFERENCES = 8
"""Of so many accesses all subsets are tried; of more, the subsets of the first."""

Coefficients = tuple[int, ...]


@dataclass(frozen=True)
class Reference:
    """An access of a statement."""

    statement: str
    access: Access
    is_write: bool = False


@dataclass(frozen=True)
class Transformation:
    """What Algorithm 1 found for a launch.

    Attributes:
        served: the accesses whose neighbouring elements neighbouring work-items reach at the same time.
        copied: those without higher-order reuse for which that can't be.
        time: by statement, the coefficients of its iterators; None where no time of one dimension keeps all
            dependences. Nothing but zeros where all instances may run at once.
        places: by statement, coefficients of its iterators for each dimension of the NDRange, 0, the innermost,
        first. left_out: how many accesses were not tried, since there were more than `MOST_REFERENCES`.
    """

    served: tuple[Reference, ...]
    copied: tuple[Reference, ...]
    time: dict[str, Coefficients] | None
    places: dict[str, tuple[Coefficients, ...]]
    left_out: int = 0


def transformation(nest: Nest, found: Sequence[Dependence], piece: Piece) -> Transformation:
    """Return the time and the places of a launch's statements, and which accesses they serve.

    Args:
        nest: the loops.
        found: all dependences of the nest.
        piece: the launch; what stays the same in it, the sequential loops around it, is fixed.
    """
    return _Question(nest, found, piece).answer()


def fixed_iterators(piece: Piece, statement: Statement) -> tuple[str, ...]:
    """Return the iterators of a statement that stay the same in a launch."""
    outer = {member for band in piece.around for member in band.members.get(statement.name, ())}
    return tuple(name for name in statement.iterators if name in outer)


class _Question:
    def __init__(self, nest: Nest, found: Sequence[Dependence], piece: Piece) -> None:
        self._nest = nest
        self._statements = [nest.statement(name) for name in piece.statements]
        self._fixed = {each.name: fixed_iterators(piece, each) for each in self._statements}
        self._free = {
            each.name: [name for name in each.iterators if name not in self._fixed[each.name]]
            for each in self._statements
        }
        self._times = Unknowns(nest, self._statements, self._fixed)
        self._kept = [
            condition
            for each in found
            if {each.source, each.sink} <= {*piece.statements}
            for relation in [self._within(isl.Map(each.relation), each)]
            if not relation.is_empty()
            for condition in self._times.distance(relation, 1)
        ]
        candidates = [
            Reference(each.name, access, is_write)
            for each in self._statements
            for is_write, accesses in ((False, each.reads), (True, each.writes))
            for access in accesses
            if access.subscripts
            and not nest.arrays[access.array].is_scalar
            and not reuse_of(access, each, self._fixed[each.name]).is_higher_order
        ]
        # What is read and written at the same place is asked for once.
        self._candidates: list[Reference] = []
        for each in candidates:
            if all(
                (each.statement, each.access.array, each.access.subscripts) != _key(other)
                for other in self._candidates
            ):
                self._candidates.append(each)

    def _within(self, relation: isl.Map, each: Dependence) -> isl.Map:
        """A dependence's instances in the same iteration of the loops that are fixed."""
        source, sink = self._nest.statement(each.source), self._nest.statement(each.sink)
        return relation.intersect(_same(source, sink, self._fixed[each.source], self._fixed[each.sink]))

    def answer(self) -> Transformation:
        tried = self._candidates[:MOST_REFERENCES]
        adjacent = {number: self._adjacent(each) for number, each in enumerate(tried)}
        reachable = [number for number in adjacent if not adjacent[number].is_empty()]
        same_time = {
            number: [*self._times.distance(adjacent[number], 0), *self._times.distance(adjacent[number], 0, -1)]
            for number in reachable
        }
        for count in range(len(reachable), 0, -1):
            for chosen in combinations(reachable, count):
                times = self._times.simplest([*self._kept, *(c for number in chosen for c in same_time[number])])
                if times is None:
                    continue
                places = self._places(times, [(tried[number], adjacent[number]) for number in chosen])
                if places is not None:
                    return self._found(times, places, [tried[number] for number in chosen])
        times = self._times.simplest(self._kept)
        return self._found(times, self._places(times or {}, []) or {}, [])

    def _found(
        self,
        times: dict[str, Coefficients] | None,
        places: dict[str, tuple[Coefficients, ...]],
        served: Sequence[Reference],
    ) -> Transformation:
        time = None if times is None else {name: self._iterators_only(name, row) for name, row in times.items()}
        copied = tuple(each for each in self._candidates if each not in served)
        return Transformation(tuple(served), copied, time, places, max(0, len(self._candidates) - MOST_REFERENCES))

    def _iterators_only(self, name: str, row: Coefficients) -> Coefficients:
        return row[: len(self._nest.statement(name).iterators)]

    def _adjacent(self, reference: Reference) -> isl.Map:
        """Pairs of instances of which the second reaches the next element: the premise of (3)."""
        statement = self._nest.statement(reference.statement)
        fixed = self._fixed[statement.name]
        renamed = [
            form.replaced(lambda name: Polynomial.symbol(f"{name}_next" if name in statement.iterators else name))
            for form in reference.access.subscripts
        ]
        ahead = [*(Polynomial.constant(0) for _ in renamed[1:]), Polynomial.constant(1)]
        same = [
            f"{affine_text(one + step)} = {affine_text(other)}"
            for one, other, step in zip(reference.access.subscripts, renamed, ahead, strict=True)
        ]
        after = f"{statement.name}[{', '.join(f'{name}_next' for name in statement.iterators)}]"
        pairs = isl.Map(self._nest.set_text(f"{statement.instance} -> {after} : {' and '.join(same)}"))
        domain = isl.Set(self._nest.domain(statement))
        return (
            pairs.intersect_domain(domain)
            .intersect_range(domain)
            .intersect(_same(statement, statement, fixed, fixed))
        )

    def _places(
        self, times: dict[str, Coefficients], chosen: Sequence[tuple[Reference, isl.Map]]
    ) -> dict[str, tuple[Coefficients, ...]] | None:
        """The places of each statement, the innermost first; None if a chosen access can't be served."""
        found: dict[str, tuple[Coefficients, ...]] = {}
        for statement in self._statements:
            time = self._iterators_only(statement.name, times.get(statement.name, (0,) * len(statement.iterators)))
            own = [adjacent for reference, adjacent in chosen if reference.statement == statement.name]
            rows: list[Coefficients] = []
            if own:
                unknowns = Unknowns(self._nest, [statement], self._fixed)
                conditions = [
                    each for adjacent in own for sign in (1, -1) for each in unknowns.distance(adjacent, 1, sign)
                ]
                solved = unknowns.simplest(conditions)
                first = solved and self._iterators_only(statement.name, solved[statement.name])
                if not first or not _are_independent([row for row in (time, first) if any(row)]):
                    return None
                rows.append(first)
            units = [
                tuple(int(name == other) for other in statement.iterators)
                for name in self._by_unit_strides(statement)
            ]
            for unit in units:
                if _are_independent([row for row in (time, *rows, unit) if any(row)]):
                    rows.append(unit)
            found[statement.name] = tuple(rows)
        return found

    def _by_unit_strides(self, statement: Statement) -> Iterator[str]:
        """The free iterators of a statement, those first along which the most accesses go to the next element."""
        free = self._free[statement.name]
        counted = {name: sum(stride_along(each, name) == "1" for each in statement.accesses) for name in free}
        yield from sorted(free, key=lambda name: (-counted[name], -free.index(name)))


def stride_along(access: Access, iterator: str) -> str:
    """Return by how much an access moves when an iterator grows by 1: `0`, `1`, another number, `rows`."""
    if not access.subscripts:
        return "0"
    *outer, last = (form.terms.get((iterator,), 0) for form in access.subscripts)
    return "rows" if any(outer) else str(last)


def _key(reference: Reference) -> tuple[str, str, tuple[Polynomial, ...]]:
    return reference.statement, reference.access.array, reference.access.subscripts


def _same(source: Statement, sink: Statement, first: Sequence[str], second: Sequence[str]) -> isl.Map:
    """Pairs of instances of two statements in the same iteration of the fixed loops, which both have."""
    ends = [
        [f"{letter}{place}" for place in range(len(each.iterators))]
        for letter, each in (("x", source), ("y", sink))
    ]
    places = [[each.iterators.index(name) for name in names] for each, names in ((source, first), (sink, second))]
    same = [f"x{one} = y{other}" for one, other in zip(*places, strict=False)]
    condition = " and ".join(same) or "0 = 0"
    return isl.Map(f"{{ {source.name}[{', '.join(ends[0])}] -> {sink.name}[{', '.join(ends[1])}] : {condition} }}")


def _are_independent(rows: Sequence[Coefficients]) -> bool:
    return not rows or int(np.linalg.matrix_rank(np.array(rows))) == len(rows)


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
    """Yield where each array of a launch is best kept.

    Args:
        nest: the loops.
        piece: the launch.
        found: what Algorithm 1 says of it.
    """
    written = {access.array for each in nest.statements for access in each.writes}
    for name in piece.statements:
        statement = nest.statement(name)
        fixed = fixed_iterators(piece, statement)
        for array in dict.fromkeys(access.array for access in statement.accesses if access.subscripts):
            own = [access for access in statement.accesses if access.array == array]
            spread = _spread(statement, found)
            memory, reason = _choice(nest, statement, own, found, spread, fixed, is_read_only=array not in written)
            yield Placement(name, array, memory, reason)


def _spread(statement: Statement, found: Transformation) -> frozenset[str]:
    """The iterators by which work-items differ."""
    rows = found.places.get(statement.name, ())
    return frozenset(name for row in rows for name, number in zip(statement.iterators, row, strict=True) if number)


def _choice(
    nest: Nest,
    statement: Statement,
    own: list[Access],
    found: Transformation,
    spread: frozenset[str],
    fixed: tuple[str, ...],
    *,
    is_read_only: bool,
) -> tuple[Memory, str]:
    if nest.arrays[own[0].array].is_scalar:
        return "register", "each work-item has its own"
    used = {name for access in own for form in access.subscripts for name in form.symbols} & {*statement.iterators}
    inner = [name for name in statement.iterators if name not in spread and name not in fixed]
    reuses: list[Reuse] = [reuse_of(access, statement, fixed) for access in own]
    if not all(each.is_higher_order for each in reuses):
        if any(each.statement == statement.name and each.access in own for each in found.copied):
            return (
                "local",
                "no legal order lets neighbouring work-items reach neighbouring elements at the same time",
            )
        neighbours = max(each.neighbours for each in reuses)
        border = (
            f"; {neighbours} accesses differ by numbers: a copy with its border may pay" if neighbours > 1 else ""
        )
        return "direct", f"neighbouring work-items reach neighbouring elements{border}"
    if is_read_only and not used & spread:
        return "constant", "it is only read, at the same place by all work-items at a time"
    if inner and not used & {*inner}:
        return "register", f"a work-item has its own element, the same along {', '.join(inner)}"
    along = sorted({name for each in reuses for name in each.redundant if name not in fixed})
    return "local", f"elements are used again{f' along {chr(32).join(along)}' if along else ''}"
