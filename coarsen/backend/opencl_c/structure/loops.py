"""Endless loops with a `break` at their start or end become `while`, `do` and `for`.

while (true) { if (!(i < n)) break; …; i = i + 1; }   →   for (int i = 0; i < n; ++i) { … }
"""

from __future__ import annotations

from coarsen.backend.opencl_c.c.build import negation
from coarsen.backend.opencl_c.c.statements import (
    Assign,
    Break,
    Continue,
    Goto,
    If,
    Label,
    Loop,
    Statement,
    all_statements,
    lists_of,
)
from coarsen.backend.opencl_c.c.tree import names_in


def without_unused_labels(body: list[Statement]) -> list[Statement]:
    """Return the statements without labels that no `goto` names."""
    used = {statement.target for statement in all_statements(body) if isinstance(statement, Goto)}
    return _strip(body, used)


def _strip(body: list[Statement], used: set[str]) -> list[Statement]:
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, If):
            statement.then, statement.otherwise = _strip(statement.then, used), _strip(statement.otherwise, used)
        elif isinstance(statement, Loop):
            statement.body = _strip(statement.body, used)
        if not isinstance(statement, Label) or statement.name in used:
            kept.append(statement)
    return kept


def shaped(body: list[Statement]) -> list[Statement]:
    """Return the statements with every loop in the shape that reads best."""
    result: list[Statement] = []
    for statement in body:
        if isinstance(statement, If):
            statement.then, statement.otherwise = shaped(statement.then), shaped(statement.otherwise)
            result.append(statement)
        elif isinstance(statement, Loop):
            statement.body = shaped(statement.body)
            behind = _shape(statement) if statement.kind == "forever" else []
            _counted(statement, result)
            result += [statement, *behind]
        else:
            result.append(statement)
    return result


def _own(loop: Loop, kind: type[Statement]) -> int:
    """Return how many statements of a kind belong to a loop itself, not to one inside of it."""
    count, pending = 0, [loop.body]
    while pending:
        for statement in pending.pop():
            count += isinstance(statement, kind)
            if isinstance(statement, If):
                pending.extend(lists_of(statement))
    return count


def _shape(loop: Loop) -> list[Statement]:
    """Give a loop its condition; what comes back is to stand behind the loop."""
    continues = _own(loop, Continue) > 0
    if loop.step and not continues and not any(isinstance(statement, Label) for statement in loop.body[-1:]):
        loop.body += loop.step
        loop.step = []
    breaks = _own(loop, Break)
    first = loop.body[0] if loop.body else None
    if (leaving := _leaves(first, breaks)) is not None and isinstance(first, If):
        loop.kind, loop.condition = "while", negation(first.condition)
        loop.body = loop.body[1:]
        return leaving
    last = loop.body[-1] if loop.body else None
    if not continues and not loop.step and isinstance(last, If):
        leaving = _leaves(last, breaks)
        if leaving is not None:
            loop.kind, loop.condition = "do", negation(last.condition)
            loop.body = loop.body[:-1]
            return leaving
    if loop.step:
        loop.kind = "for"
    return []


def _leaves(statement: Statement | None, breaks: int) -> list[Statement] | None:
    """Return what an `if (…) { …; break; }` does before its `break`; None for anything else.

    Assignments may only be moved behind the loop where no other `break` leads there.
    """
    if not isinstance(statement, If) or statement.otherwise or not statement.then:
        return None
    *before, last = statement.then
    if not isinstance(last, Break) or (before and breaks > 1):
        return None
    return before if all(isinstance(one, Assign) for one in before) else None


def _counted(loop: Loop, before: list[Statement]) -> None:
    """Turn a `while` that counts into a `for`, with its first value taken from what stands before it."""
    if loop.kind not in ("while", "for") or loop.condition is None:
        return
    if loop.init:
        return
    step = loop.step[-1] if loop.step else _last_step(loop)
    if step is None:
        loop.kind = "for" if loop.step else loop.kind
        return
    init = _first_value(step.variable, before)
    if init is None and not loop.step:
        return
    if not loop.step:
        loop.body = [statement for statement in loop.body if statement is not step]
        loop.step = [step]
    loop.kind = "for"
    if init is not None:
        before[:] = [statement for statement in before if statement is not init]
        loop.init = [init]


def _last_step(loop: Loop) -> Assign | None:
    """The assignment at the end of a body that moves a variable of the condition on."""
    if _own(loop, Continue):
        return None
    read: set[str] = set()
    for statement in reversed(loop.body):
        if not isinstance(statement, Assign) or statement.value is None:
            return None
        is_counter = statement.variable in names_in(loop.condition) and statement.variable in names_in(
            statement.value
        )
        if is_counter and statement.variable not in read and not _written_later(loop, statement):
            return statement
        read |= names_in(statement.value)
    return None


def _written_later(loop: Loop, step: Assign) -> bool:
    """Return True if what the step reads is assigned behind it, so that it can't move to the end."""
    place = next(index for index, statement in enumerate(loop.body) if statement is step)
    later = {statement.variable for statement in loop.body[place + 1 :] if isinstance(statement, Assign)}
    return bool(later & names_in(step.value))


def _first_value(variable: str, before: list[Statement]) -> Assign | None:
    """The assignment of a variable's first value, among those right before a loop."""
    touched: set[str] = set()
    for statement in reversed(before):
        if not isinstance(statement, Assign) or statement.declare or statement.value is None:
            return None
        if statement.variable == variable:
            independent = not (names_in(statement.value) & touched) and variable not in names_in(statement.value)
            return statement if independent else None
        if variable in names_in(statement.value):
            return None
        touched.add(statement.variable)
    return None
