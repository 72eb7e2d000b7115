"""Statements as indented text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from coarsen.backend.opencl_c.c.expression import Expression
from coarsen.backend.opencl_c.c.statements import (
    Assign,
    Break,
    Continue,
    Goto,
    If,
    Label,
    Line,
    Loop,
    Return,
    Statement,
)
from coarsen.backend.opencl_c.c.types import CType, declared

_INDENT = "    "
_SHORT = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_COMMUTATIVE = frozenset({"+", "*", "&", "|", "^"})


class Printer:
    """Writes statements; `types` gives the C type of each variable, `labels` names each label."""

    def __init__(self, types: Mapping[str, CType], labels: Callable[[str], str]) -> None:
        self.types = types
        self.labels = labels

    def lines(self, body: list[Statement], depth: int = 1) -> Iterator[str]:
        """The lines of a list of statements."""
        pad = _INDENT * depth
        for statement in body:
            match statement:
                case Line(text):
                    yield f"{pad}{text};"
                case Assign():
                    yield f"{pad}{self._assignment(statement)};"
                case If():
                    yield from self._if(statement, depth)
                case Loop():
                    yield from self._loop(statement, depth)
                case Label(name):
                    # C wants a statement behind a label, and a declaration is none.
                    yield f"{_INDENT * (depth - 1)}{self.labels(name)}:;"
                case Goto(target):
                    yield f"{pad}goto {self.labels(target)};"
                case Break():
                    yield f"{pad}break;"
                case Continue():
                    yield f"{pad}continue;"
                case Return():
                    yield f"{pad}return;"

    def _assignment(self, assign: Assign) -> str:
        if assign.declare:
            declaration = declared(self.types[assign.variable], assign.variable)
            return (
                declaration if assign.value is None else f"{declaration} = {assign.value.without_conversion.text}"
            )
        if assign.value is None:
            return assign.variable
        return assignment(assign.variable, assign.value)

    def _if(self, statement: If, depth: int) -> Iterator[str]:
        pad = _INDENT * depth
        opening = f"{pad}if ({statement.condition.text}) {{"
        while True:
            yield opening
            yield from self.lines(statement.then, depth + 1)
            otherwise = statement.otherwise
            if len(otherwise) == 1 and isinstance(otherwise[0], If):
                statement = otherwise[0]
                opening = f"{pad}}} else if ({statement.condition.text}) {{"
                continue
            if otherwise:
                yield f"{pad}}} else {{"
                yield from self.lines(otherwise, depth + 1)
            yield f"{pad}}}"
            return

    def _loop(self, loop: Loop, depth: int) -> Iterator[str]:
        pad = _INDENT * depth
        condition = loop.condition.text if loop.condition is not None else "true"
        opening = {
            "forever": "while (true)",
            "while": f"while ({condition})",
            "do": "do",
            "for": self._for(loop),
        }[loop.kind]
        yield f"{pad}{opening} {{"
        yield from self.lines(loop.body, depth + 1)
        yield f"{pad}}} while ({condition});" if loop.kind == "do" else f"{pad}}}"

    def _for(self, loop: Loop) -> str:
        init = ", ".join(self._assignment(assign) for assign in loop.init)
        condition = loop.condition.text if loop.condition is not None else ""
        step = ", ".join(self._assignment(assign) for assign in loop.step)
        return f"for ({init}; {condition}; {step})"


def assignment(target: str, value: Expression) -> str:
    """`target = value`, shortened where the value starts from the target."""
    value = value.without_conversion
    if value.operation is not None:
        left, operator, right = value.operation
        if left != target and right == target and operator in _COMMUTATIVE:
            left, right = right, left
        if left == target and operator in _SHORT:
            if right == "1" and operator in "+-":
                return f"{operator * 2}{target}"
            return f"{target} {operator}= {_unwrapped(right)}"
    return f"{target} = {value.text}"


def _unwrapped(text: str) -> str:
    """Without parentheses around the whole."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]
