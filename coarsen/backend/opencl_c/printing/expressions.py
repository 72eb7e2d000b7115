"""Expressions as tokens of C, with the fewest parentheses that say what the tree says.

Where C would group rightly but readers and compilers want parentheses, there are some: operands of shifts and bit
operators, sums and all that binds less tightly in comparisons, `&&` inside of `||`.
"""

from __future__ import annotations

from collections.abc import Iterable

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
)
from coarsen.backend.opencl_c.c.types import Record, declared

_OPERAND_MINIMUM = {
    **dict.fromkeys((SHIFT, BIT_AND, BIT_XOR, BIT_OR), UNARY),
    **dict.fromkeys((RELATION, EQUALITY), SHIFT),
}
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
    match expression:
        case Name(text) | String(text):
            out.append(text)
        case Binary():
            _binary(expression, out)
        case Index(base, index):
            _operand(base, POSTFIX, out)
            _enclosed("[", [index], "]", out)
        case Integer():
            out.append(_integer(expression))
        case Cast(operand, type_):
            out.append(f"({declared(type_, '')})")
            _operand(operand, UNARY, out)
        case Call(function, arguments):
            out.append(function)
            _enclosed("(", arguments, ")", out)
        case Member():
            _member(expression, out)
        case Real(digits):
            out.append(digits)
        case Logical():
            _logical(expression, out)
        case Unary(operator, operand):
            _prefixed(operator, operand, out)
        case Retyped(operand) | Decayed(operand) | AddressOf(Dereference(operand)):
            _write(operand, out)
        case Dereference(pointer):
            _prefixed("*", pointer, out)
        case AddressOf(place):
            _prefixed("&", place, out)
        case _:
            _write_rarer(expression, out)


def _write_rarer(expression: Expression, out: list[str]) -> None:
    match expression:
        case VectorLiteral(parts, type_):
            out.append(f"({type_})")
            _enclosed("(", parts, ")", out)
        case Conditional(condition, first, second):
            _operand(condition, CONDITIONAL + 1, out)
            out.append(" ? ")
            _operand(first, CONDITIONAL + 1, out)
            out.append(" : ")
            _operand(second, CONDITIONAL, out)
        case Reinterpretation(operand, type_):
            out.append(f"as_{type_}")
            _enclosed("(", [operand], ")", out)
        case Initializer(parts):
            _enclosed("{", parts, "}", out)
        case RecordLiteral(content, type_):
            out.append(f"({type_.name})")
            _write(content, out)
        case Boolean(value):
            out.append("true" if value else "false")
        case Null():
            out.append("0")
        case _:
            raise TypeError(type(expression).__name__)


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
