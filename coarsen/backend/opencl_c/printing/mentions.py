"""What a program's text mentions: the types that it spells out and the functions that it calls.

Extensions, structures and aliasing types are declared where they are mentioned, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.backend.opencl_c.c.statements import Assign, Statement, all_statements, expressions_of
from coarsen.backend.opencl_c.c.tree import Expression
from coarsen.backend.opencl_c.c.types import Array, CType, Pointer, Record, Scalar, Vector, from_llvm
from coarsen.backend.opencl_c.c.walk import note_mentions


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable in memory: its declaration without the initialiser, its type, and the initialiser if any."""

    text: str
    type: CType
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Mentions:
    """The types that a text spells out, and the functions that it calls."""

    types: frozenset[CType]
    functions: frozenset[str]


def mentions(
    body: list[Statement],
    variables: Mapping[str, CType],
    declarations: Iterable[Declaration],
    arguments: Iterable[CType],
) -> Mentions:
    """Return what a kernel mentions.

    Args:
        body: its statements.
        variables: the types of the variables that the statements declare.
        declarations: the variables in memory, those of the program included.
        arguments: the types of its arguments.
    """
    types = set(arguments)
    expressions: list[Expression] = []
    for statement in all_statements(body):
        if isinstance(statement, Assign) and statement.declare:
            types.add(variables[statement.variable])
        expressions += expressions_of(statement)
    for declaration in declarations:
        types.add(declaration.type)
        if declaration.value is not None:
            expressions.append(declaration.value)
    functions: set[str] = set()
    for expression in expressions:
        note_mentions(expression, types, functions)
    return Mentions(frozenset(types), frozenset(functions))


def scalars_in(types: Iterable[CType]) -> Iterator[tuple[Scalar, bool]]:
    """Yield the scalars in types, those of structures' fields included, and whether each is only pointed to."""
    pending = [(type_, False) for type_ in types]
    records: set[str] = set()
    while pending:
        type_, is_pointee = pending.pop()
        match type_:
            case Scalar():
                yield type_, is_pointee
            case Vector(element):
                yield element, is_pointee
            case Array(element_type):
                pending.append((element_type, False))
            case Pointer(pointee):
                pending.append((pointee, True))
            case Record(name, layout) if name not in records:
                records.add(name)
                pending.extend((from_llvm(element), False) for element in layout.elements)
