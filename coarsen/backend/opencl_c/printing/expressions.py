"""Expressions as tokens of C, with the fewest parentheses that say what the tree says, and statements as lines.

Where C would group rightly but readers and compilers want parentheses, there are some: operands of shifts and bit
operators, sums and all that binds less tightly in comparisons, `&&` inside of `||`. Long lines are broken between
tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from coarsen.backend.opencl_c.c.build import without_conversion
from coarsen.backend.opencl_c.c.tree import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    CONDITIONAL,
    EQUALITY,
    LOGICAL_AND,
    LOWEST,
    POSTFIX,
    PRIMARY,
    RELATION,
    SHIFT,
    UNARY,
    AddressOf,
    Assign,
    Binary,
    Boolean,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Decayed,
    Dereference,
    Evaluate,
    Expression,
    Goto,
    If,
    Index,
    Initializer,
    Integer,
    Label,
    Logical,
    Loop,
    Member,
    Name,
    Null,
    Real,
    RecordLiteral,
    Reinterpretation,
    Return,
    Retyped,
    Statement,
    Store,
    String,
    Unary,
    VectorLiteral,
    parts_of,
)
from coarsen.backend.opencl_c.c.types import CType, Opaque, Record, declared

_OPERAND_MINIMUM = {
    **dict.fromkeys((SHIFT, BIT_AND, BIT_XOR, BIT_OR), UNARY),
    **dict.fromkeys((RELATION, EQUALITY), SHIFT),
}
_Writer = Callable[[Any, list[str]], None]
_SUFFIXES = {"uint": "u", "long": "L", "ulong": "UL"}


def tokens(expression: Expression, minimum: int = LOWEST) -> list[str]:
    """Return an expression's tokens, in parentheses if it binds less tightly than `minimum`.

    Blanks belong to the operators and commas that they stand around, so that the tokens joined are the text.
    """
    out: list[str] = []
    _operand(expression, minimum, out)
    return out


def written(expression: Expression) -> str:
    """Return an expression's text."""
    return "".join(tokens(expression))


def same_text(first: Expression | None, second: Expression | None) -> bool:
    """Return True if two expressions are written alike."""
    if first is None or second is None:
        return first is second
    return first == second or written(first) == written(second)


def _operand(expression: Expression, minimum: int, out: list[str]) -> None:
    if expression.precedence >= minimum:
        _write(expression, out)
    else:
        out.append("(")
        _write(expression, out)
        out.append(")")


def _write(expression: Expression, out: list[str]) -> None:
    _WRITERS[type(expression)](expression, out)


def _leaf(text: Callable[[Any], str]) -> _Writer:
    return lambda expression, out: out.append(text(expression))


def _list(head: Callable[[Any], str], opening: str = "(", closing: str = ")") -> _Writer:
    def write(expression: Expression, out: list[str]) -> None:
        out.append(head(expression))
        _enclosed(opening, parts_of(expression), closing, out)

    return write


def _prefix(operator: Callable[[Any], str]) -> _Writer:
    return lambda expression, out: _prefixed(operator(expression), parts_of(expression)[0], out)


def _inner(expression: Retyped | Decayed, out: list[str]) -> None:
    _write(parts_of(expression)[0], out)


def _index(element: Index, out: list[str]) -> None:
    _operand(element.base, POSTFIX, out)
    _enclosed("[", [element.index], "]", out)


def _cast(cast: Cast, out: list[str]) -> None:
    out.append(f"({declared(cast.type, '')})")
    _operand(cast.operand, UNARY, out)


def _address(address: AddressOf, out: list[str]) -> None:
    """Write the address of a place; that of `*p` is `p`."""
    if isinstance(address.place, Dereference):
        _write(address.place.pointer, out)
    else:
        _prefixed("&", address.place, out)


def _conditional(choice: Conditional, out: list[str]) -> None:
    _operand(choice.condition, CONDITIONAL + 1, out)
    out.append(" ? ")
    _operand(choice.first, CONDITIONAL + 1, out)
    out.append(" : ")
    _operand(choice.second, CONDITIONAL, out)


def _record(literal: RecordLiteral, out: list[str]) -> None:
    out.append(f"({literal.type.name})")
    _write(literal.content, out)


def _binary(expression: Binary, out: list[str]) -> None:
    """Write `left operator right`, grouped from the left."""
    precedence = expression.precedence
    minimum = _OPERAND_MINIMUM.get(precedence, precedence)
    _operand(expression.left, minimum, out)
    out.append(f" {expression.operator} ")
    _operand(expression.right, max(minimum, precedence + 1), out)


def _logical(expression: Logical, out: list[str]) -> None:
    """Write a chain of `&` without parentheses between its links, and an `&&` or `&` inside of an `||` in some."""
    operator = expression.operator
    for place, operand in enumerate((expression.left, expression.right)):
        if place:
            out.append(f" {operator} ")
        if operator == "||" and operand.precedence in (LOGICAL_AND, BIT_AND):
            _operand(operand, PRIMARY, out)
        elif operator == "&":
            is_link = place == 0 and isinstance(operand, Logical) and operand.operator == "&"
            _operand(operand, BIT_AND if is_link else UNARY, out)
        else:
            _operand(operand, expression.precedence + place, out)


def _prefixed(operator: str, operand: Expression, out: list[str]) -> None:
    """Write `operator operand`; a blank keeps two minus signs apart."""
    inner = tokens(operand, UNARY)
    out.append(f"{operator} " if inner[0].startswith(operator) and operator in "-+&" else operator)
    out.extend(inner)


def _member(expression: Member, out: list[str]) -> None:
    record = expression.record
    if isinstance(record, Dereference) and isinstance(record.type, Record):
        _operand(record.pointer, POSTFIX, out)
        out.append(f"->{expression.field}")
    else:
        _operand(record, POSTFIX, out)
        out.append(f".{expression.field}")


def _enclosed(opening: str, parts: Iterable[Expression], closing: str, out: list[str]) -> None:
    out.append(opening)
    for place, part in enumerate(parts):
        if place:
            out.append(", ")
        _write(part, out)
    out.append(closing)


def _integer(literal: Integer) -> str:
    suffix = _SUFFIXES.get(literal.type.name, "")
    if literal.is_lowest:
        return f"({literal.value + 1}{suffix} - 1)"
    return f"{literal.value:#x}{suffix}" if literal.is_hexadecimal else f"{literal.value}{suffix}"


_WRITERS: Mapping[type[Expression], _Writer] = {
    **dict.fromkeys((Name, String), _leaf(attrgetter("text"))),
    Integer: _leaf(_integer),
    Real: _leaf(attrgetter("digits")),
    Boolean: _leaf(lambda literal: "true" if literal.value else "false"),
    Null: _leaf(lambda _: "0"),
    Unary: _prefix(attrgetter("operator")),
    Binary: _binary,
    Logical: _logical,
    Conditional: _conditional,
    Cast: _cast,
    Reinterpretation: _list(lambda same_bits: f"as_{same_bits.type}"),
    Call: _list(attrgetter("function")),
    Index: _index,
    Member: _member,
    VectorLiteral: _list(lambda literal: f"({literal.type})"),
    Initializer: _list(lambda _: "", "{", "}"),
    RecordLiteral: _record,
    Dereference: _prefix(lambda _: "*"),
    AddressOf: _address,
    **dict.fromkeys((Decayed, Retyped), _inner),
}


_WIDTH = 110
_SHORTEST = 40
_INDENT = "    "
_COMMA = ", "
_OPERATORS = frozenset({" + ", " - ", " * ", " && ", " || ", " | ", " ^ ", " ? ", " : "})
_DEPTHS = {"(": 1, "[": 1, ")": -1, "]": -1}


@dataclass(frozen=True, slots=True)
class _Break:
    """A blank where a line may end: its place in the text, how deep in parentheses, and how wide."""

    place: int
    depth: int
    width: int


def wrapped(line: Sequence[str]) -> Iterator[str]:
    """Yield the text of a line's tokens, or several lines that C reads as the same; with a string literal, one."""
    text = "".join(line)
    if len(text) <= _WIDTH or '"' in text:
        yield text
        return
    breaks = list(_breaks(line))
    indent = text[: len(text) - len(text.lstrip())] + _INDENT
    start, before = 0, ""
    shortest = len(indent) - len(_INDENT) + _SHORTEST
    while len(before) + len(text) - start > _WIDTH:
        place = _best(breaks, start - len(before), shortest)
        if place is None:
            break
        yield before + text[start:place].rstrip()
        start, before = place + 1, indent
        shortest = len(indent) + _SHORTEST
    yield before + text[start:]


def _best(breaks: Sequence[_Break], left: int, shortest: int) -> int | None:
    """Return the last break at the outermost level of parentheses that lies within the width."""
    fitting = [one for one in breaks if shortest <= one.place - left and one.place + one.width - left <= _WIDTH]
    best = min(fitting, key=lambda one: (one.depth, -one.place), default=None)
    return best.place if best is not None else None


def _breaks(line: Sequence[str]) -> Iterator[_Break]:
    place = depth = 0
    for token in line:
        if token == _COMMA:
            yield _Break(place + 1, depth, 1)
        elif token in _OPERATORS:
            yield _Break(place, depth, len(token))
        depth += _DEPTHS.get(token, 0)
        place += len(token)


# Statements as indented lines of tokens.

Line = list[str]

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
