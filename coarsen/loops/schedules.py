"""Bands of parallel loops by isl's scheduler, and the launches that come of them; Farkas' lemma.

With its default options isl skews stencils until no loop is parallel. Here the outermost loop of a band must be
parallel where one can be, and what need not be computed together is computed one after the other: a sequential
loop over time stays outside, and below it each statement has its parallel loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import islpy as isl

from coarsen.errors import RefusalError
from coarsen.loops.dependences import Dependence, limited
from coarsen.loops.nest import Coefficients, Nest, Statement

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

    @property
    def is_sequential(self) -> bool:
        """Return True for loops without a parallel one around others: a loop of launches."""
        return not any(self.coincident) and bool(self.below)


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
    domain = isl.UnionSet.read_from_str(context, nest.set_text(""))
    for statement in nest.statements:
        domain = domain.union(isl.UnionSet.read_from_str(context, nest.domain(statement)))
    every, flow = (
        _union(context, nest, [each for each in found if not only_flow or each.kind == "flow"])
        for only_flow in (False, True)
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
        if each.is_sequential:
            yield from pieces_of(each.below, (*around, each))
        else:
            yield Piece(each, around)


def _union(context: isl.Context, nest: Nest, found: Sequence[Dependence]) -> isl.UnionMap:
    whole = isl.UnionMap.read_from_str(context, nest.set_text(""))
    for each in found:
        whole = whole.union(isl.UnionMap.read_from_str(context, each.relation))
    return whole.coalesce()


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


class Unknowns:
    """The coefficients of one function for each of several statements, each from -1 to 1.

    `fixed` are the iterators on which a statement's function may not depend.
    """

    def __init__(self, nest: Nest, statements: Sequence[Statement], fixed: Mapping[str, Sequence[str]]) -> None:
        self._parameters = nest.parameters
        names = {each.name: (*each.iterators, *nest.parameters, "1") for each in statements}
        # Each is the difference of two that are 0 or 1.
        self._functions = {
            name: [f"({name}_{place}p - {name}_{place}n)" for place in range(len(own))]
            for name, own in names.items()
        }
        ends = [each[1:-1].split(" - ") for own in self._functions.values() for each in own]
        above, below = zip(*ends, strict=True)
        zero = [
            f"{self._functions[name][place]} = 0"
            for name, own in names.items()
            for place, iterator in enumerate(own)
            if iterator in fixed[name]
        ]
        size = f"size = {' + '.join((*above, *below))} and negative = {' + '.join(below)}"
        wanted = [size, *(f"0 <= {each} <= 1" for each in (*above, *below)), *zero]
        self._space = f"[{', '.join(('size', 'negative', *below, *above))}]"
        self.all = isl.Set(f"{{ {self._space} : {' and '.join(wanted)} }}")
        """All functions."""

    def distance(self, relation: isl.Map, least: int, sign: int = 1) -> isl.Set:
        """Return the functions with `sign * (f(y) - f(x) - least) >= 0` for all pairs x -> y of a relation."""
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
        terms = ", ".join(f"{sign}*({each})" for each in differences)
        values = isl.MultiAff(f"{{ {self._space} -> [{terms}] }}")
        same = isl.Space.create_from_names(relation.get_ctx(), set=[], params=list(self._parameters))
        found = self.all
        for part in relation.align_params(same).remove_divs().get_basic_maps():
            kept = isl.Set.from_basic_set(part.wrap().coefficients()).flatten().reset_tuple_id()
            found = found.intersect(kept.preimage_multi_aff(values))
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
