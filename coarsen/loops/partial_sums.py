"""Sums over everything, in two launches: work-groups make partial sums, then one of them adds these up.

    for i: s += a[i]             ->  for b: for i in block b: s += a[i]
    for i: for j: s += a[i][j]   ->  for i: { q = 0; for j: q += a[i][j]; partials[i] = q }
                                     for i: s += partials[i]

The first is done where no loop is inside, the second then to all. It is done to the C function: the loop over
parts is parallel then, and lanes share both sums (`splits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.affine_of import nest_of
from coarsen.loops.dependences import Dependence, analysed, carried_by
from coarsen.loops.forms import limits, step_of
from coarsen.loops.kernels import NestKernel, kernels_of
from coarsen.loops.nest import Nest, Statement, free_name
from coarsen.loops.splits import Sum, is_free, sums_of

TERMS = 8192
"""Of a block: enough for 256 lanes, and few enough for blocks to fill a GPU."""
_Sums = Mapping[SourcePosition, Sum]


def nest_and_kernels(function: tree.CFunction) -> tuple[Nest, tuple[Dependence, ...], tuple[NestKernel, ...]]:
    """Return the nest of a function, its dependences and its kernels, with sums over everything in two launches.

    Raises RefusalError for what is no affine loop nest, or none that OpenCL C can have.
    """
    nest, found = analysed(nest_of(function))
    if shared := dict(_over_everything(nest, found)):
        known = {*function.variables, *nest.arrays}
        taken = {*known}
        body = tuple(_statements(function.body, shared, taken))
        with suppress(RefusalError):  # then as the loops are
            spread, related = analysed(nest_of(replace(function, body=body)))
            return spread, related, kernels_of(spread, related, taken - known)
    return nest, found, kernels_of(nest, found)


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


def _statements(
    statements: Sequence[tree.Statement], shared: Mapping[SourcePosition, _Sums], taken: set[str]
) -> Iterator[tree.Statement]:
    """Yield statements with shared loops in parts; `taken` are names."""
    for each in statements:
        if isinstance(each, tree.For) and each.place in shared:
            has_rows = any(isinstance(inner, tree.For) for inner in each.body)
            yield from _in_parts(each if has_rows else _in_blocks(each, taken), shared[each.place], taken)
        else:
            yield each


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

    def of(sign: str, one: tree.Expression, other: tree.Expression | int) -> tree.Expression:
        second = tree.Number(str(other), other, place) if isinstance(other, int) else other
        return tree.Operation(sign, (one, second), place)

    block: tree.Expression = tree.Name(variable, place)
    further, before = ("+", "<") if step > 0 else ("-", ">")
    begin = of(further, start, of("*", block, width))
    inner = of(before, iterator, of(further, begin, width))
    outer: tree.Expression | None = None
    for relation, limit in limits(loop, own, step):
        length = of("-", limit, start) if step > 0 else of("-", start, limit)
        bound = of("<", block, of("/", of("+", length, width - (relation in "<>")), width))
        outer = bound if outer is None else of("&&", outer, bound)
    assert loop.first is not None and loop.condition is not None, "it was read"
    one = replace(loop, first=replace(loop.first, value=begin), condition=of("&&", loop.condition, inner))
    first = tree.Declare(variable, tree.Number("0", 0, place), "", place)
    count = tree.Assignment(block, "+", tree.Number("1", 1, place), place)
    return tree.For(first, outer, count, (replace(one, directives=()),), place)


def _in_parts(loop: tree.For, sums: _Sums, taken: set[str]) -> Iterator[tree.Statement]:
    """Yield a loop whose iterations make a part of each sum, and one that adds the parts."""
    iterator, start, step = _head(loop)
    place = loop.place
    since = (iterator, start) if step > 0 else (start, iterator)
    is_plain = step > 0 and getattr(start, "value", None) == 0
    index = iterator if is_plain else tree.Operation("-", since, place)
    parts: dict[tree.Expression, tree.Expression] = {}
    begun, kept, added = list[tree.Statement](), list[tree.Statement](), list[tree.Statement]()
    inner = outer = ""
    for each in tree.all_of(loop.body):
        own = sums.get(each.place) if isinstance(each, tree.Evaluate) else None
        if own is None or each.expression.target in parts:  # type: ignore[union-attr]
            continue
        target: tree.Expression = each.expression.target  # type: ignore[union-attr]
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
