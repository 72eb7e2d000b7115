"""Sums whose order is free: shared by the work-items of a work-group, the lanes; or made in two launches.

    s = 0; for j: s += a[i][j]; x[i] = s
    ->  part = 0; for j from lane by SPLIT: part += a[i][j]      (each of SPLIT lanes)
        a tree in local memory makes a total of the parts
        s = 0; s += total; x[i] = s                              (lane 0)

OpenMP's `reduction` frees the order, and sums of whole numbers have none. What lanes run first may read no memory
that the kernel writes, and no sum; what they need of its variables each computes for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coarsen.errors import SourcePosition
from coarsen.loops import tree
from coarsen.loops.affine_of import limits, step_of
from coarsen.loops.dependences import REDUCTION, Dependence, carried_by, named
from coarsen.loops.nest import Array, Coefficients, Loop, Nest, Statement, affine_text, free_name
from coarsen.loops.schedules import adds_a_dimension, is_next_along
from coarsen.loops.writer import number, operation

LANES, GROUP_SIZE = "SPLIT", "GROUP_SIZE"
"""The macros of a kernel's text: how many lanes share a sum, and the work-items of a work-group.

Of a function with several kernels each has its own, with its number behind them: `SPLIT_0`.
"""
LANE_COUNTS, GROUP_SIZES = (1, 8, 32, 64, 256), (64, 256)
"""Their values worth trying."""
LANE_MACRO = re.compile(rf"({LANES}|{GROUP_SIZE})(_\d+)?")
_FUNCTIONS = {"max": "fmaxf", "min": "fminf"}
_NEUTRAL = {"*": "1", "&": "~0", "max": "NAN", "min": "NAN"}
_TRUTHS = frozenset(("<", ">", "<=", ">=", "==", "!=", "&&", "||", "!"))


@dataclass(frozen=True)
class Sum:
    """What a statement adds, shared by lanes.

    Attributes:
        operator: by which it adds.
        array: that it adds to.
        part, parts, total: the names of a lane's part, of the local array of all parts, and of their total.
    """

    operator: str
    array: Array
    part: str
    parts: str
    total: str

    @property
    def neutral(self) -> str:
        """Return what a part begins with, in OpenCL C."""
        return _NEUTRAL.get(self.operator, "0")

    def added(self, target: tree.Expression, value: tree.Expression) -> tree.Assignment:
        """Return the statement that adds a value to an element."""
        function = _FUNCTIONS.get(self.operator)
        if function is None:
            return tree.Assignment(target, self.operator, value, target.place)
        return tree.Assignment(target, "", tree.Call(function, (target, value), target.place), target.place)


@dataclass(frozen=True)
class Split:
    """How lanes share the sums of a kernel.

    Attributes:
        dimension: that of the NDRange which counts lanes; the parallel loops are the others.
        sums: of which each lane makes a part.
        first: the statements that every lane runs.
        depths: of those of them that are in a shared loop: its place among their loops.
        last: the statements that lane 0 runs, with one that adds the total in place of each shared loop.
    """

    dimension: int
    sums: tuple[Sum, ...]
    first: tuple[Statement, ...]
    depths: Mapping[str, int]
    last: tuple[Statement, ...]


def split_of(
    nest: Nest,
    statements: Sequence[Statement],
    steps: Mapping[str, Sequence[Coefficients]],
    places: Mapping[str, Sequence[Coefficients]],
    found: Sequence[Dependence],
) -> Split | None:
    """Return how lanes share the sums of a kernel; None where none is free, or they can't be made first.

    Of each statement `steps` are the same in a launch, and `places` in a work-item.
    """
    if max(len(rows) for rows in places.values()) > 1:
        return None  # with two parallel loops there are work-items enough
    names = (nest.function, *nest.arrays, *nest.types, *(loop.iterator for loop in nest.loops))
    if any(map(LANE_MACRO.fullmatch, names)):
        return None
    depths: dict[str, int] = {}
    for each in statements:
        depth = _fixed_loops(each, (*steps[each.name], *places[each.name]))
        if each.accumulates and depth < len(each.loops) and is_free(nest, each, each.loops[depth]):
            depths[each.name] = depth
    adding = [each for each in statements if each.name in depths]
    loops = {loop.number: loop for loop in (each.loops[depths[each.name]] for each in adding)}
    members = [each for each in statements if loops.keys() & {loop.number for loop in each.loops}]
    for each in members:
        own = next(place for place, loop in enumerate(each.loops) if loop.number in loops)
        inner = {*each.iterators[own:]}
        used = {name for access in each.writes for form in access.subscripts for name in form.symbols}
        is_private = all(nest.arrays[access.array].is_private for access in each.writes)
        written = used | tree.names_in(_target(each)) if each.name in depths else used
        if inner & written if each.name in depths else not (is_private and each.iterators[own] in used):
            return None
        depths.setdefault(each.name, own)
    summed = {each.writes[0].array for each in adding}
    carried = [one for loop in loops.values() for one in carried_by(nest, found, loop)]
    if any(not one.is_accumulation or one.array not in summed for one in carried):
        return None
    first = _run_first(nest, statements, adding, members, summed)
    sums = sums_of(nest, adding, depths)
    if not adding or first is None or sums is None:
        return None
    last = []
    for each in statements:
        if each not in members:
            last.append(each)
        elif each in adding:
            own_sum, depth = sums[each.name], depths[each.name]
            target = _target(each)
            total = tree.Element(own_sum.total, (), (), target.place)
            code = own_sum.added(target, total)
            last.append(replace(each, loops=each.loops[:depth], position=each.position[: depth + 1], code=code))
    return Split(
        _lane_dimension(adding, depths, places),
        tuple(sums.values()),
        tuple(_of_a_part(each, sums[each.name]) if each.name in sums else each for each in first),
        depths,
        tuple(last),
    )


def _fixed_loops(statement: Statement, rows: Sequence[Coefficients]) -> int:
    """The number of outer loops that are the same in a work-item; that of all where others are among them."""
    last = max((place for row in rows for place, number in enumerate(row) if number), default=-1)
    kept: list[Coefficients] = []
    for row in rows:
        kept += [row] if adds_a_dimension(kept, row) else []
    return last + 1 if len(kept) == last + 1 else len(statement.loops)


def is_free(nest: Nest, statement: Statement, loop: Loop) -> bool:
    """Return True if the order in which a loop's iterations add is free."""
    array = nest.arrays[statement.writes[0].array]
    if statement.accumulates in _FUNCTIONS and tree.is_whole(array.element):
        return False  # these are of real numbers
    if any(array.spelled in named(each.clauses, REDUCTION) for each in loop.directives):
        return True
    assert statement.code is not None, "kernels_of refuses a statement without"
    return tree.is_whole(array.element) and _is_whole(nest, statement.code.value)


def _is_whole(nest: Nest, value: tree.Expression) -> bool:
    """Return True for a value that is computed of whole numbers, or is 0 or 1."""
    match value:
        case tree.Number():
            return value.value is not None
        case tree.Element(array=array):
            return array in nest.arrays and tree.is_whole(nest.arrays[array].element)
        case tree.Name(variable=variable):
            return variable.is_whole
        case tree.Operation(operator=operator) if operator in _TRUTHS:
            return True
        case tree.Operation(operator="?:", operands=(_, *cases)):
            return all(_is_whole(nest, each) for each in cases)
        case tree.Operation() | tree.Cast():
            is_real = isinstance(value, tree.Cast) and not tree.is_whole(value.type)
            return not is_real and all(_is_whole(nest, each) for each in tree.parts_of(value))
    return False


def _run_first(
    nest: Nest,
    statements: Sequence[Statement],
    adding: Sequence[Statement],
    members: Sequence[Statement],
    summed: set[str],
) -> list[Statement] | None:
    """The statements of shared loops, and those that set variables which these need; None where that can't be."""
    chosen = {each.name for each in members}
    while True:
        needed = {
            access.array
            for each in statements
            if each.name in chosen
            for access in each.reads
            if not (each in adding and access in each.writes)
        }
        setting = [
            each
            for each in statements
            if each.name not in chosen and any(access.array in needed for access in each.writes)
        ]
        if needed & summed or any(not nest.arrays[each.writes[0].array].is_private for each in setting):
            return None
        if not setting:
            return [each for each in statements if each.name in chosen]
        chosen |= {each.name for each in setting}


def sums_of(nest: Nest, adding: Sequence[Statement], depths: Mapping[str, int]) -> dict[str, Sum] | None:
    """Return the sum of each statement that adds; None where two loops, or operators, add to one element."""
    taken = {*nest.arrays, *nest.types, *(loop.iterator for loop in nest.loops)}
    known: dict[tuple[str, ...], tuple[int, str]] = {}
    found = {}
    for each in adding:
        access, how = each.writes[0], (each.loops[depths[each.name]].number, each.accumulates)
        if known.setdefault((access.array, *map(affine_text, access.subscripts)), how) != how:
            return None
        names = [free_name(f"{access.array}_{word}", taken) for word in ("part", "parts", "total")]
        taken |= {*names}
        found[each.name] = Sum(each.accumulates, nest.arrays[access.array], *names)
    return found


def _lane_dimension(
    adding: Sequence[Statement], depths: Mapping[str, int], places: Mapping[str, Sequence[Coefficients]]
) -> int:
    """0 where lanes are to make the accesses to neighbouring elements, else the one after the parallel loop's."""
    for each in adding:
        if not places[each.name]:
            return 0
        shared = each.iterators[depths[each.name]]
        parallel = {name for name, number in zip(each.iterators, places[each.name][0], strict=True) if number}
        for access in each.accesses:
            used = {name for form in access.subscripts for name in form.symbols}
            if shared in used and any(is_next_along(access, name) for name in used & parallel):
                return 1
    return 0


def _target(statement: Statement) -> tree.Element:
    assert statement.code is not None
    assert isinstance(statement.code.target, tree.Element)
    return statement.code.target


def _of_a_part(statement: Statement, own: Sum) -> Statement:
    """A statement that adds to a lane's part."""
    part = tree.Element(own.part, (), (), statement.place)
    return replace(statement, code=statement.code and tree.replaced(statement.code, {_target(statement): part}))


# Sums over everything: work-groups make partial sums, then one of them adds these up.
#
#     for i: s += a[i]             ->  for b: for i in block b: s += a[i]
#     for i: for j: s += a[i][j]   ->  for i: { q = 0; for j: q += a[i][j]; partials[i] = q }
#                                      for i: s += partials[i]
#
# The first is done where no loop is inside, the second then to all. It is done to the C function: the loop over
# parts is parallel then, and lanes share both sums.

TERMS = 8192
"""Of a block: enough for 256 lanes, and few enough for blocks to fill a GPU."""
_Sums = Mapping[SourcePosition, Sum]


def in_two_launches(
    function: tree.CFunction, nest: Nest, found: Sequence[Dependence]
) -> tuple[tree.CFunction, set[str]] | None:
    """Return a function with its sums over everything in parts, and the names of these and of iterators of blocks.

    None if it has no such sums. `nest` and `found` are what is known of it.
    """
    shared = dict(_over_everything(nest, found))
    known = {*function.variables, *nest.arrays}
    taken = {*known}
    body = list[tree.Statement]()
    for each in function.body:
        if isinstance(each, tree.For) and (sums := shared.get(each.place)) is not None:
            has_rows = any(isinstance(inner, tree.For) for inner in each.body)
            body += _in_parts(each if has_rows else _in_blocks(each, taken), sums, taken)
        else:
            body.append(each)
    return (replace(function, body=tuple(body)), taken - known) if shared else None


def _over_everything(nest: Nest, found: Sequence[Dependence]) -> Iterator[tuple[SourcePosition, _Sums]]:
    """The places of outermost loops of which sums alone depend on each other, each with these by their statements.

    Their order must be free, and nothing else in the loop may use them.
    """
    for every in (nest.loops, nest.statements):
        if len({each.place for each in every}) < len(every):
            return  # all that a macro expands to has one place
    for loop in nest.loops:
        carried = carried_by(nest, found, loop)
        names = {each.array for each in carried if each.is_accumulation}
        inside = [each for each in nest.statements if each.loops[:1] == (loop,)]
        using = [each for each in inside if names & {access.array for access in each.accesses}]
        if using and all(each.is_accumulation for each in carried) and all(map(_adds_to_one, using)):
            sums = sums_of(nest, using, dict.fromkeys((each.name for each in using), 0))
            if sums is not None and all(is_free(nest, each, loop) for each in using):
                yield loop.place, {each.place: sums[each.name] for each in using}


def _adds_to_one(statement: Statement) -> bool:
    """Return True for a statement that adds to the same element in all of its loops."""
    used = {name for access in statement.writes for form in access.subscripts for name in form.symbols}
    return bool(statement.accumulates) and not used & {*statement.iterators}


def _head(loop: tree.For) -> tuple[tree.Name, tree.Expression, int]:
    """The iterator of a loop that was read, its first value and its step."""
    first = loop.first
    counted = getattr(first, "variable", None) or getattr(getattr(first, "target", None), "variable", None)
    assert first is not None and first.value is not None and isinstance(counted, tree.Variable), "it was read"
    return tree.Name(counted, loop.place), first.value, step_of(loop, counted)


def _in_blocks(loop: tree.For, taken: set[str]) -> tree.For:
    """A loop over blocks of a loop's iterations around the loop over one of them."""
    iterator, start, step = _head(loop)
    place, width, own = loop.place, TERMS * abs(step), iterator.variable
    variable = replace(own, identity=f"{own.identity} block", name=_new(f"{own.name}_block", taken))

    block, size = tree.Name(variable, place), number(width)
    further, before = ("+", "<") if step > 0 else ("-", ">")
    begin = operation(further, start, operation("*", block, size))
    inner = operation(before, iterator, operation(further, begin, size))
    outer: tree.Expression | None = None
    for relation, limit in limits(loop, own, step):
        length = operation("-", *((limit, start) if step > 0 else (start, limit)))
        up = operation("+", length, number(width - (relation in "<>")))
        bound = operation("<", block, operation("/", up, size))
        outer = bound if outer is None else operation("&&", outer, bound)
    assert loop.first is not None and loop.condition is not None, "it was read"
    one = replace(loop, first=replace(loop.first, value=begin), condition=operation("&&", loop.condition, inner))
    first = tree.Declare(variable, number(0), "", place)
    count = tree.Assignment(block, "+", number(1), place)
    return tree.For(first, outer, count, (replace(one, directives=()),), place)


def _in_parts(loop: tree.For, sums: _Sums, taken: set[str]) -> Iterator[tree.Statement]:
    """Yield a loop whose iterations make a part of each sum, and one that adds the parts."""
    iterator, start, step = _head(loop)
    place = loop.place
    since = (iterator, start) if step > 0 else (start, iterator)
    is_plain = step > 0 and getattr(start, "value", None) == 0
    index = iterator if is_plain else operation("-", *since)
    parts: dict[tree.Expression, tree.Expression] = {}
    begun, kept, added = list[tree.Statement](), list[tree.Statement](), list[tree.Statement]()
    inner = outer = ""
    for each in tree.all_of(loop.body):
        if not (isinstance(each, tree.Evaluate) and isinstance(each.expression, tree.Assignment)):
            continue
        own, target = sums.get(each.place), each.expression.target
        if own is None or target in parts:
            continue
        part, every = (
            tree.Variable(f"{place} {name}", name, f"{own.array.element}{stars}", "local")
            for name, stars in ((_new(f"{own.array.name}_partial{s}", taken), " *" * bool(s)) for s in ("", "s"))
        )
        parts[target] = tree.Name(part, place)
        element = tree.Subscript(tree.Name(every, place), index, place)
        yield tree.Declare(every, tree.Call("malloc", (), place), "", place)
        text, neutral = f"{part.name} = {own.neutral}", tree.Number(own.neutral, None, place)
        begun.append(tree.Declare(part, neutral, text, place))
        keeping = tree.Assignment(element, "", parts[target], place)
        kept.append(tree.Evaluate(keeping, f"{every.name} = {part.name}", place))
        added.append(tree.Evaluate(own.added(target, element), f"{own.array.spelled} += {every.name}", place))
        inner += f"reduction({own.operator}:{part.name}) "
        outer += f"reduction({own.operator}:{own.array.spelled}) "
    free = tree.Directive(("simd",), inner, place)
    body = [
        replace(each, directives=(*each.directives, free)) if isinstance(each, tree.For) else each
        for each in (tree.replaced(inner, parts) for inner in loop.body)
    ]
    yield replace(loop, body=(*begun, *body, *kept), directives=(tree.Directive(("for",), "", place),))
    yield replace(loop, body=tuple(added), directives=(tree.Directive(("for",), outer, place),))


def _new(name: str, taken: set[str]) -> str:
    taken.add(name := free_name(name, taken))
    return name
