"""Bands of parallel loops by isl's scheduler, and the launches that come of them.

With its default options isl skews stencils until no loop is parallel. Here the outermost loop of a band must be
parallel where one can be, and what need not be computed together is computed one after the other: a sequential
loop over time stays outside, and below it each statement has its parallel loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from coarsen.loops.dependences import Dependence
from coarsen.loops.nest import Nest


@dataclass(frozen=True)
class Band:
    """Loops that isl found: for each of their statements what they count, and which of them are parallel.

    Attributes:
        members: by statement: the loops as expressions of its iterators, the outermost first.
        coincident: of each loop, whether its iterations are independent.
        below: the bands inside, one after the other.
    """

    members: dict[str, tuple[str, ...]]
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
        return tuple(self.band.members)


def bands(nest: Nest, found: Sequence[Dependence]) -> tuple[Band, ...]:
    """Return the outermost bands of a nest, in the order in which they run.

    Args:
        nest: the loops.
        found: its dependences, of which the schedule keeps every one.
    """
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
    # Without this, the domain's constraints are eliminated again and again: seconds for heat in three dimensions.
    every, flow = (each.gist_domain(domain).gist_range(domain) for each in (every, flow))
    constraints = isl.ScheduleConstraints.on_domain(domain)
    constraints = constraints.set_validity(every).set_coincidence(every).set_proximity(flow)
    return tuple(_bands(constraints.compute_schedule().get_root(), nest))


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
    if kind == isl.schedule_node_type.band:
        coincident = tuple(bool(node.band_member_get_coincident(place)) for place in range(node.band_n_member()))
        relation = node.band_get_partial_schedule_union_map().intersect_domain(node.get_domain())
        members: dict[str, tuple[str, ...]] = {}
        relation.foreach_map(lambda each: members.update({each.get_tuple_name(isl.dim_type.in_): _loops(each)}))
        ordered = {each.name: members[each.name] for each in nest.statements if each.name in members}
        yield Band(ordered, coincident, tuple(_bands(node.child(0), nest)))
    elif kind == isl.schedule_node_type.leaf:
        names = [each.name for each in nest.statements if _has(node.get_domain(), each.name)]
        # What no band is around: a statement without loops.
        if not node.get_schedule_depth():
            yield Band(dict.fromkeys(names, ()), ())
    else:
        for place in range(node.n_children()):
            yield from _bands(node.child(place), nest)


def _has(domain: isl.UnionSet, name: str) -> bool:
    found: list[str] = []
    domain.foreach_set(lambda each: found.append(each.get_tuple_name()))
    return name in found


def _loops(relation: isl.Map) -> tuple[str, ...]:
    """What the loops of a band count, as expressions of a statement's iterators."""
    whole = isl.PwMultiAff.from_map(relation)
    texts = (str(whole.get_pw_aff(place)) for place in range(relation.dim(isl.dim_type.out)))
    return tuple(text.partition("-> [(")[2].partition(")]")[0] for text in texts)
