"""Walks over expressions: which names they read, which types and functions their text names."""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.backend.opencl_c.c.tree import (
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
from coarsen.backend.opencl_c.c.types import CType

_NOTHING: frozenset[str] = frozenset()
_LEAVES = (Name, Integer, Real, Boolean, Null, String)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that one is directly made of."""
    match expression:
        case Binary(left, _, right) | Logical(left, _, right):
            return (left, right)
        case Index(base, index):
            return (base, index)
        case Unary(operand=one) | Cast(one) | Reinterpretation(one) | Retyped(one) | Member(one):
            return (one,)
        case Dereference(one) | AddressOf(one) | Decayed(one) | RecordLiteral(one):
            return (one,)
        case Call(_, parts) | VectorLiteral(parts) | Initializer(parts):
            return parts
        case Conditional(condition, first, second):
            return (condition, first, second)
    return ()


def walk(expression: Expression) -> Sequence[Expression]:
    """Return an expression and all that it is made of."""
    found = [expression]
    for current in found:  # which grows by the parts of each
        if not isinstance(current, _LEAVES):
            found += parts_of(current)
    return found


def names_in(expression: Expression | None) -> frozenset[str]:
    """Return the names that an expression reads; none of a missing one."""
    if expression is None or isinstance(expression, Integer):
        return _NOTHING
    if isinstance(expression, Name):
        return frozenset((expression.text,))
    return frozenset([part.text for part in walk(expression) if isinstance(part, Name)])


def note_mentions(expression: Expression, types: set[CType], functions: set[str]) -> None:
    """Add the types that an expression's text spells out, and the functions that it calls."""
    for part in walk(expression):
        if isinstance(part, Call):
            functions.add(part.function)
        elif isinstance(part, (Cast, VectorLiteral, RecordLiteral)):
            types.add(part.type)
