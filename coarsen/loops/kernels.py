"""The kernels that a nest becomes: which statements go into one, and which loops become its NDRange.

isl's bands say which loops are parallel and which run around launches; Algorithm 1 says which of the parallel ones
gets dimension 0. Launches whose statements share their loops in the source, and hand values on within a work-item
alone, become one kernel, in which a work-item runs its statements in the order of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import compress, takewhile

import islpy as isl
import networkx

from coarsen.errors import RefusalError
from coarsen.loops import tree
from coarsen.loops.affine_of import nest_of
from coarsen.loops.bindings import is_taken
from coarsen.loops.dependences import Dependence, analysed
from coarsen.loops.nest import Nest, Statement, free_name
from coarsen.loops.schedules import (
    Band,
    Piece,
    Rows,
    adds_a_dimension,
    bands,
    in_one_step,
    pieces_of,
    transformation,
)
from coarsen.loops.sums import GROUP_SIZE, LANES, Split, in_two_launches, split_of
from coarsen.loops.writer import scanned

MOST_DIMENSIONS = 3


@dataclass(frozen=True)
class NestKernel:
    """A kernel of a nest.

    Attributes:
        name: of the kernel function.
        nest: that it is of.
        statements: in the order of the text.
        around: the sequential bands in which it is launched, the outermost first.
        places: by statement, the coefficients of its iterators for each parallel dimension, 0 first.
        split: how lanes, which have a dimension of their own, share its sums; None where they don't.
        makes_parts: whether its sums are parts of one over everything.
        has_blocks: whether these parts are of few terms each, blocks into which a loop was cut.
    """

    name: str
    nest: Nest
    statements: tuple[Statement, ...]
    around: tuple[Band, ...]
    places: Mapping[str, Rows]
    split: Split | None = None
    makes_parts: bool = False
    has_blocks: bool = False

    @property
    def lane_macros(self) -> tuple[str, str]:
        """The macros of its text: how many lanes share a sum, and how many work-items a work-group has."""
        number = self.name.removeprefix(self.nest.function)
        return f"{LANES}{number}", f"{GROUP_SIZE}{number}"

    def usual_lanes(self, *, is_for_cpus: bool) -> tuple[int, int]:
        """Return what these are where nothing says more.

        Of a sum over everything there are too few parts to fill a GPU. On a CPU a work-item makes the part of a
        block, and is a work-group, which is what a core is given. A part of a row may have any number of terms,
        and one sum of them all stops growing where a term is less than its rounding: lanes share it everywhere.
        """
        if is_for_cpus and self.has_blocks and self.dimensions:
            return 1, 1
        return (256, 256) if self.makes_parts or not self.dimensions else (1, 64)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of the dimensions, 0 first: those of the iterators that they count, where they count one."""
        return self._named(self.places, "p", self.steps)

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of what the loops around the launch count, the outermost first."""
        return self._named(self.around_rows, "t", ())

    @property
    def around_rows(self) -> Mapping[str, Rows]:
        """By statement, the coefficients of its iterators in the sequential loops around the launch.

        As many for each: a loop is left out if outer ones count the same for all of them.
        """
        found: dict[str, Rows] = {each.name: () for each in self.statements}
        for band in self.around:
            for number in range(len(band.coincident)):
                rows = {name: band.rows[name][number] for name in found}
                if any(adds_a_dimension(found[name], row) for name, row in rows.items()):
                    found = {name: (*own, rows[name]) for name, own in found.items()}
        return found

    def _named(self, rows: Mapping[str, Rows], letter: str, others: Sequence[str]) -> tuple[str, ...]:
        """A name for each row, other than some: an iterator's of the first statement of which it is one."""
        taken = {
            *self.nest.arrays,
            *self.nest.types,
            *(name for each in self.statements for name in each.iterators),
        }
        found: list[str] = []
        for number in range(len(rows[self.statements[0].name])):
            texts = ((each.iterators, each.combined(rows[each.name][number])) for each in self.statements)
            free = (text for iterators, text in texts if text in iterators and text not in (*found, *others))
            own = next(free, None)
            found.append(own or free_name(f"{letter}{number}", taken))
        return tuple(found)

    def fixed(self, statement: Statement) -> isl.Set:
        """Return the instances of a statement in a work-item, whose steps and places are parameters."""
        names = (*self.steps, *self.dimensions)
        point = isl.Set(f"[{', '.join(names)}] -> {{ [{', '.join(names)}] }}")
        return self.spread(statement).intersect_range(point).domain()

    def spread(self, statement: Statement) -> isl.Map:
        """Return the relation of a statement's instances to their steps and places."""
        rows = (*self.around_rows[statement.name], *self.places[statement.name])
        return statement.values(rows).intersect_domain(isl.Set(self.nest.domain(statement)))

    def box(self) -> isl.Set:
        """Return the steps and places of all its instances."""
        return reduce(isl.Set.union, (self.spread(each).range() for each in self.statements)).coalesce()


def nest_and_kernels(function: tree.CFunction) -> tuple[Nest, tuple[Dependence, ...], tuple[NestKernel, ...]]:
    """Return the nest of a function, its dependences and its kernels, with sums over everything in two launches.

    Raises RefusalError for what is no affine loop nest, or none that OpenCL C can have.
    """
    nest, found = analysed(nest_of(function))
    if (other := in_two_launches(function, nest, found)) is not None:
        with suppress(RefusalError):  # then as the loops are
            spread, related = analysed(nest_of(other[0]))
            return spread, related, kernels_of(spread, related, other[1])
    return nest, found, kernels_of(nest, found)


def kernels_of(nest: Nest, found: Sequence[Dependence], parts: Set[str] = frozenset()) -> tuple[NestKernel, ...]:
    """Return the kernels of a nest in the order in which they are launched.

    Args:
        nest: with private variables, as `explain.analysed` returns it.
        found: its dependences.
        parts: names of arrays that hold parts of sums over everything, and of iterators that count blocks.

    Raises:
        RefusalError: `no-parallel-loop` for loops that would run in a single work-item; `scalar-between-launches`
            for a variable that kernels would have to hand on; `launch-form` where no order of launches keeps every
            dependence; `no-loop` where nothing ever runs; `unsupported-statement`, `c-type`.
    """
    for each in nest.statements:
        if each.refusal is not None:
            raise each.refusal
        if each.code is None:
            raise RefusalError("unsupported-statement", f"'{each.text}' can't be written as OpenCL C", each.place)
    alone = [_alone(nest, found, piece) for piece in pieces_of(_as_in_the_text(bands(nest, found), nest, found))]
    if not alone:
        raise RefusalError("no-loop", f"no statement of '{nest.function}' ever runs", nest.place)
    kernels = _with_private_variables(nest, found, _merged(found, alone))
    _check_order(nest, found, kernels)
    is_named = len(kernels) == 1 and not is_taken(nest.function)
    for number, kernel in enumerate(kernels):
        split = split_of(nest, kernel.statements, kernel.around_rows, kernel.places, found)
        makes_parts = any(access.array in parts for each in kernel.statements for access in each.writes)
        has_blocks = any(name in parts for each in kernel.statements for name in each.iterators)
        name = nest.function if is_named else f"{nest.function}_{number}"
        kernels[number] = replace(kernel, name=name, split=split, makes_parts=makes_parts, has_blocks=has_blocks)
        looping = next((each for each in kernel.statements if each.loops), None)
        if looping is not None and not (kernel.places[looping.name] or kernel.around or split):
            what = f"{', '.join(each.name for each in kernel.statements)}: no loop is parallel"
            if any(each.accumulates for each in kernel.statements):
                what += "; a sum is shared where OpenMP's reduction names it"
            raise RefusalError(
                "no-parallel-loop", f"{what}; --explain says which dependences are in the way", looping.place
            )
    return tuple(kernels)


def _as_in_the_text(
    siblings: Sequence[Band], nest: Nest, found: Sequence[Dependence], around: tuple[Band, ...] = ()
) -> tuple[Band, ...]:
    """Bands that run one after the other, in the order of the text as far as what depends on each other allows.

    isl may have moved statements along the loops around them, by numbers; a launch's steps leave these out.
    """
    names = [{*each.rows} for each in siblings]
    at = {name: number for number, own in enumerate(names) for name in own}
    order = networkx.DiGraph()
    order.add_nodes_from(range(len(siblings)))
    for each in found:
        if {each.source, each.sink} <= {*at} and at[each.source] != at[each.sink]:
            together = in_one_step(around, nest.statement(each.source), nest.statement(each.sink))
            if not isl.Map(each.relation).intersect(together).is_empty():
                order.add_edge(at[each.source], at[each.sink])
    first = [min(int(name[1:]) for name in own) for own in names]
    try:
        numbers = [*networkx.lexicographical_topological_sort(order, key=first.__getitem__)]
    except networkx.NetworkXUnfeasible:
        numbers = [*range(len(siblings))]  # `_check_order` refuses it
    return tuple(
        replace(band, below=_as_in_the_text(band.below, nest, found, (*around, band)))
        for band in (siblings[number] for number in numbers)
    )


def _alone(nest: Nest, found: Sequence[Dependence], piece: Piece) -> NestKernel:
    """The kernel of one piece: with Algorithm 1's places, else the parallel loops of isl's band, else none."""
    statements = tuple(nest.statement(name) for name in piece.statements)
    flags = piece.band.coincident
    # Inner loops first: they mostly go to neighbouring elements.
    parallel = {name: [*compress(rows, flags)][:MOST_DIMENSIONS][::-1] for name, rows in piece.band.rows.items()}
    kernel = NestKernel("", nest, statements, piece.around, {each.name: () for each in statements})
    for rows in (transformation(nest, found, piece).places, parallel):
        chosen = replace(
            kernel, places={name: tuple(rows.get(name, ())[:MOST_DIMENSIONS]) for name in kernel.places}
        )
        if len({*map(len, chosen.places.values())}) == 1 and _is_local(chosen, found):
            return chosen
    return kernel


def _is_local(kernel: NestKernel, found: Sequence[Dependence]) -> bool:
    """Return True if within a launch what depends on each other is run by the same work-item."""
    spread = {each.name: kernel.spread(each) for each in kernel.statements}
    launch, end = len(kernel.steps), isl.dim_type.out
    for each in found:
        if {each.source, each.sink} <= spread.keys():
            source, sink = spread[each.source], spread[each.sink]
            steps = [one.project_out(end, launch, one.dim(end) - launch) for one in (source, sink)]
            together = isl.Map(each.relation).intersect(steps[0].apply_range(steps[1].reverse()))
            if not together.is_subset(source.apply_range(sink.reverse())):
                return False
    return True


def _merged(found: Sequence[Dependence], alone: Sequence[NestKernel]) -> list[NestKernel]:
    """Kernels, merged where they may be; one without dimensions with any before it that may as well run later."""
    merged: list[NestKernel] = []
    for each in alone:
        for place in reversed(range(len(merged))):
            first, between = merged[place], merged[place + 1 :]
            sources, later = ({one.name for of in own for one in of.statements} for own in ([first], between))
            is_read = any(one.source in sources and one.sink in later for one in found)
            if between and (each.dimensions or is_read):
                continue
            both = _joined(first, each, found)
            if both is not None:
                merged[place:] = [*between, both]
                break
        else:
            merged.append(each)
    return merged


def _joined(
    first: NestKernel, second: NestKernel, found: Sequence[Dependence], *, is_cut: bool = False
) -> NestKernel | None:
    """One kernel of two that share a loop of the source as a dimension; with these loops alone if it `is_cut`.

    None where they share none, or hand values from one work-item to another.
    """
    # What runs more often decides which loop is dimension 0.
    shallow, deep = sorted((first, second), key=lambda each: max(len(one.loops) for one in each.statements))
    own, others = _loops_of(deep), _loops_of(shallow)
    kept = [number for number in own if number in others or not is_cut]
    rest = iter([number for number in others if number not in own])
    counts = {len(own), len(others), *(len(rows) for each in (first, second) for rows in each.places.values())}
    is_alike = bool(kept) if is_cut else len(counts) == 1 and (not own or bool({*own} & {*others}))
    if first.around != second.around or not is_alike:
        return None
    order = [others.index(number if number in others else next(rest)) for number in kept]
    places = {name: tuple(rows[own.index(number)] for number in kept) for name, rows in deep.places.items()}
    places |= {name: tuple(rows[place] for place in order) for name, rows in shallow.places.items()}
    statements = sorted((*first.statements, *second.statements), key=lambda each: int(each.name[1:]))
    both = replace(first, statements=tuple(statements), places=places)
    return both if _is_local(both, found) else None


def _loops_of(kernel: NestKernel) -> tuple[int, ...]:
    """The numbers of the loops that the dimensions are, 0 first; none where statements have others."""
    every = set[tuple[int, ...]]()
    for each in kernel.statements:
        rows = kernel.places[each.name]
        is_of_loops = all(sorted(row) == [*[0] * (len(row) - 1), 1] for row in rows)
        every.add(tuple(each.loops[row.index(1)].number for row in rows) if is_of_loops else ())
    return every.pop() if len(every) == 1 else ()


def _with_private_variables(
    nest: Nest, found: Sequence[Dependence], kernels: Sequence[NestKernel]
) -> list[NestKernel]:
    """Join the kernels between which a variable would be handed on, over the loops that they share."""
    joined = list(kernels)
    for array in nest.arrays.values():
        if not array.is_private:
            continue
        using = [
            number
            for number, kernel in enumerate(joined)
            if any(access.array == array.name for each in kernel.statements for access in each.accesses)
        ]
        if len(using) > 1:
            first, *others = joined[using[0] : using[-1] + 1]
            for each in others:
                both = _joined(first, each, found, is_cut=True)
                if both is None:
                    place = each.statements[0].place
                    ends = f"{first.statements[-1].name} to {each.statements[0].name}, which are two launches"
                    raise RefusalError("scalar-between-launches", f"'{array.spelled}' goes from {ends}", place)
                first = both
            joined[using[0] : using[-1] + 1] = [first]
    return joined


def _check_order(nest: Nest, found: Sequence[Dependence], kernels: Sequence[NestKernel]) -> None:
    """Raise RefusalError unless the launches keep every dependence, and hand no variable of a work-item's on."""
    times: dict[str, isl.Map] = {}
    spread: dict[str, tuple[int, isl.Map]] = {}
    for number, (kernel, positions) in enumerate(_positions(kernels)):
        for own in kernel.statements:
            rows = [*map(own.combined, kernel.around_rows[own.name])]
            times[own.name] = isl.Map(nest.set_text(f"{own.instance} -> [{_interleaved(positions, rows)}]"))
            spread[own.name] = number, kernel.spread(own)
    for each in found:
        is_private = nest.arrays[each.array].is_private
        if is_private and each.kind != "flow":
            continue  # each work-item has its own
        relation = isl.Map(each.relation)
        if not is_private:
            relation = relation.subtract(times[each.source].lex_lt_map(times[each.sink]))
        (first, places), (second, others) = spread[each.source], spread[each.sink]
        if relation.is_empty() or (first == second and relation.is_subset(places.apply_range(others.reverse()))):
            continue
        place = nest.statement(each.sink).place
        if is_private:
            what = f"'{nest.arrays[each.array].spelled}' is handed on from one launch to another"
            raise RefusalError("scalar-between-launches", what, place)
        raise RefusalError("launch-form", f"launches in a row can't keep this: {each}", place)


# How large launches are, and the loops around them.


def extents_of(kernel: NestKernel) -> tuple[isl.Set, dict[str, tuple[isl.PwAff, isl.PwAff]]]:
    """Return when a kernel is launched, and each dimension's first value and end, over parameters and steps."""
    box = kernel.box()
    for name in kernel.steps:
        end = box.dim(isl.dim_type.param)
        box = box.move_dims(isl.dim_type.param, end, isl.dim_type.set, 0, 1)
        box = box.set_dim_name(isl.dim_type.param, end, name)
    context = box.params()
    found = {}
    for number, name in enumerate(kernel.dimensions):
        first, last = (end.coalesce().gist(context) for end in (box.dim_min(number), box.dim_max(number)))
        found[name] = first, last.add(last.domain().indicator_function())
    return context, found


def launch_tree(kernels: Sequence[NestKernel]) -> isl.AstNode:
    """Return isl's tree of the loops of launches: what it runs are the kernels' names with their steps."""
    nest = kernels[0].nest
    depth = max(len(kernel.steps) for kernel in kernels)
    ordered = list[isl.Map]()
    for kernel, positions in _positions(kernels):
        box = kernel.box()
        launches = box.project_out(isl.dim_type.set, len(kernel.steps), len(kernel.dimensions))
        launches = launches.set_tuple_name(kernel.name)
        instance = f"{kernel.name}[{', '.join(kernel.steps)}]"
        order = isl.Map(f"{{ {instance} -> [{_interleaved(positions, kernel.steps)}] }}")
        ordered.append(order.intersect_domain(launches))
    names = max((kernel.steps for kernel in kernels), key=len)
    every = [each for number in range(depth) for each in (f"c{number}", names[number])]
    return scanned(isl.Set(nest.set_text(":")), nest.union(ordered), [*every, f"c{depth}"])


def _positions(kernels: Sequence[NestKernel]) -> Iterator[tuple[NestKernel, list[int]]]:
    """Yield kernels with their places among what runs before and after the sequential loops around them."""
    depth = max(len(kernel.steps) for kernel in kernels)
    positions = [-1] + [0] * depth
    before: tuple[Band, ...] = ()
    for kernel in kernels:
        shared = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, kernel.around, strict=False))
        )
        # The positions of a band stand before its steps.
        level = len(replace(kernel, around=kernel.around[:shared]).steps)
        positions = [*positions[:level], positions[level] + 1, *[0] * (depth - level)]
        before = kernel.around
        yield kernel, positions


def _interleaved(positions: Sequence[int], steps: Sequence[str]) -> str:
    """A time: places and steps by turns, of as many steps as there are places between."""
    every = [*steps, *["0"] * (len(positions) - 1 - len(steps))]
    times = [str(positions[0])]
    for step, position in zip(every, positions[1:], strict=True):
        times += [step, str(position)]
    return ", ".join(times)
