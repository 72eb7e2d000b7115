"""Removes `goto`s that an `if` can say: forward jumps over statements, and jumps to what comes next anyway.

if (c) goto end; A; end:;          →   if (!c) { A; } end:;
if (c) { A; S; } else { B; S; }    →   if (c) { A; } else { B; } S;      (S a jump that both arms end with)
"""

from __future__ import annotations

from coarsen.backend.opencl_c.c.conditions import negation
from coarsen.backend.opencl_c.c.statements import Goto, If, Label, Loop, Statement
from coarsen.backend.opencl_c.printing.expressions import same_text

_NOWHERE: frozenset[str] = frozenset()


def without_forward_jumps(body: list[Statement], behind: frozenset[str] = _NOWHERE) -> list[Statement]:
    """Return the statements with fewer jumps; `behind` are the labels that stand right behind them."""
    body = _with_shared_ends(body)
    result: list[Statement] = []
    place = 0
    while place < len(body):
        statement = body[place]
        target = _jumps_over(statement)
        end = _label_place(body, target, place) if target is not None else None
        if end is None and target in behind:
            end = len(body)
        skipped = body[place + 1 : end] if end is not None else []
        if isinstance(statement, If) and skipped and not any(isinstance(one, Label) for one in skipped):
            body = [*body[:place], If(statement.condition, statement.then[:-1], skipped), *body[end:]]
            continue
        result += _inside(statement, _labels_at(body, place + 1, behind))
        place += 1
    return _without_last_jump(result, behind)


def _jumps_over(statement: Statement) -> str | None:
    """The label that an `if` without `else` jumps to at its end."""
    if not isinstance(statement, If) or statement.otherwise or not statement.then:
        return None
    last = statement.then[-1]
    return last.target if isinstance(last, Goto) else None


def _label_place(body: list[Statement], target: str | None, start: int) -> int | None:
    for place in range(start + 1, len(body)):
        statement = body[place]
        if isinstance(statement, Label) and statement.name == target:
            return place
    return None


def _labels_at(body: list[Statement], place: int, behind: frozenset[str]) -> frozenset[str]:
    """The labels that control meets at a place of a list before any other statement."""
    found: set[str] = set()
    while place < len(body):
        statement = body[place]
        if not isinstance(statement, Label):
            return frozenset(found)
        found.add(statement.name)
        place += 1
    return behind | found


def _inside(statement: Statement, behind: frozenset[str]) -> list[Statement]:
    """A statement with the same done to what is in it."""
    if isinstance(statement, Loop):
        statement.body = without_forward_jumps(statement.body)
        return [statement]
    if isinstance(statement, If):
        then = without_forward_jumps(statement.then, behind)
        otherwise = without_forward_jumps(statement.otherwise, behind)
        if not then and not otherwise:
            return []
        if not then:
            return [If(negation(statement.condition), otherwise, [])]
        return [If(statement.condition, then, otherwise)]
    return [statement]


def _without_last_jump(body: list[Statement], behind: frozenset[str]) -> list[Statement]:
    last = body[-1] if body else None
    return body[:-1] if isinstance(last, Goto) and last.target in behind else body


def _with_shared_ends(body: list[Statement]) -> list[Statement]:
    """Tests that both arms of an `if` end with, behind that `if`."""
    result: list[Statement] = []
    for statement in body:
        shared = _shared_end(statement) if isinstance(statement, If) else None
        if shared is None or not isinstance(statement, If):
            result.append(statement)
        else:
            result += [If(statement.condition, statement.then[:-1], statement.otherwise[:-1]), shared]
    return result


def _shared_end(statement: If) -> If | None:
    """An `if (…) goto …;` that stands last in both arms."""
    if not statement.then or not statement.otherwise:
        return None
    first, second = statement.then[-1], statement.otherwise[-1]
    if _jumps_over(first) is None or _jumps_over(first) != _jumps_over(second):
        return None
    if not isinstance(first, If) or not isinstance(second, If):
        return None
    same = same_text(first.condition, second.condition) and len(first.then) == len(second.then) == 1
    return first if same else None
