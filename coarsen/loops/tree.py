"""A C function as a tree: variables resolved, macros expanded, parentheses and pointers' casts gone.

Nodes are equal that differ in their places alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from coarsen.errors import SourcePosition

_WHOLE = frozenset(["char", "short", "int", "long", "unsigned", "signed", "_Bool", "bool"])
_QUALIFIERS = frozenset(["const", "volatile", "restrict", "__restrict"])
Node = TypeVar("Node", bound="Expression | Statement")


def is_whole(spelled: str) -> bool:
    """Return True for the type of whole numbers of any size, an enumeration among them."""
    words = [word for word in spelled.split() if word not in _QUALIFIERS]
    return bool(words) and (words[0] == "enum" or set(words) <= _WHOLE)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: `identity` tells variables of the same name apart, `type` is as C spells it, typedefs resolved.

    A `symbol` is an iterator or a parameter of a nest, by its name there.
    """

    identity: str
    name: str
    type: str
    kind: Literal["parameter", "local", "global", "constant", "symbol"]

    @property
    def is_whole(self) -> bool:
        """Return True for a whole number of any size, an enumeration among them."""
        return is_whole(self.type)

    @property
    def is_memory(self) -> bool:
        """Return True for pointers and arrays."""
        return "*" in self.type or "[" in self.type


@dataclass(frozen=True, slots=True)
class Number:
    """A number as C spells it; `value` is None for one that is not whole."""

    text: str
    value: int | None
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A variable's use."""

    variable: Variable
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its operands; `?:` has three."""

    operator: str
    operands: tuple[Expression, ...]
    place: SourcePosition = dataclasses.field(compare=False)
    is_unsigned: bool = False


@dataclass(frozen=True, slots=True)
class Cast:
    """A number as one of another type: written by the user, or of a function's argument.

    Other conversions follow from the types in C as in OpenCL C. `is_narrow` if it may change a whole number.
    """

    type: str
    operand: Expression
    is_narrow: bool
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Subscript:
    """`base[index]`; `*base` is `base[0]`, `base + index` is `&base[index]`."""

    base: Expression
    index: Expression
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Member:
    """`base.field` or `base->field`, and the type of the field."""

    base: Expression
    field: str
    is_arrow: bool
    type: str
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function by its name; empty for one through a pointer."""

    function: str
    arguments: tuple[Expression, ...]
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target = value`; `operator` is that of `+=` without the `=`, empty for a plain one."""

    target: Expression
    operator: str
    value: Expression
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array, or a variable, by the nest's name; the indices are those of its type's extents.

    An extent is None where the type does not say it, as of a pointer.
    """

    array: str
    indices: tuple[Expression, ...]
    extents: tuple[Expression | None, ...]
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """An expression that is not read further: `what` is clang's word for it."""

    what: str
    parts: tuple[Expression, ...]
    place: SourcePosition = dataclasses.field(compare=False)


Expression: TypeAlias = (
    Number | Name | Operation | Cast | Subscript | Member | Call | Assignment | Element | Unknown
)


@dataclass(frozen=True, slots=True)
class Directive:
    """An OpenMP directive: its words (`parallel for`), its clauses as text, None where these aren't known."""

    words: tuple[str, ...]
    clauses: str | None
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """A `for` loop; what is left out of its head is None."""

    first: Assignment | Declare | None
    condition: Expression | None
    step: Expression | None
    body: tuple[Statement, ...]
    place: SourcePosition = dataclasses.field(compare=False)
    directives: tuple[Directive, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """An `if` with both of its branches."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement, and its text in the source; `is_return` for the value that is returned."""

    expression: Expression
    text: str
    place: SourcePosition = dataclasses.field(compare=False)
    is_return: bool = False


@dataclass(frozen=True, slots=True)
class Declare:
    """A local variable's declaration, with its first value if it has one."""

    variable: Variable
    value: Expression | None
    text: str
    place: SourcePosition = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Other:
    """A statement that is not read further: `what` is how a reader calls it."""

    what: str
    place: SourcePosition = dataclasses.field(compare=False)
    is_return: bool = False


Statement: TypeAlias = For | If | Evaluate | Declare | Other


@dataclass(frozen=True, slots=True)
class CFunction:
    """A C function: its parameters, its body, and the variables that its extents may name."""

    name: str
    parameters: tuple[Variable, ...]
    body: tuple[Statement, ...]
    place: SourcePosition = dataclasses.field(compare=False)
    globals: tuple[Variable, ...] = ()

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables by name: those that it declares, globals, and its parameters before these."""
        declared = (each.variable for each in all_of(self.body) if isinstance(each, Declare))
        return {each.name: each for each in (*declared, *self.globals, *self.parameters)}

    @property
    def has_loops(self) -> bool:
        """Return True if there is a loop in it, of any kind."""
        every = all_of(self.body)
        return any(isinstance(each, For) or (isinstance(each, Other) and "loop" in each.what) for each in every)


def all_of(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield every statement of a body, those inside of others after them."""
    for each in statements:
        yield each
        match each:
            case For():
                yield from all_of(each.body)
            case If():
                yield from all_of((*each.then, *each.otherwise))


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that an expression is made of, in the order in which they are written."""
    every = (value if isinstance(value, tuple) else (value,) for value in _values(expression).values())
    return tuple(each for value in every for each in value if isinstance(each, Expression))


def with_parts(node: Node, change: Callable[[Expression], Expression]) -> Node:
    """Return a node with another in place of each expression in it, those of inner statements among them."""

    def changed(value: Any) -> Any:  # noqa: ANN401 (what a field holds)
        if isinstance(value, tuple):
            return tuple(map(changed, value))
        if isinstance(value, Statement):
            return with_parts(value, change)
        return change(value) if isinstance(value, Expression) else value

    return dataclasses.replace(node, **{name: changed(value) for name, value in _values(node).items()})


def with_blocks(statement: Statement, change: Callable[[tuple[Statement, ...]], Iterable[Statement]]) -> Statement:
    """Return a statement with others in place of the blocks directly inside of it."""
    match statement:
        case For():
            return dataclasses.replace(statement, body=tuple(change(statement.body)))
        case If(then=then, otherwise=otherwise):
            then = tuple(change(then))
            return dataclasses.replace(statement, then=then, otherwise=tuple(change(otherwise)))
    return statement


def replaced(node: Node, others: Mapping[Expression, Expression]) -> Node:
    """Return an expression or a statement with others in the place of some of the expressions inside of it."""
    return with_parts(node, lambda each: others[each] if each in others else replaced(each, others))


def _values(node: Expression | Statement) -> dict[str, Any]:
    return {name: getattr(node, name) for name in node.__slots__}


def without_cast(expression: Expression) -> Expression:
    """Return what a cast is of that changes no whole number's value; any other expression as it is."""
    return expression.operand if isinstance(expression, Cast) and not expression.is_narrow else expression


def inside(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of."""
    yield expression
    for part in parts_of(expression):
        yield from inside(part)


def names_in(expression: Expression) -> frozenset[str]:
    """Return the names in an expression."""
    return frozenset(each.variable.name for each in inside(expression) if isinstance(each, Name))


def elements_in(expression: Expression) -> list[Element]:
    """Return the elements in an expression, in the order in which they are written."""
    return [each for each in inside(expression) if isinstance(each, Element)]


def targets_in(statements: Sequence[Statement]) -> Iterator[Expression]:
    """Yield what statements set, or what they take the address of, so that others may set it."""
    for statement in all_of(statements):
        for each in (part for whole in expressions_of(statement) for part in inside(whole)):
            if isinstance(each, Assignment):
                yield each.target
            elif isinstance(each, Operation) and each.operator == "&" and len(each.operands) == 1:
                yield each.operands[0]


def expressions_of(statement: Statement) -> Iterator[Expression]:
    """Yield the expressions of a statement itself, not those of statements inside of it."""
    for value in _values(statement).values():
        if isinstance(value, Expression):
            yield value
        elif isinstance(value, Declare):
            yield from expressions_of(value)
