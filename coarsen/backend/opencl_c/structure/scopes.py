"""Declares each variable as deep inside as its uses allow, with its first value where that is one assignment.

A variable belongs to the innermost block that encloses all its uses. Names are unique in a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coarsen.backend.opencl_c.c.statements import Assign, If, Loop, Statement, all_statements, expressions_of
from coarsen.backend.opencl_c.c.walk import names_in

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
        return _with_extra(body, extra)


def _with_extra(body: list[Statement], extra: Mapping[tuple[int, int], list[Statement]]) -> list[Statement]:
    return list(_inserted(body, extra))


def _inserted(body: list[Statement], extra: Mapping[tuple[int, int], list[Statement]]) -> Iterator[Statement]:
    for index, statement in enumerate(body):
        yield from extra.get((id(body), index), ())
        if isinstance(statement, If):
            statement.then, statement.otherwise = (
                _with_extra(statement.then, extra),
                _with_extra(statement.otherwise, extra),
            )
        elif isinstance(statement, Loop):
            statement.body = _with_extra(statement.body, extra)
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
