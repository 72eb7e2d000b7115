"""Statements as indented lines of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from coarsen.backend.opencl_c.c.build import without_conversion
from coarsen.backend.opencl_c.c.statements import (
    Assign,
    Break,
    Continue,
    Evaluate,
    Goto,
    If,
    Label,
    Loop,
    Return,
    Statement,
    Store,
)
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression, Logical, Name, Null
from coarsen.backend.opencl_c.c.types import CType, Opaque, declared
from coarsen.backend.opencl_c.printing.expressions import same_text, tokens, written

Line = list[str]
_INDENT = "    "
_SHORT = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_COMMUTATIVE = frozenset({"+", "*", "&", "|", "^"})


class Printer:
    """Writes statements; `types` gives the C type of each variable, `labels` names each label."""

    def __init__(self, types: Mapping[str, CType], labels: Callable[[str], str]) -> None:
        self.types = types
        self.labels = labels

    def lines(self, body: list[Statement], depth: int = 1) -> Iterator[Line]:
        """Yield the lines of a list of statements, each as its tokens."""
        pad = _INDENT * depth
        for statement in body:
            match statement:
                case If():
                    yield from self._if(statement, depth)
                case Loop():
                    yield from self._loop(statement, depth)
                case Label(name):
                    # C wants a statement after a label, and a declaration is none.
                    yield [f"{_INDENT * (depth - 1)}{self.labels(name)}:;"]
                case _:
                    yield [pad, *self._simple(statement), ";"]

    def _simple(self, statement: Statement) -> Line:
        match statement:
            case Evaluate(expression):
                return tokens(expression)
            case Store(place, value):
                return assignment(place, value)
            case Assign():
                return self._assignment(statement)
            case Goto(target):
                return [f"goto {self.labels(target)}"]
            case Break():
                return ["break"]
            case Continue():
                return ["continue"]
            case Return():
                return ["return"]
        raise TypeError(type(statement).__name__)

    def _assignment(self, assign: Assign) -> Line:
        type_ = self.types[assign.variable]
        if assign.declare:
            declaration = declared(type_, assign.variable)
            if assign.value is None:
                return [declaration]
            return [declaration, " = ", *tokens(without_conversion(assign.value))]
        if assign.value is None:
            return [assign.variable]
        return assignment(Name(assign.variable, type_), assign.value)

    def _if(self, statement: If, depth: int) -> Iterator[Line]:
        pad = _INDENT * depth
        opening = f"{pad}if "
        while True:
            yield [opening, "(", *tokens(statement.condition), ")", " {"]
            yield from self.lines(statement.then, depth + 1)
            otherwise = statement.otherwise
            if len(otherwise) == 1 and isinstance(otherwise[0], If):
                statement = otherwise[0]
                opening = f"{pad}}} else if "
                continue
            if otherwise:
                yield [f"{pad}}} else {{"]
                yield from self.lines(otherwise, depth + 1)
            yield [f"{pad}}}"]
            return

    def _loop(self, loop: Loop, depth: int) -> Iterator[Line]:
        pad = _INDENT * depth
        condition = tokens(loop.condition) if loop.condition is not None else ["true"]
        if loop.unroll_hint:
            yield [f"{pad}__attribute__(({loop.unroll_hint}))"]
        if loop.kind == "for":
            yield [pad, *self._for(loop), " {"]
        elif loop.kind == "do":
            yield [f"{pad}do {{"]
        else:
            yield [pad, "while ", "(", *(["true"] if loop.kind == "forever" else condition), ")", " {"]
        yield from self.lines(loop.body, depth + 1)
        yield [pad, "} while ", "(", *condition, ")", ";"] if loop.kind == "do" else [f"{pad}}}"]

    def _for(self, loop: Loop) -> Line:
        condition = tokens(loop.condition) if loop.condition is not None else []
        return ["for ", "(", *self._list(loop.init), "; ", *condition, "; ", *self._list(loop.step), ")"]

    def _list(self, assigns: list[Assign]) -> Line:
        line: Line = []
        for place, assign in enumerate(assigns):
            line += [*([", "] if place else []), *self._assignment(assign)]
        return line


def assignment(target: Expression, value: Expression) -> Line:
    """Return `target = value`, shortened where the value starts from the target."""
    value = without_conversion(value)
    if isinstance(value, Null) and isinstance(value.type, Opaque):
        value = Cast(value, value.type)  # C initialises an event with 0, but assigns none to it
    if isinstance(value, (Binary, Logical)) and value.operator in _SHORT:
        left, operator, right = value.left, value.operator, value.right
        if operator in _COMMUTATIVE and not same_text(left, target) and same_text(right, target):
            left, right = right, left
        if same_text(left, target):
            if operator in "+-" and written(right) == "1":
                return [operator * 2, *tokens(target)]
            return [*tokens(target), f" {operator}= ", *tokens(right)]
    return [*tokens(target), " = ", *tokens(value)]
