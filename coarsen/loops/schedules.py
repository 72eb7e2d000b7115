"""Bands of parallel loops by isl's scheduler, and the launches that come of them; Algorithm 1, by Farkas' lemma.

With its default options isl skews stencils until no loop is parallel. Here the outermost loop of a band must be
parallel where one can be, and what need not be computed together is computed one after the other: a sequential
loop over time stays outside, and below it each statement has its parallel loops.

Algorithm 1 of the paper (section 5.2) says which accesses neighbouring work-items can make to neighbouring
elements. For the accesses without higher-order reuse, all of them first, then subsets, the largest first, a time
for each statement is asked for that keeps all dependences (2) and is the same for neighbouring elements (3), and
a place that is one further for the next element (4). What no solution serves has to be copied to local memory.
Beyond the paper, neighbours must have all other places in common, or they would stand in different rows of a
work-group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, islice, product
from typing import Any, Literal

import islpy as isl
import numpy as np

from coarsen.errors import RefusalError
from coarsen.loops.dependences import Dependence, limited
from coarsen.loops.nest import Access, Coefficients, Nest, Statement, reuse_of

Rows = tuple[Coefficients, ...]


@dataclass(frozen=True)
class Band:
    """Loops that isl found: for each of their statements what they count, and which of them are parallel.

    Attributes:
        rows: by statement: the coefficients of its iterators in each loop, the outermost first.
        coincident: of each loop, whether its iterations are independent.
        below: the bands inside, one after the other.
    """

    rows: Mapping[str, Rows]
    coincident: tuple[bool, ...]
    below: tuple[Band, ...] = ()


@dataclass(frozen=True)
class Piece:
    """What one launch runs: its band, and the sequential bands around it, the outermost first."""

    band: Band
    around: tuple[Band, ...]

    @property
    def statements(self) -> tuple[str, ...]:
        """The names of its statements."""
        return tuple(self.band.rows)


def in_one_step(around: Sequence[Band], source: Statement, sink: Statement) -> isl.Map:
    """Return the pairs of instances of two statements for which all loops around launches count the same."""
    ends = (each.values([row for band in around for row in band.rows[each.name]]) for each in (source, sink))
    return next(ends).apply_range(next(ends).reverse())


def bands(nest: Nest, found: Sequence[Dependence]) -> tuple[Band, ...]:
    """Return the outermost bands of a nest in the order in which they run; all its dependences are kept."""
    context = isl.Context()
    context.set_schedule_outer_coincidence(1)
    context.set_schedule_serialize_sccs(1)
    domains = (isl.UnionSet.read_from_str(context, nest.domain(each)) for each in nest.statements)
    domain = reduce(isl.UnionSet.union, domains, isl.UnionSet.read_from_str(context, nest.set_text("")))
    none = isl.UnionMap.read_from_str(context, nest.set_text(""))
    relations = [(each.kind, isl.UnionMap.read_from_str(context, each.relation)) for each in found]
    every, flow = (
        reduce(isl.UnionMap.union, (one for kind, one in relations if kind in kinds), none).coalesce()
        for kinds in (("flow", "anti", "output"), ("flow",))
    )
    # Else the domain's constraints are eliminated again and again: seconds for heat in three dimensions.
    simple = (each.gist_domain(domain).gist_range(domain) for each in (every, flow))
    with limited(context, nest.place):
        for validity, proximity in (simple, (every, flow)):  # some need those constraints
            constraints = isl.ScheduleConstraints.on_domain(domain).set_validity(validity)
            constraints = constraints.set_coincidence(validity).set_proximity(proximity)
            try:
                return tuple(_bands(constraints.compute_schedule().get_root(), nest))
            except isl.Error as error:
                failed = str(error)
        if "unable to carry" in failed:
            raise RefusalError("too-complex", "isl finds no schedule for the dependences", nest.place)
        raise isl.Error(failed)


def pieces_of(found: Sequence[Band], around: tuple[Band, ...] = ()) -> Iterator[Piece]:
    """Yield the launches of bands, in the order in which they run."""
    for each in found:
        if each.below and not any(each.coincident):  # a loop of launches
            yield from pieces_of(each.below, (*around, each))
        else:
            yield Piece(each, around)


def _bands(node: isl.ScheduleNode, nest: Nest) -> Iterator[Band]:
    kind = isl.schedule_node_type(node.get_type())
    if kind == isl.schedule_node_type.leaf:
        # What has no loop here.
        names = {each.get_tuple_name() for each in _parts(node.get_domain().foreach_set)}
        if names:
            yield Band({each.name: () for each in nest.statements if each.name in names}, ())
    elif kind == isl.schedule_node_type.band:
        coincident = tuple(bool(node.band_member_get_coincident(place)) for place in range(node.band_n_member()))
        relation = node.band_get_partial_schedule_union_map().intersect_domain(node.get_domain())
        found = {each.get_tuple_name(isl.dim_type.in_): _rows(each) for each in _parts(relation.foreach_map)}
        rows = {each.name: found[each.name] for each in nest.statements if each.name in found}
        inner = node.child(0)
        is_last = isl.schedule_node_type(inner.get_type()) == isl.schedule_node_type.leaf
        if rows:  # statements that never run are in bands without any
            yield Band(rows, coincident, () if is_last else tuple(_bands(inner, nest)))
    else:
        for place in range(node.n_children()):
            yield from _bands(node.child(place), nest)


def _parts(each: Callable[[Callable[[Any], None]], Any]) -> list[Any]:
    found: list[Any] = []
    each(found.append)
    return found


def _rows(relation: isl.Map) -> Rows:
    """The coefficients of a statement's iterators in the loops of a band."""
    whole, end = isl.PwMultiAff.from_map(relation), isl.dim_type.in_
    forms = (whole.get_pw_aff(place).get_pieces()[0][1] for place in range(relation.dim(isl.dim_type.out)))
    places = range(relation.dim(end))
    return tuple(tuple(int(form.get_coefficient_val(end, at).to_python()) for at in places) for form in forms)


# Functions of instances that keep their distance, by the affine form of Farkas' lemma.
#
# A function has a coefficient for each iterator, each parameter and the constant. That its value for one instance
# is at least that for another and a number more, for all pairs of a relation, is a condition on coefficients: that
# which isl's `coefficients` gives, for the rational points of the relation too.


class _Unknowns:
    """The coefficients of one function for each of several statements, each from -1 to 1.

    `fixed` are the iterators on which a statement's function may not depend.
    """

    def __init__(self, nest: Nest, statements: Sequence[Statement], fixed: Mapping[str, Sequence[str]]) -> None:
        self._parameters = nest.parameters
        names = {each.name: (*each.iterators, *nest.parameters, "1") for each in statements}
        numbered = [f"{name}_{place}" for name, own in names.items() for place in range(len(own))]
        above, below = ([f"{each}{sign}" for each in numbered] for sign in "pn")
        # Each is the difference of two that are 0 or 1.
        terms = map("({} - {})".format, above, below)
        self._functions = {name: [*islice(terms, len(own))] for name, own in names.items()}
        zero = [
            f"{term} = 0"
            for name, own in names.items()
            for term, iterator in zip(self._functions[name], own, strict=True)
            if iterator in fixed[name]
        ]
        size = f"size = {' + '.join((*above, *below))} and negative = {' + '.join(below)}"
        wanted = [size, *(f"0 <= {each} <= 1" for each in (*above, *below)), *zero]
        self._space = f"[{', '.join(('size', 'negative', *below, *above))}]"
        self.all = isl.Set(f"{{ {self._space} : {' and '.join(wanted)} }}")
        """All functions."""

    def distance(self, relation: isl.Map, least: int, *, is_exact: bool = False) -> isl.Set:
        """Return the functions with `f(y) - f(x) >= least` for all pairs x -> y; with `==` if it is exact."""
        *source, start = self._functions[relation.get_tuple_name(isl.dim_type.in_)]
        *sink, end = self._functions[relation.get_tuple_name(isl.dim_type.out)]
        inner = len(source) - len(self._parameters), len(sink) - len(self._parameters)
        # In the order of isl's coefficients: the constant, parameters, iterators of both ends.
        differences = [
            f"{end} - {start} - {least}",
            *(f"{one} - {other}" for one, other in zip(sink[inner[1] :], source[inner[0] :], strict=True)),
            *(f"-{name}" for name in source[: inner[0]]),
            *sink[: inner[1]],
        ]
        ends = [f"[{', '.join(f'{sign}*({each})' for each in differences)}]" for sign in (1, -1)[: 1 + is_exact]]
        values = [isl.MultiAff(f"{{ {self._space} -> {each} }}") for each in ends]
        same = isl.Space.create_from_names(relation.get_ctx(), set=[], params=list(self._parameters))
        found = self.all
        for part in relation.align_params(same).remove_divs().get_basic_maps():
            kept = isl.Set.from_basic_set(part.wrap().coefficients()).flatten().reset_tuple_id()
            found = reduce(isl.Set.intersect, map(kept.preimage_multi_aff, values), found)
        return found

    def simplest(self, allowed: isl.Set) -> dict[str, Coefficients] | None:
        """Return the functions of a set with the fewest coefficients other than 0, by statement; None without any.

        Of these it takes the ones with the fewest negative coefficients, then those of inner iterators. Returned
        are the coefficients of iterators.
        """
        if allowed.is_empty():
            return None
        point = allowed.lexmin().sample_point()
        count = sum(map(len, self._functions.values()))
        at = range(2, 2 + 2 * count)
        signs = [int(point.get_coordinate_val(isl.dim_type.set, place).to_python()) for place in at]
        values = iter([above - below for below, above in zip(signs[:count], signs[count:], strict=True)])
        found = {name: tuple(islice(values, len(own))) for name, own in self._functions.items()}
        return {name: row[: -1 - len(self._parameters)] for name, row in found.items()}


# Algorithm 1.

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
        self._times = _Unknowns(nest, self._statements, self._fixed)
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
        same_time = [self._times.distance(pairs, 0, is_exact=True) for _, pairs in reachable]
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
        access = self._nest.reached(statement, reference.access)
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
                unknowns = _Unknowns(self._nest, [statement], self._fixed)
                steps = (unknowns.distance(pairs, 1, is_exact=True) for pairs in own)
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
