"""Walks over expressions: which names they read, which types and functions their text names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from coarsen.backend.opencl_c.c.tree import (
    AddressOf,
    Binary,
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
    RecordLiteral,
    Reinterpretation,
    Retyped,
    Unary,
    VectorLiteral,
)
from coarsen.backend.opencl_c.c.types import CType

_NOTHING: frozenset[str] = frozenset()
# What each kind of expression is directly made of; leaves are made of nothing.
_PARTS: Mapping[type[Expression], Callable[[Any], tuple[Expression, ...]]] = {
    **dict.fromkeys((Binary, Logical), attrgetter("left", "right")),
    **dict.fromkeys((Unary, Cast, Reinterpretation, Retyped), lambda one: (one.operand,)),
    **dict.fromkeys((VectorLiteral, Initializer), attrgetter("parts")),
    Index: attrgetter("base", "index"),
    Member: lambda member: (member.record,),
    Dereference: lambda place: (place.pointer,),
    AddressOf: lambda address: (address.place,),
    Decayed: lambda pointer: (pointer.array,),
    RecordLiteral: lambda literal: (literal.content,),
    Call: attrgetter("arguments"),
    Conditional: attrgetter("condition", "first", "second"),
}


def walk(expression: Expression) -> Sequence[Expression]:
    """Return an expression and all that it is made of."""
    found = [expression]
    for current in found:  # which grows by the parts of each
        parts = _PARTS.get(type(current))
        if parts is not None:
            found += parts(current)
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
