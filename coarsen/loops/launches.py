"""The launches of a nest's kernels: sequential loops around them, conditions, global sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TypeAlias

import islpy as isl

from coarsen.dispatch.expressions import parse_condition, parse_expression
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.loops import tree
from coarsen.loops.body_text import children_of, kind_of
from coarsen.loops.expression_text import size_text, variable
from coarsen.loops.kernel_text import KernelText, group_size
from coarsen.loops.kernels import NestKernel, extents_of, launch_tree
from coarsen.loops.nest import Array, Nest, Statement, affine_text, free_name


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
# A loop of launches evaluates the same few again and again.
_expression, _condition = lru_cache(maxsize=None)(parse_expression), lru_cache(maxsize=None)(parse_condition)


def launches_of(kernels: Sequence[KernelText]) -> tuple[Launching, ...]:
    """Return the launches of all kernels of a nest.

    Raises RefusalError (`launch-form`) where these need more than sums, products, quotients and extremes.
    """
    try:
        return tuple(_Reading(kernels).launchings(launch_tree([each.kernel for each in kernels]), {}))
    except InvalidInputError as error:
        raise RefusalError("launch-form", str(error), kernels[0].kernel.nest.place) from None


def each_launch(
    launches: Sequence[Launching], values: Mapping[str, int]
) -> Iterator[tuple[NestLaunch, tuple[int, ...], tuple[int, ...], dict[str, int]]]:
    """Yield launches at values of parameters and macros: each with its global and local size, and its steps."""
    for each in launches:
        match each:
            case LaunchIf(conditions=conditions, body=body):
                if all(_condition(text).holds(values) for text in conditions):
                    yield from each_launch(body, values)
            case LaunchLoop(name=name, body=body):
                first, end = (_expression(text).evaluate(values) for text in (each.first, each.end))
                for value in range(first, end, each.step):
                    yield from each_launch(body, {**values, name: value})
            case NestLaunch():
                steps = {name: _expression(text).evaluate(values) for name, text in each.steps.items()}
                inner = {**values, **steps}
                whole = tuple(_expression(text).evaluate(inner) for text in each.global_size)
                yield each, whole, tuple(_expression(text).evaluate(inner) for text in each.local_size), steps


class _Reading:
    """Reads isl's tree of launches; each of its loops gets a name of its own."""

    def __init__(self, kernels: Sequence[KernelText]) -> None:
        self._kernels = {each.kernel.name: each for each in kernels}
        self._nest = kernels[0].kernel.nest
        self._taken = {*self._nest.types, *self._nest.arrays}

    def launchings(self, node: isl.AstNode, names: Mapping[str, tree.Expression]) -> Iterator[Launching]:
        """Yield what a node runs; `names` has the names of the loops around it by isl's."""
        for each in children_of(node):
            match kind_of(each):
                case "if_" if not each.if_has_else_node():
                    conditions = tuple(self._conditions(each.if_get_cond(), names))
                    yield LaunchIf(conditions, tuple(self.launchings(each.if_get_then_node(), names)))
                case "for_" if not each.for_is_degenerate():
                    iterator, condition = size_text(each.for_get_iterator()), each.for_get_cond()
                    name = free_name(iterator, self._taken)
                    self._taken.add(name)
                    last = _size(condition.op_get_arg(1), names)
                    is_before = isl.ast_expr_op_type(condition.op_get_type()) == isl.ast_expr_op_type.lt
                    yield LaunchLoop(
                        name,
                        _size(each.for_get_init(), names),
                        last if is_before else f"{last} + 1",
                        int(each.for_get_inc().int_get_val().to_python()),
                        tuple(self.launchings(each.for_get_body(), {**names, iterator: variable(name)})),
                    )
                case "user":
                    call = each.user_get_expr()
                    kernel = self._kernels[call.op_get_arg(0).id_get_id().get_name()]
                    given = [_size(call.op_get_arg(place), names) for place in range(1, call.op_get_n_arg())]
                    steps = dict(zip(kernel.kernel.steps, given, strict=True))
                    yield NestLaunch(kernel, *_sizes(kernel.kernel), steps)
                case kind:
                    raise self._refusal(f"the launches need isl's '{kind}' around them")

    def _conditions(self, condition: isl.AstExpr, names: Mapping[str, tree.Expression]) -> Iterator[str]:
        operator = isl.ast_expr_op_type(condition.op_get_type()).name
        if operator in ("and_", "and_then"):
            for place in range(condition.op_get_n_arg()):
                yield from self._conditions(condition.op_get_arg(place), names)
        elif operator in ("or_", "or_else"):
            raise self._refusal("a launch depends on one condition or another")
        else:
            yield parse_condition(size_text(condition, names)).text

    def _refusal(self, what: str) -> RefusalError:
        return RefusalError("launch-form", what, self._nest.place)


def _size(expression: isl.AstExpr, names: Mapping[str, tree.Expression]) -> str:
    """An expression as `each_launch` reads it. Raises InvalidInputError for one that it can't."""
    return parse_expression(size_text(expression, names)).text


# By number of dimensions: the local size of a launch that is not tuned.
_LOCAL_SIZES = (("1",), ("64",), ("16", "16"), ("8", "8", "4"))


def _sizes(kernel: NestKernel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The global and the local size; one work-item where no loop is parallel or shared."""
    context, extents = extents_of(kernel)
    build = isl.AstBuild.from_context(context)
    sizes = [_largest(build, end.sub(first)) for first, end in extents.values()]
    if kernel.split is None:
        return tuple(sizes) or ("1",), _LOCAL_SIZES[len(sizes)]
    sizes.insert(kernel.split.dimension, kernel.lane_macros[0])
    return tuple(sizes), group_size(kernel)


def _largest(build: isl.AstBuild, values: isl.PwAff) -> str:
    """The largest of the values that an expression has by cases."""
    pieces = (isl.PwAff.from_aff(form) for _, form in values.coalesce().get_pieces())
    # Of what never runs there is none.
    first, *others = dict.fromkeys(_size(build.expr_from_pw_aff(each), {}) for each in pieces) or ("0",)
    return f"max({', '.join((first, *others))})" if others else first


# How large arrays are, and how long the chains of operations are that lead to an element.


def extents_in(nest: Nest, array: Array) -> tuple[str, ...]:
    """Return the extents of an array as expressions of parameters, each at least what the loops access.

    Raises RefusalError (`launch-form`) where one is more than sums, products, quotients and extremes.
    """
    if array.is_scalar:
        return ("1",)
    parts = [
        isl.Map(nest.access(statement, access)).intersect_domain(isl.Set(nest.domain(statement))).range()
        for statement in nest.statements
        for access in statement.accesses
        if access.array == array.name
    ]
    whole = reduce(isl.Set.union, parts).coalesce()
    build = isl.AstBuild.from_context(whole.params())
    found = []
    for place, known in enumerate(array.extents):
        if known is None:
            last = whole.dim_max(place).coalesce()
            found.append(_largest(build, last.add(last.domain().indicator_function())))
        else:
            found.append(affine_text(known))
    return tuple(found)


def ends_in(nest: Nest) -> tuple[str, ...]:
    """Return how far iterators get from 0, upwards and downwards, and from each other: over parameters."""
    found: dict[str, None] = {}
    for statement in nest.statements:
        domain = isl.Set(nest.domain(statement))
        build = isl.AstBuild.from_context(domain.params())
        for place in range(0 if domain.is_empty() else len(statement.iterators)):
            last, first = domain.dim_max(place), domain.dim_min(place)
            for end in (last, first.neg(), last.sub(first)):
                found[_largest(build, end)] = None
    return tuple(found)


def _values(expression: tree.Expression) -> Iterator[tree.Expression]:
    """An expression and its parts, indices apart."""
    yield expression
    if not isinstance(expression, tree.Element):
        for part in tree.parts_of(expression):
            yield from _values(part)


def operations_in(kernels: Sequence[KernelText]) -> str:
    """Return how many rounded operations lead to an element one after the other, at most, as an expression."""
    nest = kernels[0].kernel.nest
    found: dict[str, None] = {}
    for each in kernels:
        for statement in each.kernel.statements:
            assert statement.code is not None, "kernels_of refuses a statement without"
            own = sum(isinstance(part, tree.Operation | tree.Call) for part in _values(statement.code.value))
            domain = isl.Set(nest.domain(statement))
            build = isl.AstBuild.from_context(domain.params())
            rows = each.kernel.places[statement.name]
            terms = [str(own + bool(statement.code.operator))]
            for place in range(len(statement.iterators)):
                if not any(row[place] and sum(map(abs, row)) == 1 for row in rows):
                    ends = domain.dim_max(place), domain.dim_min(place)
                    count = ends[0].sub(ends[1])
                    text = _largest(build, count.add(count.domain().indicator_function()))
                    terms.append(text if re.fullmatch(r"\w+|max\(.*\)", text) else f"({text})")
            found[" * ".join(terms)] = None
    first, *others = found
    return f"max({', '.join((first, *others))})" if others else first


def instances_at(nest: Nest, statement: Statement, sizes: Mapping[str, int]) -> int:
    """Return how many instances of a statement there are at values of parameters, at most: those of a box."""
    fixed = " and ".join(f"{name} = {value}" for name, value in sizes.items() if name in nest.parameters)
    domain = isl.Set(nest.domain(statement)).intersect_params(isl.Set(nest.set_text(f": {fixed or '0 = 0'}")))
    if domain.is_empty():
        return 0
    count = 1
    for place in range(len(statement.iterators)):
        count *= int(domain.dim_max_val(place).sub(domain.dim_min_val(place)).to_python()) + 1
    return count
