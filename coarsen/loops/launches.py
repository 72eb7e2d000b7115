"""The launches of a nest's kernels: sequential loops around them, conditions, global sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import islpy as isl

from coarsen.dispatch.expressions import parse_condition, parse_expression
from coarsen.errors import RefusalError
from coarsen.loops.ast_text import size_text
from coarsen.loops.body_text import children_of, kind_of
from coarsen.loops.kernel_text import KernelText
from coarsen.loops.kernels import extents_of, launch_tree
from coarsen.loops.nest import Nest


@dataclass(frozen=True)
class NestLaunch:
    """A launch of a kernel.

    Attributes:
        kernel: what is launched.
        global_size: in work-items, an expression for each dimension, 0 first; of parameters and steps.
        steps: what the kernel's steps are, by their names.
    """

    kernel: KernelText
    global_size: tuple[str, ...]
    steps: Mapping[str, str]


@dataclass(frozen=True)
class LaunchLoop:
    """A loop around launches: from a first value to below another, by steps of a number."""

    name: str
    first: str
    behind: str
    step: int
    body: tuple[Launching, ...]


@dataclass(frozen=True)
class LaunchIf:
    """Launches that are made if all conditions hold."""

    conditions: tuple[str, ...]
    body: tuple[Launching, ...]


Launching: TypeAlias = NestLaunch | LaunchLoop | LaunchIf


def launches_of(kernels: Sequence[KernelText]) -> tuple[Launching, ...]:
    """Return the launches of a nest's kernels.

    Args:
        kernels: all of the nest, in their order.

    Raises:
        RefusalError: `launch-form` for loops or sizes that are more than sums, products, quotients and extremes.
    """
    tree = launch_tree([each.kernel for each in kernels])
    by_name = {each.kernel.name: each for each in kernels}
    return tuple(_launching(tree, by_name, kernels[0].kernel.nest))


def each_launch(
    launches: Sequence[Launching], values: Mapping[str, int]
) -> Iterator[tuple[NestLaunch, tuple[int, ...], dict[str, int]]]:
    """Yield the launches at some sizes: each with its global size in work-items and the values of its steps.

    Args:
        launches: as `launches_of` returns them.
        values: of the nest's parameters.
    """
    for each in launches:
        match each:
            case LaunchIf(conditions=conditions, body=body):
                if all(parse_condition(text).holds(values) for text in conditions):
                    yield from each_launch(body, values)
            case LaunchLoop(name=name, body=body):
                first, behind = (parse_expression(text).evaluate(values) for text in (each.first, each.behind))
                for value in range(first, behind, each.step):
                    yield from each_launch(body, {**values, name: value})
            case NestLaunch():
                steps = {name: parse_expression(text).evaluate(values) for name, text in each.steps.items()}
                inner = {**values, **steps}
                yield each, tuple(parse_expression(text).evaluate(inner) for text in each.global_size), steps


def _launching(node: isl.AstNode, kernels: Mapping[str, KernelText], nest: Nest) -> Iterator[Launching]:
    for each in children_of(node):
        match kind_of(each):
            case "if_" if not each.if_has_else_node():
                conditions = tuple(_conditions(each.if_get_cond(), nest))
                yield LaunchIf(conditions, tuple(_launching(each.if_get_then_node(), kernels, nest)))
            case "for_" if not each.for_is_degenerate():
                body = tuple(_launching(each.for_get_body(), kernels, nest))
                step = int(each.for_get_inc().int_get_val().to_python())
                name = size_text(each.for_get_iterator())
                yield LaunchLoop(name, size_text(each.for_get_init()), _behind(each.for_get_cond()), step, body)
            case "user":
                call = each.user_get_expr()
                kernel = kernels[call.op_get_arg(0).id_get_id().get_name()]
                given = [size_text(call.op_get_arg(place)) for place in range(1, call.op_get_n_arg())]
                yield NestLaunch(kernel, _global_size(kernel), dict(zip(kernel.kernel.steps, given, strict=True)))
            case kind:
                raise RefusalError("launch-form", f"the launches need isl's '{kind}' around them", nest.place)


def _behind(condition: isl.AstExpr) -> str:
    last = size_text(condition.op_get_arg(1))
    is_below = isl.ast_expr_op_type(condition.op_get_type()) == isl.ast_expr_op_type.lt
    return last if is_below else f"{last} + 1"


def _conditions(condition: isl.AstExpr, nest: Nest) -> Iterator[str]:
    operator = isl.ast_expr_op_type(condition.op_get_type())
    if operator in (isl.ast_expr_op_type.and_, isl.ast_expr_op_type.and_then):
        for place in range(condition.op_get_n_arg()):
            yield from _conditions(condition.op_get_arg(place), nest)
    elif operator in (isl.ast_expr_op_type.or_, isl.ast_expr_op_type.or_else):
        raise RefusalError("launch-form", "a launch depends on one condition or another", nest.place)
    else:
        yield size_text(condition)


def _global_size(kernel: KernelText) -> tuple[str, ...]:
    """The work-items of each dimension; one in all where there is no dimension."""
    context, extents = extents_of(kernel.kernel)
    build = isl.AstBuild.from_context(context)
    sizes = (build.expr_from_pw_aff(each.behind.sub(each.first).coalesce()) for each in extents)
    return tuple(map(size_text, sizes)) or ("1",)
