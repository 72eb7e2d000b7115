"""Expressions as tokens of C, with the fewest parentheses that say what the tree says.

Where C would group rightly but readers and compilers want parentheses, there are some: operands of shifts and bit
operators, sums and all that binds less tightly in comparisons, `&&` inside of `||`. Long lines are broken between
tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

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
    Binary,
    Boolean,
    Call,
    Cast,
    Conditional,
    Decayed,
    Dereference,
    Expression,
    Index,
    Initializer,
    Integer,
    Logical,
    Member,
    Name,
    Null,
    Real,
    RecordLiteral,
    Reinterpretation,
    Retyped,
    String,
    Unary,
    VectorLiteral,
    parts_of,
)
from coarsen.backend.opencl_c.c.types import Record, declared

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
