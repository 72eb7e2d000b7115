"""Sums over everything, in two launches: work-groups make partial sums, then one of them adds these up.

    for i: s += a[i]             ->  for b: for i in block b: s += a[i]
    for i: for j: s += a[i][j]   ->  for i: { q = 0; for j: q += a[i][j]; partials[i] = q }
                                     for i: s += partials[i]

The first is done where no loop is inside, the second then to all. It is done to the C function: the loop over
parts is parallel then, and lanes share both sums (`splits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.affine_of import nest_of
from coarsen.loops.dependences import Dependence, analysed, carried_by
from coarsen.loops.forms import limits, step_of
from coarsen.loops.kernels import NestKernel, kernels_of
from coarsen.loops.nest import Nest, Statement, free_name
from coarsen.loops.splits import Sum, is_free, sums_of
from coarsen.loops.tree import Operation

TERMS = 8192
"""Of a block: enough for 256 lanes, and few enough for blocks to fill a GPU."""
_Sums = Mapping[SourcePosition, Sum]


def nest_and_kernels(function: tree.CFunction) -> tuple[Nest, tuple[Dependence, ...], tuple[NestKernel, ...]]:
    """Return the nest of a function, its dependences and its kernels, with sums over everything in two launches.

    Raises:
        RefusalError: it is no affine loop nest, or none that OpenCL C can have.
    """
    nest, found = analysed(nest_of(function))
    if shared := dict(_over_everything(nest, found)):
        body = tuple(_statements(function.body, shared, {*function.variables, *nest.arrays}))
        try:
            spread, related = analysed(nest_of(replace(function, body=body)))
            return spread, related, kernels_of(spread, related)
        except RefusalError:
            pass  # as the loops are
    return nest, found, kernels_of(nest, found)


def _over_everything(nest: Nest, found: Sequence[Dependence]) -> Iterator[tuple[SourcePosition, _Sums]]:
    """The places of outermost loops of which sums alone depend on each other, each with these by their statements.

    Their order must be free, and nothing else in the loop may use them.
    """
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


def _statements(
    statements: Sequence[tree.Statement], shared: Mapping[SourcePosition, _Sums], taken: set[str]
) -> Iterator[tree.Statement]:
    """Yield statements with shared loops in parts; `taken` are names."""
    for each in statements:
        match each:
            case tree.For() if each.place in shared:
                is_outer = any(isinstance(inner, tree.For) for inner in each.body)
                yield from _in_parts(each if is_outer else _in_blocks(each, taken), shared[each.place], taken)
            case tree.Region():
                yield replace(each, body=tuple(_statements(each.body, shared, taken)))
            case tree.If():
                branches = (tuple(_statements(part, shared, taken)) for part in (each.then, each.otherwise))
                yield tree.If(each.condition, *branches, each.place)
            case _:
                yield each


def _head(loop: tree.For) -> tuple[tree.Name, tree.Expression, int]:
    """The iterator of a loop that was read, its first value and its step."""
    match loop.first:
        case tree.Declare(variable=variable, value=start) if start is not None:
            pass
        case tree.Assignment(target=tree.Name(variable=variable), value=start):
            pass
        case _:
            raise AssertionError("nest_of refuses such a loop")
    return tree.Name(variable, loop.place), start, step_of(loop, variable)


def _in_blocks(loop: tree.For, taken: set[str]) -> tree.For:
    """A loop over blocks of a loop's iterations around the loop over one of them."""
    iterator, start, step = _head(loop)
    place, width = loop.place, TERMS * abs(step)
    own = iterator.variable
    block = tree.Name(replace(own, identity=f"{own.identity} block", name=_new(f"{own.name}_block", taken)), place)

    def number(value: int) -> tree.Number:
        return tree.Number(str(value), value, place)

    def both(sign: str, one: tree.Expression, other: tree.Expression) -> Operation:
        return Operation(sign, (one, other), place)

    bounds: list[tree.Expression] = []
    for relation, limit in limits(loop, own, step):
        length = both("-", limit, start) if step > 0 else both("-", start, limit)
        blocks = both("/", both("+", length, number(width - (relation in "<>"))), number(width))
        bounds.append(both("<", block, blocks))
    condition = bounds.pop()
    for bound in bounds:
        condition = both("&&", bound, condition)
    sign, before = ("+", "<") if step > 0 else ("-", ">")
    begin = both(sign, start, both("*", number(width), block))
    within = both(before, iterator, both(sign, begin, number(width)))
    assert loop.first is not None and loop.condition is not None, "nest_of refuses such a loop"
    inner = replace(
        loop, first=replace(loop.first, value=begin), condition=both("&&", loop.condition, within), directives=()
    )
    first = tree.Declare(block.variable, number(0), "", place)
    return tree.For(first, condition, tree.Assignment(block, "+", number(1), place), (inner,), place)


def _in_parts(loop: tree.For, sums: _Sums, taken: set[str]) -> Iterator[tree.Statement]:
    """Yield a loop whose iterations make a part of each sum, and one that adds the parts."""
    iterator, start, step = _head(loop)
    place = loop.place
    since = (iterator, start) if step > 0 else (start, iterator)
    index = iterator if step > 0 and getattr(start, "value", None) == 0 else Operation("-", since, place)
    parts: dict[tree.Expression, tree.Expression] = {}
    begun, kept, added = [], [], []
    inner, outer = [], []
    for each in tree.all_of(loop.body):
        if each.place not in sums or not isinstance(each, tree.Evaluate):
            continue
        assert isinstance(each.expression, tree.Assignment), "it accumulates"
        own, target = sums[each.place], each.expression.target
        if target in parts:
            continue
        names = [_new(f"{own.array.name}_{word}", taken) for word in ("partial", "partials")]
        types = own.array.element, f"{own.array.element} *"
        part, every = (
            tree.Variable(f"{place} {name}", name, type_, "local")
            for name, type_ in zip(names, types, strict=True)
        )
        parts[target] = tree.Name(part, place)
        element = tree.Subscript(tree.Name(every, place), index, place)
        yield tree.Declare(every, tree.Call("malloc", (), place), "", place)
        begun.append(
            tree.Declare(part, tree.Number(own.neutral, None, place), f"{part.name} = {own.neutral}", place)
        )
        kept.append(
            tree.Evaluate(tree.Assignment(element, "", parts[target], place), f"{every.name} = {part.name}", place)
        )
        added.append(tree.Evaluate(own.added(target, element), f"{own.array.spelled} += {every.name}", place))
        inner.append(f"reduction({own.operator}:{part.name})")
        outer.append(f"reduction({own.operator}:{own.array.spelled})")

    def directive(word: str, clauses: Sequence[str]) -> tree.Directive:
        return tree.Directive((word,), " ".join(clauses), place)

    free = directive("simd", inner)
    body = [
        replace(each, directives=(*each.directives, free)) if isinstance(each, tree.For) else each
        for each in tree.replaced(loop.body, parts)
    ]
    yield replace(loop, body=(*begun, *body, *kept), directives=(directive("for", ()),))
    yield replace(loop, body=tuple(added), directives=(directive("for", outer),))


def _new(name: str, taken: set[str]) -> str:
    taken.add(name := free_name(name, taken))
    return name
