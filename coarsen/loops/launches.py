"""The launches of a nest's kernels: sequential loops around them, conditions, global sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TypeAlias

import islpy as isl

from coarsen.dispatch.expressions import parse_condition, parse_expression
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.loops import tree
from coarsen.loops.kernel_text import KernelText, group_size
from coarsen.loops.kernels import NestKernel, extents_of, launch_tree
from coarsen.loops.nest import Array, Nest, affine_text, free_name
from coarsen.loops.writer import Writer, expression_of, statements_of, variable


@dataclass(frozen=True)
class NestLaunch:
    """A launch of a kernel.

    Attributes:
        kernel: what is launched.
        global_size: in work-items, an expression for each dimension, 0 first; of parameters, steps and macros.
        local_size: the same, of macros alone; what a launch has before it is tuned.
        steps: what the kernel's steps are, by their names.
    """

    kernel: KernelText
    global_size: tuple[str, ...]
    local_size: tuple[str, ...]
    steps: Mapping[str, str]


@dataclass(frozen=True)
class LaunchLoop:
    """A loop around launches: from a first value to before an end, by steps of a number."""

    name: str
    first: str
    end: str
    step: int
    body: tuple[Launching, ...]


@dataclass(frozen=True)
class LaunchIf:
    """Launches that are made if all conditions hold."""

    conditions: tuple[str, ...]
    body: tuple[Launching, ...]


Launching: TypeAlias = NestLaunch | LaunchLoop | LaunchIf


def launches_of(kernels: Sequence[KernelText]) -> tuple[Launching, ...]:
    """Return the launches of all kernels of a nest.

    Raises RefusalError (`launch-form`) where these need more than sums, products, quotients and extremes.
    """
    nest, by_name = kernels[0].kernel.nest, {each.kernel.name: each for each in kernels}
    every = statements_of(launch_tree([each.kernel for each in kernels]), partial(expression_of, quotient="//"))
    try:
        return tuple(_launchings(every, by_name, {*nest.types, *nest.arrays}))
    except InvalidInputError as error:
        raise RefusalError("launch-form", str(error), nest.place) from None


def each_launch(
    launches: Sequence[Launching], values: Mapping[str, int]
) -> Iterator[tuple[NestLaunch, tuple[int, ...], tuple[int, ...], dict[str, int]]]:
    """Yield launches at values of parameters and macros: each with its global and local size, and its steps."""
    for each in launches:
        match each:
            case LaunchIf(conditions=conditions, body=body):
                if all(parse_condition(text).holds(values) for text in conditions):
                    yield from each_launch(body, values)
            case LaunchLoop(name=name, body=body):
                first, end = (parse_expression(text).evaluate(values) for text in (each.first, each.end))
                for value in range(first, end, each.step):
                    yield from each_launch(body, {**values, name: value})
            case NestLaunch():
                steps = {name: parse_expression(text).evaluate(values) for name, text in each.steps.items()}
                inner = {**values, **steps}
                whole = tuple(parse_expression(text).evaluate(inner) for text in each.global_size)
                yield each, whole, tuple(parse_expression(text).evaluate(inner) for text in each.local_size), steps


def _launchings(
    statements: Iterable[tree.Statement], kernels: Mapping[str, KernelText], taken: set[str]
) -> Iterator[Launching]:
    """Yield what isl's loops launch; each of them gets a name of its own, which none of `taken` is."""
    for each in statements:
        match each:
            case tree.If(condition=condition, then=then, otherwise=()):
                conditions = tuple(_conditions(condition))
                yield LaunchIf(conditions, tuple(_launchings(then, kernels, taken)))
            case tree.For(
                first=tree.Declare(variable=counted, value=first),
                condition=tree.Operation(operator=relation, operands=(_, last)),
                step=tree.Assignment(value=tree.Number(value=int(step))),
            ) if first is not None:
                name = free_name(counted.name, taken)
                taken.add(name)
                body = (tree.replaced(inner, {variable(counted.name): variable(name)}) for inner in each.body)
                end = _size(last) + " + 1" * (relation == "<=")
                yield LaunchLoop(name, _size(first), end, step, tuple(_launchings(body, kernels, taken)))
            case tree.Evaluate(expression=tree.Call(function=name, arguments=given)):
                kernel = kernels[name]
                steps = dict(zip(kernel.kernel.steps, map(_size, given), strict=True))
                yield NestLaunch(kernel, *_sizes(kernel.kernel), steps)
            case _:
                raise InvalidInputError("the launches need more than loops and conditions around them")


def _conditions(condition: tree.Expression) -> Iterator[str]:
    match condition:
        case tree.Operation(operator="&&", operands=parts):
            for each in parts:
                yield from _conditions(each)
        case tree.Operation(operator="||"):
            raise InvalidInputError("a launch depends on one condition or another")
        case _:
            yield parse_condition(Writer("int").plain(condition)).text


def _size(expression: tree.Expression) -> str:
    """An expression as `each_launch` reads it. Raises InvalidInputError for one that it can't."""
    return parse_expression(Writer("int").plain(expression)).text


# By number of dimensions: the local size of a launch that is not tuned.
_LOCAL_SIZES = (("1",), ("64",), ("16", "16"), ("8", "8", "4"))


def _sizes(kernel: NestKernel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The global and the local size; one work-item where no loop is parallel or shared."""
    context, extents = extents_of(kernel)
    sizes = [_largest(context, end.sub(first)) for first, end in extents.values()]
    if kernel.split is None:
        return tuple(sizes) or ("1",), _LOCAL_SIZES[len(sizes)]
    sizes.insert(kernel.split.dimension, kernel.lane_macros[0])
    return tuple(sizes), group_size(kernel)


def _largest(context: isl.Set, values: isl.PwAff, more: int = 0) -> str:
    """The largest of the values that an expression has by cases, or the number after it."""
    if more:
        values = values.add(values.domain().indicator_function())
    build = isl.AstBuild.from_context(context)
    pieces = (build.expr_from_pw_aff(isl.PwAff.from_aff(form)) for _, form in values.coalesce().get_pieces())
    # Of what never runs there is none.
    return _most([_size(expression_of(each, "//")) for each in pieces] or ["0"])


def _most(texts: Iterable[str]) -> str:
    first, *others = dict.fromkeys(texts)
    return f"max({', '.join((first, *others))})" if others else first


# How large arrays are, and how long the chains of operations are that lead to an element.


def extents_in(nest: Nest, array: Array) -> tuple[str, ...]:
    """Return the extents of an array as expressions of parameters, each at least what the loops access.

    Raises RefusalError (`launch-form`) where one is more than sums, products, quotients and extremes.
    """
    if array.is_scalar:
        return ("1",)
    parts = (
        nest.reached(statement, access).range()
        for statement in nest.statements
        for access in statement.accesses
        if access.array == array.name
    )
    whole = reduce(isl.Set.union, parts).coalesce()
    return tuple(
        _largest(whole.params(), whole.dim_max(place).coalesce(), 1) if known is None else affine_text(known)
        for place, known in enumerate(array.extents)
    )


def ends_in(nest: Nest) -> tuple[str, ...]:
    """Return how far iterators get from 0, upwards and downwards, and from each other: over parameters."""
    found: dict[str, None] = {}
    for statement in nest.statements:
        domain = isl.Set(nest.domain(statement))
        for place in range(0 if domain.is_empty() else len(statement.iterators)):
            last, first = domain.dim_max(place), domain.dim_min(place)
            found |= {_largest(domain.params(), end): None for end in (last, first.neg(), last.sub(first))}
    return tuple(found)


def operations_in(kernels: Sequence[KernelText]) -> str:
    """Return how many rounded operations lead to an element one after the other, at most, as an expression."""
    found: list[str] = []
    for each in kernels:
        for statement in each.kernel.statements:
            assert statement.code is not None, "kernels_of refuses a statement without"
            own = sum(isinstance(part, tree.Operation | tree.Call) for part in _values(statement.code.value))
            domain, rows = isl.Set(each.kernel.nest.domain(statement)), each.kernel.places[statement.name]
            terms = [str(own + bool(statement.code.operator))]
            for place in range(len(statement.iterators)):
                if not any(row[place] and sum(map(abs, row)) == 1 for row in rows):
                    text = _largest(domain.params(), domain.dim_max(place).sub(domain.dim_min(place)), 1)
                    terms.append(text if re.fullmatch(r"\w+|max\(.*\)", text) else f"({text})")
            found.append(" * ".join(terms))
    return _most(found)


def _values(expression: tree.Expression) -> Iterator[tree.Expression]:
    """An expression and its parts, indices apart."""
    yield expression
    if not isinstance(expression, tree.Element):
        for part in tree.parts_of(expression):
            yield from _values(part)
