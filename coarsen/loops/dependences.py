"""Dependences between the instances of a nest's statements, by isl; which loops carry them, and which carry none.

Flow: a read depends on the last write of the element before it. Output: a write on the last write before it. Anti:
the next write of an element depends on a read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Literal

import islpy as isl
import networkx

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops.nest import Access, Array, Loop, Nest, Statement, common_loops, free_name

Kind = Literal["flow", "anti", "output"]
# Clauses of OpenMP.
REDUCTION = re.compile(r"\breduction\s*\([^:)]*:([^)]*)\)")
_PRIVATE = re.compile(r"\b(?:first|last)?private\s*\(([^)]*)\)")
_COLLAPSE = re.compile(r"\bcollapse\s*\(\s*(\d+)\s*\)")
MOST_OPERATIONS = 100_000_000
"""The most operations that isl makes for a function's analyses: they take a processor about a minute."""


@dataclass(frozen=True)
class Dependence:
    """Instances of a statement that depend on those of another.

    Attributes:
        kind: flow, anti or output.
        array: the array that both access.
        source, sink: the names of the statements; the sink depends on the source.
        level: the number of the shared loops outside of the one that carries it; None if it is within an iteration
            of all that they share.
        distance: along each shared loop, in the order in which it runs: a number, or its sign.
        relation: from source to sink instances, in isl's notation.
        is_accumulation: whether a statement adds again to what it added to before.
    """

    kind: Kind
    array: str
    source: str
    sink: str
    level: int | None
    distance: tuple[str, ...]
    relation: str
    is_accumulation: bool = False

    def __str__(self) -> str:
        found = f"{self.kind} of {self.array}, {self.source} -> {self.sink}"
        return f"{found}, distance ({', '.join(self.distance)})" if self.distance else found


@contextmanager
def limited(context: isl.Context, place: SourcePosition) -> Iterator[None]:
    """Let isl do only so much in a context. Raises RefusalError (`too-complex`) at a place if it needs more."""
    context.reset_operations()
    context.set_max_operations(MOST_OPERATIONS)
    try:
        yield
    except isl.Error:
        try:
            # What isl says is of any kind, but from then on it does nothing.
            isl.Set.read_from_str(context, "{ [i] : i >= 0 }")
        except isl.Error:
            what = f"the function is too complex: isl needs more than {MOST_OPERATIONS:,} operations"
            raise RefusalError("too-complex", what, place) from None
        raise
    finally:
        context.reset_operations()
        context.set_max_operations(0)


def dependences(nest: Nest, arrays: Iterable[str] | None = None) -> tuple[Dependence, ...]:
    """Return the dependences of a nest, by array and by level; of the arrays of some names, or of all."""
    order = nest.union(isl.Map(nest.schedule(each)) for each in nest.statements)
    names = [f"t{place}" for place in range(2 * max(len(each.loops) for each in nest.statements) + 1)]
    turned = isl.UnionMap(f"{{ [{', '.join(names)}] -> [{', '.join(f'-{name}' for name in names)}] }}")
    backwards = order.apply_range(turned)
    found: list[Dependence] = []
    for name in nest.arrays if arrays is None else arrays:
        reads, writes = (
            nest.union(
                nest.reached(each, access)
                for each in nest.statements
                for access in accesses_of(each)
                if access.array == name
            )
            for accesses_of in (attrgetter("reads"), attrgetter("writes"))
        )
        related: tuple[tuple[Kind, isl.UnionMap], ...] = (
            ("flow", _last(writes, reads, order)),
            ("anti", _last(writes, reads, backwards).reverse()),
            ("output", _last(writes, writes, order)),
        )
        for kind, relation in related:
            found += _by_level(nest, kind, name, relation)
    return tuple(found)


def _last(sources: isl.UnionMap, sinks: isl.UnionMap, order: isl.UnionMap) -> isl.UnionMap:
    """For each sink, the last source of its element before it in an order: a relation from that to the sink."""
    # The latest of the times of all sources of an element before a sink, of pairs of a sink and an element.
    reading = sinks.domain_map()
    same = sinks.range_map().apply_range(sources.reverse())
    times = order.range()
    earlier = reading.apply_range(order).apply_range(times.lex_gt_union_set(times))
    last = same.apply_range(order).intersect(earlier).lexmax()
    return last.apply_range(order.reverse()).intersect(same).reverse().apply_range(reading)


def _by_level(nest: Nest, kind: Kind, array: str, relation: isl.UnionMap) -> Iterator[Dependence]:
    between_two: list[isl.Map] = []
    relation.foreach_map(between_two.append)
    for each in sorted(between_two, key=str):
        source, sink = (nest.statement(each.get_tuple_name(end)) for end in (isl.dim_type.in_, isl.dim_type.out))
        shared = common_loops(source, sink)
        times = [(_time(source, loop), _time(sink, loop)) for loop in source.loops[:shared]]
        rest = each
        is_accumulation = _adds_to(source, array) == _adds_to(sink, array) != ""
        for level in (*range(shared), None):
            part = rest
            if level is not None:
                one, other = times[level]
                rest = part.intersect(one.apply_range(other.reverse()))
                part = part.subtract(rest)
            if not part.is_empty():
                steps = (part.apply_domain(one).apply_range(other).deltas() for one, other in times)
                distance = tuple(_sign(step.dim_min_val(0), step.dim_max_val(0)) for step in steps)
                shown = str(part.coalesce())
                yield Dependence(kind, array, source.name, sink.name, level, distance, shown, is_accumulation)


def _adds_to(statement: Statement, array: str) -> str:
    """The operator by which a statement adds to an element of an array of which it reads no other, if it does."""
    own = [each.subscripts for each in statement.accesses if each.array == array]
    is_alone = bool(own) and all(each == own[0] for each in own)
    return statement.accumulates if is_alone and statement.writes and statement.writes[0].array == array else ""


def _time(statement: Statement, loop: Loop) -> isl.Map:
    """The time that a loop around a statement counts, upwards."""
    return isl.Map(f"{{ {statement.instance} -> [{'-' * (loop.step < 0)}{loop.iterator}] }}")


def _sign(least: isl.Val, most: isl.Val) -> str:
    if least.eq(most):
        return str(least)
    if least.gt(0):
        return "+"
    if most.lt(0):
        return "-"
    return "0+" if least.eq(0) else "0-" if most.eq(0) else "*"


def carried_by(nest: Nest, found: Sequence[Dependence], loop: Loop) -> tuple[Dependence, ...]:
    """Return the dependences between iterations of a loop: it is parallel if there are none.

    Of what its OpenMP directive calls private each thread has its own.
    """
    private = {name for each in loop.directives for name in named(each.clauses, _PRIVATE)}
    return tuple(
        each
        for each in found
        if each.level is not None
        and nest.statement(each.source).loops[each.level].number == loop.number
        and nest.arrays[each.array].spelled not in private
    )


def analysed(nest: Nest) -> tuple[Nest, tuple[Dependence, ...]]:
    """Return a nest with private variables, and its dependences. Raises RefusalError (`omp-contradicted`)."""
    nest = with_private_variables(nest)
    found = dependences(nest)
    check_directives(nest, found)
    return nest, found


# Variables of which each iteration has its own.


def with_private_variables(nest: Nest) -> Nest:
    """Return a nest in which local variables that carry nothing between iterations have one element for each.

    A variable that is set anew for several uses becomes several; each gets the iterators of those loops as
    subscripts that are around all of its uses and that hand no value of it on.
    """
    own = [each.name for each in nest.arrays.values() if each.is_private]
    if not own:
        return nest
    flows = [each for each in dependences(nest, own) if each.kind == "flow"]
    arrays: dict[str, Array] = {}
    renamed: dict[tuple[str, str], tuple[str, int]] = {}
    for array in nest.arrays.values():
        if array.name not in own:
            arrays[array.name] = array
            continue
        values = [each for each in flows if each.array == array.name]
        for number, group in enumerate(_groups(nest, array.name, values)):
            name = array.name if not number else free_name(f"{array.name}_{number + 1}", {*nest.arrays, *arrays})
            # Loops around all of them that hand no value on.
            of_group = {each.name for each in group}
            handing = (each.level for each in values if each.source in of_group and each.level is not None)
            depth = min([*(common_loops(group[0], each) for each in group), *handing])
            arrays[name] = replace(array, name=name, extents=(None,) * depth)
            renamed |= {(array.name, each.name): (name, depth) for each in group}
    statements = tuple(
        replace(
            each,
            reads=tuple(_renamed(each, access, renamed) for access in each.reads),
            writes=tuple(_renamed(each, access, renamed) for access in each.writes),
        )
        for each in nest.statements
    )
    return replace(nest, arrays=arrays, statements=statements)


def _groups(nest: Nest, array: str, flows: Sequence[Dependence]) -> list[list[Statement]]:
    """The statements that access a variable, those apart between which no value of it goes."""
    using = {each.name: each for each in nest.statements if any(one.array == array for one in each.accesses)}
    graph = networkx.Graph()
    graph.add_nodes_from(using)
    graph.add_edges_from((each.source, each.sink) for each in flows)
    return [[using[name] for name in using if name in group] for group in networkx.connected_components(graph)]


def _renamed(statement: Statement, access: Access, renamed: dict[tuple[str, str], tuple[str, int]]) -> Access:
    if (access.array, statement.name) not in renamed:
        return access
    name, depth = renamed[access.array, statement.name]
    subscripts = tuple(Polynomial.symbol(iterator) for iterator in statement.iterators[:depth])
    return Access(name, subscripts, access.place)


# What OpenMP says of loops.


def check_directives(nest: Nest, found: Sequence[Dependence]) -> None:
    """Raise RefusalError (`omp-contradicted`) if a loop that OpenMP calls parallel carries a dependence.

    What a directive's `reduction` names may be added to by several iterations.
    """
    for loop in nest.loops:
        for directive in loop.directives:
            if not {"for", "distribute", "loop"} & {*directive.words}:
                continue
            private, reduced = (named(directive.clauses, pattern) for pattern in (_PRIVATE, REDUCTION))
            for claimed in _collapsed(nest, loop, directive.clauses or ""):
                for each in carried_by(nest, found, claimed):
                    name = nest.arrays[each.array].spelled
                    is_reduced = each.is_accumulation and (directive.clauses is None or name in reduced)
                    if not is_reduced and name not in private:
                        what = f"iterations of '{claimed.iterator}' depend on each other: {each}"
                        raise RefusalError("omp-contradicted", what, directive.place)


def named(clauses: str | None, pattern: re.Pattern[str]) -> frozenset[str]:
    """Return the variables that clauses of a kind name, sections of arrays by their arrays."""
    lists = pattern.findall(clauses or "")
    return frozenset(name.partition("[")[0].strip() for each in lists for name in each.split(","))


def _collapsed(nest: Nest, loop: Loop, clauses: str) -> list[Loop]:
    """The loops of which a directive speaks."""
    count = max([1, *map(int, _COLLAPSE.findall(clauses))])
    found = {loop.number: loop}
    for statement in nest.statements:
        if loop in statement.loops:
            place = statement.loops.index(loop)
            found |= {each.number: each for each in statement.loops[place : place + count]}
    return list(found.values())
