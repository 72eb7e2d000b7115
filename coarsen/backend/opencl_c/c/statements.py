"""C statements as a tree, before they become text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coarsen.backend.opencl_c.c.tree import Expression


@dataclass(slots=True)
class Evaluate:
    """An expression for its effect: a call."""

    expression: Expression


@dataclass(slots=True)
class Store:
    """`place = value`, where the place is in memory."""

    place: Expression
    value: Expression


@dataclass(slots=True)
class Assign:
    """`variable = value`; with `declare` the variable is declared here, and `value` may be left out."""

    variable: str
    value: Expression | None
    declare: bool = False


@dataclass(slots=True)
class If:
    """`if (condition) then else otherwise`."""

    condition: Expression
    then: list[Statement]
    otherwise: list[Statement]


@dataclass(slots=True)
class Loop:
    """A loop; `kind` is forever, while, do or for. `init` and `step` belong to a `for`.

    `unroll_hint` is an attribute that stands before it, or empty.
    """

    kind: str
    body: list[Statement]
    condition: Expression | None = None
    init: list[Assign] = field(default_factory=list)
    step: list[Assign] = field(default_factory=list)
    unroll_hint: str = ""


@dataclass(slots=True)
class Break:
    """Leaves the innermost loop."""


@dataclass(slots=True)
class Continue:
    """Goes on with the innermost loop's next iteration."""


@dataclass(slots=True)
class Return:
    """Ends the kernel for this work-item."""


@dataclass(slots=True)
class Goto:
    """Goes to a label."""

    target: str


@dataclass(slots=True)
class Label:
    """Where a `goto` leads to; not written unless there is one."""

    name: str


Statement = Evaluate | Store | Assign | If | Loop | Break | Continue | Return | Goto | Label
Jump = (Break, Continue, Return, Goto)


def ends_in_jump(body: list[Statement]) -> bool:
    """Return True if control never falls off the end of a list of statements."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, If):
        return ends_in_jump(last.then) and ends_in_jump(last.otherwise)
    return isinstance(last, Jump)


def lists_of(statement: Statement) -> list[list[Statement]]:
    """Return the lists of statements inside of a statement."""
    if isinstance(statement, If):
        return [statement.then, statement.otherwise]
    if isinstance(statement, Loop):
        return [statement.body]
    return []


def all_statements(body: list[Statement]) -> Iterator[Statement]:
    """Yield the statements of a list and those inside of them, a `for`'s assignments included."""
    pending = [body]
    while pending:
        for statement in pending.pop():
            yield statement
            if isinstance(statement, Loop):
                yield from (*statement.init, *statement.step)
            pending.extend(lists_of(statement))


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions that a statement itself holds, without those of statements inside of it."""
    match statement:
        case Evaluate(expression):
            return (expression,)
        case Store(place, value):
            return (place, value)
        case Assign(_, value) if value is not None:
            return (value,)
        case If(condition):
            return (condition,)
        case Loop(condition=condition) if condition is not None:
            return (condition,)
    return ()
