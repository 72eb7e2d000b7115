"""Smaller kernels and simpler trials to try in place of a failing one, the boldest first."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, get_args

from coarsen.variant.coarsening import Coarsening, configuration
from coarsen.variant.transforms import DeviceKind, Tile, Transforms, Use
from tests.fuzz.field import Axis, Bound, Tap, Window
from tests.fuzz.launches import Launch, divides
from tests.fuzz.nodes import (
    Condition,
    Constant,
    Expression,
    For,
    Helper,
    If,
    Kernel,
    Leave,
    Statement,
    Switch,
    Truth,
    Variable,
    While,
)
from tests.fuzz.trial import Trial

Node = TypeVar("Node")
_EXPRESSIONS, _CONDITIONS, _STATEMENTS = get_args(Expression), get_args(Condition), get_args(Statement)
# Parts of a box's description: a simpler one may read elsewhere.
_KEPT = Axis | Window | int
_SIMPLE = (Constant(0), Constant(1), Constant(2))


def size(node: object) -> int:
    """How much there is in a tree; every variant has less."""
    if isinstance(node, tuple):
        return sum(map(size, node))
    if isinstance(node, Truth | Constant):
        return 1 if node in (*_SIMPLE, Truth(True), Truth(False)) else 2
    if isinstance(node, Variable):
        return 3
    return 4 + sum(size(value) for value in _values(node)) if is_dataclass(node) else 0


def statements(node: object) -> int:
    """The statements in a tree."""
    inside = node if isinstance(node, tuple) else tuple(_values(node)) if is_dataclass(node) else ()
    return isinstance(node, _STATEMENTS) + sum(map(statements, inside))


def variants(trial: Trial) -> Iterator[Trial]:
    """Trials that are simpler by one step: in how it is coarsened and launched, then in the kernel."""
    for simpler in _variants(trial):
        if simpler.any_size or divides(simpler.launch, simpler.configuration):
            yield simpler


def _variants(trial: Trial) -> Iterator[Trial]:
    yield from (replace(trial, configuration=configuration(chosen)) for chosen in _fewer(trial.configuration))
    yield from (replace(trial, transforms=transforms) for transforms in _fewer_transforms(trial.transforms))
    for plan in trial.arrays:
        yield replace(trial, plans=tuple(each for each in trial.plans if each != plan))
    if trial.any_size:
        yield replace(trial, any_size=False)
    if trial.tile_pad:
        yield replace(trial, tile_pad=0)
    if trial.optimise:
        yield replace(trial, optimise=False)
    if trial.launch.offset is not None:
        yield replace(trial, launch=replace(trial.launch, offset=None))
    yield from (replace(trial, launch=launch) for launch in _smaller_launches(trial.launch))
    yield from (replace(trial, kernel=kernel) for kernel in kernel_variants(trial.kernel))


def _fewer_transforms(transforms: Transforms) -> Iterator[Transforms]:
    simpler = (
        replace(transforms, fast_path=Use.NEVER),
        replace(transforms, lock_step=Use.NEVER),
        replace(transforms, wide_accesses=False),
        replace(transforms, distinct=False),
        replace(transforms, long_indices=False),
        replace(transforms, tile=Tile()),
        replace(transforms, clean_up=False),
        replace(transforms, device_kind=DeviceKind.ANY),
    )
    return (one for one in simpler if one != transforms)


def _fewer(chosen: tuple[Coarsening, ...]) -> Iterator[tuple[Coarsening, ...]]:
    if len(chosen) > 1:
        yield from (tuple(c for c in chosen if c is not left_out) for left_out in chosen)
    for index, coarsening in enumerate(chosen):
        simpler = [replace(coarsening, factor=f, stride=1) for f in (2, 3) if f < coarsening.factor]
        if coarsening.stride > 1:
            simpler.append(replace(coarsening, stride=1))
        yield from ((*chosen[:index], one, *chosen[index + 1 :]) for one in simpler)


def _smaller_launches(launch: Launch) -> Iterator[Launch]:
    for index, (whole, part) in enumerate(zip(launch.global_size, launch.local_size, strict=True)):
        if whole > part:
            fewer = (*launch.global_size[:index], part * (whole // part // 2), *launch.global_size[index + 1 :])
            yield replace(launch, global_size=fewer)


def kernel_variants(kernel: Kernel) -> Iterator[Kernel]:
    """Kernels with less in them: statements, helpers, expressions."""
    for body in _blocks(kernel.body):
        yield replace(kernel, body=body)
    for index, helper in enumerate(kernel.helpers):
        others = kernel.helpers[:index], kernel.helpers[index + 1 :]
        yield replace(kernel, helpers=(*others[0], *others[1]))
        for body in _blocks(helper.body):
            yield replace(kernel, helpers=(*others[0], replace(helper, body=body), *others[1]))
        for value in _simpler(helper.value):
            yield replace(kernel, helpers=(*others[0], _with_value(helper, value), *others[1]))


def _with_value(helper: Helper, value: Any) -> Helper:  # noqa: ANN401
    return replace(helper, value=value)


def _blocks(block: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """Fewer statements, by halves down to one at a time; then what stands inside of each in its place; then less
    in each."""
    length = len(block)
    piece = length
    while piece:
        yield from (block[:start] + block[start + piece :] for start in range(0, length, piece))
        piece //= 2
    for index, statement in enumerate(block):
        for inside in _unwrapped(statement):
            yield block[:index] + inside + block[index + 1 :]
    for index, statement in enumerate(block):
        for less in _simpler(statement):
            yield (*block[:index], less, *block[index + 1 :])


def _unwrapped(statement: Statement) -> Iterator[tuple[Statement, ...]]:
    """What stands inside a statement. A loop's counter becomes 0, and what leaves the loop goes: it would leave
    another."""
    if isinstance(statement, If):
        yield statement.then
        yield statement.otherwise
    elif isinstance(statement, Switch):
        yield statement.default
        yield from statement.cases
    elif isinstance(statement, For | While):
        counter = statement.counter
        yield _changed(
            _without_leaving(statement.body), lambda node: Constant(0) if node == Variable(counter) else node
        )


def _without_leaving(block: tuple[Statement, ...]) -> tuple[Statement, ...]:
    kept: list[Statement] = []
    for statement in block:
        if isinstance(statement, If):
            then, otherwise = _without_leaving(statement.then), _without_leaving(statement.otherwise)
            kept.append(replace(statement, then=then, otherwise=otherwise))
        elif isinstance(statement, Switch):
            cases = tuple(_without_leaving(case) for case in statement.cases)
            kept.append(replace(statement, cases=cases, default=_without_leaving(statement.default)))
        elif not isinstance(statement, Leave) or statement.way == "return":
            kept.append(statement)
    return tuple(kept)


def _changed(node: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 (any node, and its like)
    """A tree with each node put through `change`, from the leaves up."""
    if isinstance(node, tuple):
        return tuple(_changed(part, change) for part in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    parts = {field.name: _changed(getattr(node, field.name), change) for field in fields(node)}
    return change(replace(node, **parts))


def _simpler(node: Any) -> Iterator[Any]:  # noqa: ANN401 (any node, and its like)
    """The like of a node with less in it."""
    kind = next((kind for kind in (_EXPRESSIONS, _CONDITIONS) if isinstance(node, kind)), None)
    if kind is not None:
        simple = _SIMPLE if kind is _EXPRESSIONS else (Truth(True), Truth(False))
        smaller = (*simple, *(value for value in _values(node) if isinstance(value, kind)))
        yield from (one for one in smaller if size(one) < size(node))
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple) and not all(isinstance(part, _KEPT) for part in value):
            yield from (replace(node, **{field.name: less}) for less in _fewer_parts(value))
        elif is_dataclass(value):
            yield from (replace(node, **{field.name: less}) for less in _simpler(value))


def _fewer_parts(value: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """A block of statements with less, a switch with fewer cases, a vector with simpler values."""
    if all(isinstance(part, _STATEMENTS) for part in value):
        yield from _blocks(value)
    elif all(isinstance(part, Bound) for part in value):
        yield from (value[:index] + value[index + 1 :] for index in range(len(value)))
    elif all(isinstance(part, Tap) for part in value):
        if len(value) > 1:
            yield from (value[:index] + value[index + 1 :] for index in range(len(value)))
    elif all(isinstance(part, tuple) for part in value):
        if len(value) > 1:
            yield from (value[:index] + value[index + 1 :] for index in range(len(value)))
        for index, case in enumerate(value):
            yield from ((*value[:index], less, *value[index + 1 :]) for less in _blocks(case))
    else:
        for index, part in enumerate(value):
            yield from ((*value[:index], less, *value[index + 1 :]) for less in _simpler(part))


def _values(node: Any) -> Iterator[Any]:  # noqa: ANN401
    return (getattr(node, field.name) for field in dataclasses.fields(node))
