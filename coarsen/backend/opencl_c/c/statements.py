"""C statements as a tree, before they become text."""

from __future__ import annotations

from dataclasses import dataclass, field

from coarsen.backend.opencl_c.c.expression import Expression


@dataclass(slots=True)
class Line:
    """A statement without a result: a store, a call, `a[i] += x`; `text` lacks the semicolon."""

    text: str


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
    """A loop; `kind` is forever, while, do or for. `init` and `step` belong to a `for`."""

    kind: str
    body: list[Statement]
    condition: Expression | None = None
    init: list[Assign] = field(default_factory=list)
    step: list[Assign] = field(default_factory=list)


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


Statement = Line | Assign | If | Loop | Break | Continue | Return | Goto | Label
Jump = (Break, Continue, Return, Goto)


def ends_in_jump(body: list[Statement]) -> bool:
    """Whether control never falls off the end of a list of statements."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, If):
        return ends_in_jump(last.then) and ends_in_jump(last.otherwise)
    return isinstance(last, Jump)


def lists_of(statement: Statement) -> list[list[Statement]]:
    """The lists of statements inside of a statement."""
    if isinstance(statement, If):
        return [statement.then, statement.otherwise]
    if isinstance(statement, Loop):
        return [statement.body]
    return []
