"""Declares variables as deep inside as their uses allow, removes `goto`s that an `if` can say, shapes loops.

A variable belongs to the innermost block that encloses all its uses, and is declared with its first value where
that is one assignment. Names are unique in a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from coarsen.backend.opencl_c.c.build import negation
from coarsen.backend.opencl_c.c.tree import (
    Assign,
    Break,
    Continue,
    Goto,
    If,
    Label,
    Loop,
    Statement,
    all_statements,
    expressions_of,
    lists_of,
    names_in,
)
from coarsen.backend.opencl_c.printing.expressions import same_text

_Path = tuple[tuple[int, int], ...]


def declare(body: list[Statement], variables: Iterable[str]) -> list[Statement]:
    """Return the statements with the variables' declarations in place."""
    scopes = _Scopes(frozenset(variables))
    scopes.visit(body, ())
    return scopes.place(body)


def declare_at_top(body: list[Statement], variables: Iterable[str]) -> list[Statement]:
    """Return the statements behind all declarations, for text full of jumps."""
    used = {name for statement in all_statements(body) for name in _names(statement)}
    return [*(Assign(name, None, declare=True) for name in variables if name in used), *body]


def _names(statement: Statement) -> frozenset[str]:
    """The names that a statement itself reads or assigns, without those of statements inside of it."""
    names = frozenset[str]().union(*map(names_in, expressions_of(statement)))
    return names | {statement.variable} if isinstance(statement, Assign) else names


class _Scopes:
    """Finds, for each variable, the list of statements to declare it in, and the first statement that uses it."""

    def __init__(self, variables: frozenset[str]) -> None:
        self.variables = variables
        self.found: dict[str, _Path] = {}
        self.lists: dict[int, list[Statement]] = {}
        self.loops: dict[int, Loop] = {}

    def visit(self, body: list[Statement], prefix: _Path) -> None:
        self.lists[id(body)] = body
        for index, statement in enumerate(body):
            path = (*prefix, (id(body), index))
            match statement:
                case If(condition, then, otherwise):
                    self._use(names_in(condition), path)
                    self.visit(then, path)
                    self.visit(otherwise, path)
                case Loop():
                    self._visit_loop(statement, path)
                case _:
                    self._use(_names(statement), path)

    def _visit_loop(self, loop: Loop, path: _Path) -> None:
        """A `for` has a scope of its own around condition, step and body; other conditions stand outside."""
        own = path
        if loop.kind == "for":
            self.loops[id(loop)] = loop
            own = (*path, (id(loop), 1))
            for assign in loop.init:
                self._use(names_in(assign.value), path)
                self._use((assign.variable,), (*path, (id(loop), 0)))
            for assign in loop.step:
                self._use(_names(assign), own)
        self._use(names_in(loop.condition), own)
        self.visit(loop.body, own)

    def _use(self, names: Iterable[str], path: _Path) -> None:
        for name in sorted(self.variables.intersection(names)):  # a set's own order is another in each process
            known = self.found.get(name)
            self.found[name] = path if known is None else _common(known, path)

    def place(self, body: list[Statement]) -> list[Statement]:
        """Mark first assignments as declarations, and put plain declarations where there is none."""
        extra: dict[tuple[int, int], list[Statement]] = {}
        for name, path in self.found.items():
            scope, index = path[-1]
            if scope in self.loops:
                loop = self.loops[scope]
                if index == 0 and len(loop.init) == 1 and loop.init[0].variable == name:
                    loop.init[0].declare = True
                    continue
                scope, index = path[-2]
            first = self.lists[scope][index]
            if isinstance(first, Assign) and first.variable == name and name not in names_in(first.value):
                first.declare = True
            else:
                extra.setdefault((scope, index), []).append(Assign(name, None, declare=True))
        return _rewritten(body, lambda old: list(_with_extra(old, extra)))


def _rewritten(body: list[Statement], rewrite: Callable[[list[Statement]], list[Statement]]) -> list[Statement]:
    """Return what a function makes of a list of statements, of those inside of its statements first."""
    for statement in body:
        if isinstance(statement, If):
            statement.then = _rewritten(statement.then, rewrite)
            statement.otherwise = _rewritten(statement.otherwise, rewrite)
        elif isinstance(statement, Loop):
            statement.body = _rewritten(statement.body, rewrite)
    return rewrite(body)


def _with_extra(body: list[Statement], extra: Mapping[tuple[int, int], list[Statement]]) -> Iterator[Statement]:
    for index, statement in enumerate(body):
        yield from extra.get((id(body), index), ())
        yield statement


def _common(first: _Path, second: _Path) -> _Path:
    """The innermost place that encloses both: in the same list, the earlier of the two statements."""
    common: list[tuple[int, int]] = []
    for one, other in zip(first, second, strict=False):
        if one == other:
            common.append(one)
        elif one[0] == other[0]:
            return (*common, min(one, other))
        else:
            break
    return tuple(common)


# Such `goto`s are forward jumps over statements, and jumps to what comes next anyway.
#
# if (c) goto end; A; end:;          →   if (!c) { A; } end:;
# if (c) { A; S; } else { B; S; }    →   if (c) { A; } else { B; } S;      (S a jump that both arms end with)

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
    labels = (place for place, one in enumerate(body) if isinstance(one, Label) and one.name == target)
    return next((place for place in labels if place > start), None)


def _labels_at(body: list[Statement], place: int, behind: frozenset[str]) -> frozenset[str]:
    """The labels that control meets at a place of a list before any other statement."""
    following = body[place:]
    end = next((index for index, one in enumerate(following) if not isinstance(one, Label)), None)
    met = frozenset(one.name for one in following[:end] if isinstance(one, Label))
    return met | behind if end is None else met


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


# Endless loops with a `break` at their start or end become `while`, `do` and `for`.
#
# while (true) { if (!(i < n)) break; …; i = i + 1; }   →   for (int i = 0; i < n; ++i) { … }


def without_unused_labels(body: list[Statement]) -> list[Statement]:
    """Return the statements without labels that no `goto` names."""
    used = {statement.target for statement in all_statements(body) if isinstance(statement, Goto)}
    return _rewritten(body, lambda old: [one for one in old if not isinstance(one, Label) or one.name in used])


def shaped(body: list[Statement]) -> list[Statement]:
    """Return the statements with every loop in the shape that reads best."""
    return _rewritten(body, _with_shaped_loops)


def _with_shaped_loops(body: list[Statement]) -> list[Statement]:
    result: list[Statement] = []
    for statement in body:
        behind: list[Statement] = []
        if isinstance(statement, Loop):
            behind = _shape(statement) if statement.kind == "forever" else []
            _counted(statement, result)
        result += [statement, *behind]
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
