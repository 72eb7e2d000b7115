"""The kernels that a nest becomes: which statements go into one, and which loops become its NDRange.

isl's bands say which loops are parallel and which run around launches; Algorithm 1 says which of the parallel ones
gets dimension 0. Launches whose statements share their loops in the source, and hand values on within a work-item
alone, become one kernel, in which a work-item runs its statements in the order of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, takewhile

import islpy as isl
import networkx

from coarsen.errors import RefusalError
from coarsen.loops.algorithm1 import combined, rows_around, transformation
from coarsen.loops.dependences import Dependence
from coarsen.loops.nest import Nest, Statement
from coarsen.loops.schedules import Band, Coefficients, Piece, bands, pieces_of

MOST_DIMENSIONS = 3
Rows = Mapping[str, tuple[Coefficients, ...]]


@dataclass(frozen=True)
class NestKernel:
    """A kernel of a nest.

    Attributes:
        name: of the kernel function.
        nest: that it is of.
        statements: in the order of the text.
        around: the sequential bands in which it is launched, the outermost first.
        places: by statement, the coefficients of its iterators for each dimension of the NDRange, 0 first.
    """

    name: str
    nest: Nest
    statements: tuple[Statement, ...]
    around: tuple[Band, ...]
    places: Rows

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions, 0 first: those of the iterators that they count, where they count one."""
        return self._named(self.places, "p")

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of what the loops around the launch count, the outermost first."""
        return self._named(self.around_rows, "t")

    @property
    def around_rows(self) -> Rows:
        """By statement, the coefficients of its iterators in the sequential loops around the launch."""
        piece = Piece(Band({each.name: () for each in self.statements}, ()), self.around)
        return {each.name: rows_around(piece, each.name) for each in self.statements}

    def _named(self, rows: Rows, letter: str) -> tuple[str, ...]:
        first = self.statements[0]
        texts = [combined(first, row) for row in rows[first.name]]
        return tuple(text if text in first.iterators else f"{letter}{number}" for number, text in enumerate(texts))

    def fixed(self, statement: Statement) -> isl.Set:
        """Return the instances of a statement in a work-item, whose steps and places are parameters."""
        names = (*self.steps, *self.dimensions)
        point = isl.Set(f"[{', '.join(names)}] -> {{ [{', '.join(names)}] }}")
        return self.spread(statement).intersect_range(point).domain()

    def spread(self, statement: Statement) -> isl.Map:
        """Return the relation of a statement's instances to their steps and places."""
        rows = (*self.around_rows[statement.name], *self.places[statement.name])
        target = ", ".join(combined(statement, row) for row in rows)
        relation = isl.Map(self.nest.set_text(f"{statement.instance} -> [{target}]"))
        return relation.intersect_domain(isl.Set(self.nest.domain(statement)))

    def box(self) -> isl.Set:
        """Return the steps and places of all its instances."""
        parts = [self.spread(each).range() for each in self.statements]
        whole = parts[0]
        for each in parts[1:]:
            whole = whole.union(each)
        return whole.coalesce()


def kernels_of(nest: Nest, found: Sequence[Dependence]) -> tuple[NestKernel, ...]:
    """Return the kernels of a nest in the order in which they are launched.

    Args:
        nest: with private variables, as `explain.analysed` returns it.
        found: its dependences.

    Raises:
        RefusalError: `no-parallel-loop` for loops that would run in a single work-item; `scalar-between-launches`
            for a variable that kernels would have to hand on; `returned-value`; `c-type` of a record.
    """
    for each in nest.statements:
        if each.code is None:
            raise RefusalError("unsupported-statement", f"'{each.text}' can't be written as OpenCL C", each.place)
    alone = [_alone(nest, found, piece) for piece in pieces_of(_as_in_the_text(bands(nest, found), found))]
    kernels = _with_private_variables(nest, found, _merged(found, alone))
    for kernel in kernels:
        looping = next((each for each in kernel.statements if each.loops), None)
        if looping is not None and not kernel.dimensions and not kernel.around:
            what = f"{', '.join(each.name for each in kernel.statements)}: no loop is parallel"
            raise RefusalError(
                "no-parallel-loop", f"{what}; --explain says which dependences are in the way", looping.place
            )
    names = [nest.function, *(f"{nest.function}_{number}" for number in range(1, len(kernels)))]
    if len(kernels) > 1:
        names = [f"{nest.function}_{number}" for number in range(len(kernels))]
    return tuple(replace(kernel, name=name) for kernel, name in zip(kernels, names, strict=True))


def _as_in_the_text(siblings: Sequence[Band], found: Sequence[Dependence]) -> tuple[Band, ...]:
    """Bands that run one after the other, in the order of the text as far as what depends on each other allows."""
    order = networkx.DiGraph()
    order.add_nodes_from(range(len(siblings)))
    names = [{*each.members} for each in siblings]
    for late, own in enumerate(names):
        earlier = {each.source for each in found if each.sink in own}
        order.add_edges_from((early, late) for early in range(late) if names[early] & earlier)
    first = [min(int(name[1:]) for name in own) for own in names]
    sorted_ones = networkx.lexicographical_topological_sort(order, key=first.__getitem__)
    return tuple(
        replace(siblings[number], below=_as_in_the_text(siblings[number].below, found)) for number in sorted_ones
    )


def _alone(nest: Nest, found: Sequence[Dependence], piece: Piece) -> NestKernel:
    """The kernel of one piece: with the places of Algorithm 1, or the parallel loops of isl's band."""
    statements = tuple(nest.statement(name) for name in piece.statements)
    kernel = NestKernel("", nest, statements, piece.around, {})
    solved = transformation(nest, found, piece)
    chosen = replace(kernel, places={name: rows[:MOST_DIMENSIONS] for name, rows in solved.places.items()})
    if _is_even(chosen) and _is_local(chosen, found):
        return chosen
    count = min(sum(piece.band.coincident), MOST_DIMENSIONS)
    flags = piece.band.coincident
    parallel = {name: tuple(compress(rows, flags))[:count] for name, rows in piece.band.rows.items()}
    # Inner loops first: they mostly go to neighbouring elements.
    chosen = replace(kernel, places={each.name: parallel.get(each.name, ())[::-1] for each in statements})
    if _is_even(chosen) and _is_local(chosen, found):
        return chosen
    return replace(kernel, places={each.name: () for each in statements})


def _is_even(kernel: NestKernel) -> bool:
    return len({len(rows) for rows in kernel.places.values()}) == 1


def _is_local(kernel: NestKernel, found: Sequence[Dependence]) -> bool:
    """Return True if within a launch what depends on each other is run by the same work-item."""
    names = {each.name for each in kernel.statements}
    for each in found:
        if {each.source, each.sink} <= names:
            source, sink = (kernel.nest.statement(name) for name in (each.source, each.sink))
            steps = len(kernel.steps)
            together = [_projected(kernel, one, steps) for one in (source, sink)]
            apart = isl.Map(each.relation).intersect(together[0].apply_range(together[1].reverse()))
            same = kernel.spread(source).apply_range(kernel.spread(sink).reverse())
            if not apart.is_subset(same):
                return False
    return True


def _projected(kernel: NestKernel, statement: Statement, count: int) -> isl.Map:
    """The first so many entries of a statement's steps and places."""
    relation = kernel.spread(statement)
    return relation.project_out(isl.dim_type.out, count, relation.dim(isl.dim_type.out) - count)


def _merged(found: Sequence[Dependence], alone: Sequence[NestKernel]) -> list[NestKernel]:
    merged: list[NestKernel] = []
    for each in alone:
        both = _both(merged[-1], each) if merged else None
        if both is not None and _is_local(both, found):
            merged[-1] = both
        else:
            merged.append(each)
    return merged


def _both(first: NestKernel, second: NestKernel) -> NestKernel | None:
    """One kernel of two that share a loop of the source as a dimension; None where they don't."""
    # What runs more often decides which loop is dimension 0.
    shallow, deep = sorted((first, second), key=lambda each: max(len(one.loops) for one in each.statements))
    own, others = _loops_of(deep), _loops_of(shallow)
    if first.around != second.around or own is None or others is None or len(own) != len(others):
        return None
    if own and not {*own} & {*others}:
        return None
    rest = iter([number for number in others if number not in own])
    order = [others.index(number if number in others else next(rest)) for number in own]
    turned = {name: tuple(rows[place] for place in order) for name, rows in shallow.places.items()}
    return _one(first, second, {**deep.places, **turned})


def _over(first: NestKernel, second: NestKernel, loops: Sequence[int]) -> NestKernel:
    places = {
        each.name: tuple(tuple(int(own.number == number) for own in each.loops) for number in loops)
        for each in (*first.statements, *second.statements)
    }
    return _one(first, second, places)


def _one(first: NestKernel, second: NestKernel, places: Rows) -> NestKernel:
    statements = sorted((*first.statements, *second.statements), key=lambda each: int(each.name[1:]))
    return replace(first, statements=tuple(statements), places=places)


def _loops_of(kernel: NestKernel) -> tuple[int, ...] | None:
    """The numbers of the loops that the dimensions are, 0 first; None where statements have others."""
    each = {_counted(statement, kernel.places[statement.name]) for statement in kernel.statements}
    return each.pop() if len(each) == 1 else None


def _counted(statement: Statement, rows: Sequence[Coefficients]) -> tuple[int, ...] | None:
    """The numbers of the loops that rows are; None where one is a combination."""
    if any(sorted(row) != [*[0] * (len(row) - 1), 1] for row in rows):
        return None
    return tuple(statement.loops[row.index(1)].number for row in rows)


def _with_private_variables(
    nest: Nest, found: Sequence[Dependence], kernels: Sequence[NestKernel]
) -> list[NestKernel]:
    """Join the kernels between which a variable would be handed on, over the loops that they share."""
    joined = list(kernels)
    for array in nest.arrays.values():
        if array.kind != "local" or not array.is_scalar:
            continue
        using = [number for number, kernel in enumerate(joined) if _uses(kernel, array.name)]
        if len(using) > 1:
            first, *others = joined[using[0] : using[-1] + 1]
            for each in others:
                shared = _shared_loops(first, each)
                both = _over(first, each, shared) if first.around == each.around and shared else None
                if both is None or not _is_local(both, found):
                    place = each.statements[0].place
                    ends = f"{first.statements[-1].name} to {each.statements[0].name}, which are two launches"
                    raise RefusalError("scalar-between-launches", f"'{array.spelled}' goes from {ends}", place)
                first = both
            joined[using[0] : using[-1] + 1] = [first]
    return joined


def _uses(kernel: NestKernel, array: str) -> bool:
    return any(access.array == array for each in kernel.statements for access in each.accesses)


def _shared_loops(first: NestKernel, second: NestKernel) -> tuple[int, ...]:
    """The loops that are dimensions of both, in the order of the one with fewer."""
    own, others = _loops_of(first) or (), _loops_of(second) or ()
    fewer, more = sorted((own, others), key=len)
    return tuple(number for number in fewer if number in more)


# How large launches are, and the loops around them.


@dataclass(frozen=True)
class Extent:
    """The values of a dimension: from a first one to below another, over parameters and steps."""

    name: str
    first: isl.PwAff
    behind: isl.PwAff


def extents_of(kernel: NestKernel) -> tuple[isl.Set, tuple[Extent, ...]]:
    """Return when a kernel is launched, as a set of parameters and steps, and its dimensions' extents, 0 first."""
    box = kernel.box()
    for name in kernel.steps:
        end = box.dim(isl.dim_type.param)
        box = box.move_dims(isl.dim_type.param, end, isl.dim_type.set, 0, 1)
        box = box.set_dim_name(isl.dim_type.param, end, name)
    context = box.params()
    found = []
    for number, name in enumerate(kernel.dimensions):
        first: isl.PwAff = box.dim_min(number).coalesce().gist(context)
        last: isl.PwAff = box.dim_max(number).coalesce().gist(context)
        found.append(Extent(name, first, last.add(last.domain().indicator_function())))
    return context, tuple(found)


def launch_tree(kernels: Sequence[NestKernel]) -> isl.AstNode:
    """Return isl's tree of the loops of launches: what it runs are the kernels' names with their steps."""
    nest = kernels[0].nest
    depth = max(len(kernel.steps) for kernel in kernels)
    schedule = isl.UnionMap(nest.set_text(""))
    positions = [-1] + [0] * depth
    before: tuple[Band, ...] = ()
    for kernel in kernels:
        pairs = zip(before, kernel.around, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        # The positions of a band stand before its steps.
        level = len(replace(kernel, around=kernel.around[:shared]).steps)
        positions = [*positions[:level], positions[level] + 1, *[0] * (depth - level)]
        before = kernel.around
        box = kernel.box()
        launches = box.project_out(isl.dim_type.set, len(kernel.steps), len(kernel.dimensions))
        launches = launches.set_tuple_name(kernel.name)
        steps = [*kernel.steps, *["0"] * (depth - len(kernel.steps))]
        times = [str(positions[0])]
        for step, position in zip(steps, positions[1:], strict=True):
            times += [step, str(position)]
        instance = f"{kernel.name}[{', '.join(kernel.steps)}]"
        order = isl.Map(f"{{ {instance} -> [{', '.join(times)}] }}")
        schedule = schedule.union(isl.UnionMap.from_map(order.intersect_domain(launches)))
    names = max((kernel.steps for kernel in kernels), key=len)
    build = isl.AstBuild.from_context(isl.Set(nest.set_text(":")))
    ids = isl.IdList.alloc(isl.DEFAULT_CONTEXT, 2 * depth + 1)
    for number in range(depth):
        ids = ids.add(isl.Id(f"c{number}")).add(isl.Id(names[number]))
    return build.set_iterators(ids.add(isl.Id(f"c{depth}"))).node_from_schedule_map(schedule)
