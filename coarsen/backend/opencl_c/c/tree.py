"""C expressions as a tree, what each is made of, the type that C gives it; and C statements.

    a[i] + 2 * x   is   Binary(Index(Name(a), Name(i)), "+", Binary(Integer(2), "*", Name(x)))

Nothing is text but names and digits; parentheses are the printer's business, which asks for precedences. Walks say
what the text of a tree names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, ClassVar

from coarsen.backend.opencl_c.c.types import BOOL, CType, Pointer, Record, Scalar, Vector

PRIMARY, POSTFIX, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY = 16, 15, 14, 13, 12, 11, 10, 9
BIT_AND, BIT_XOR, BIT_OR, LOGICAL_AND, LOGICAL_OR, CONDITIONAL, LOWEST = 8, 7, 6, 5, 4, 3, 0
PRECEDENCES = {
    **dict.fromkeys("*/%", PRODUCT),
    **dict.fromkeys("+-", SUM),
    **dict.fromkeys(("<<", ">>"), SHIFT),
    **dict.fromkeys(("<", ">", "<=", ">="), RELATION),
    **dict.fromkeys(("==", "!="), EQUALITY),
    "&": BIT_AND,
    "^": BIT_XOR,
    "|": BIT_OR,
    "&&": LOGICAL_AND,
    "||": LOGICAL_OR,
}


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, an argument, or a constant that OpenCL C names."""

    text: str
    type: CType
    precedence: ClassVar[int] = PRIMARY


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer literal; types narrower than int have none, and take int's."""

    value: int
    type: Scalar
    is_hexadecimal: bool = False

    @property
    def is_lowest(self) -> bool:
        """Return True if C has no literal for the number, since its positive one is out of range."""
        return (
            self.type.kind == "signed" and self.type.size >= 4 and self.value == -(1 << (self.type.size * 8 - 1))
        )

    @property
    def precedence(self) -> int:
        """The precedence: a minus sign is an operator."""
        return PRIMARY if self.value >= 0 or self.is_lowest else UNARY


@dataclass(frozen=True, slots=True)
class Real:
    """A floating-point literal by its digits, with their suffix."""

    digits: str
    type: Scalar

    @property
    def precedence(self) -> int:
        """The precedence: a minus sign is an operator."""
        return UNARY if self.digits.startswith("-") else PRIMARY


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    value: bool
    type: ClassVar[Scalar] = BOOL
    precedence: ClassVar[int] = PRIMARY


@dataclass(frozen=True, slots=True)
class Null:
    """`0` as a pointer, or as a value of a type that has no other constant."""

    type: CType
    precedence: ClassVar[int] = PRIMARY


@dataclass(frozen=True, slots=True)
class String:
    """A string literal, quotes included."""

    text: str
    type: CType
    precedence: ClassVar[int] = PRIMARY


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `~x` or `!x`."""

    operator: str
    operand: Expression
    type: CType
    precedence: ClassVar[int] = UNARY


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`; `has_opposite` marks a comparison that is false where the opposite one is true.

    Comparisons of floating-point numbers have none where NaNs may come: neither `x < y` nor `x >= y` holds then.
    """

    left: Expression
    operator: str
    right: Expression
    type: CType
    has_opposite: bool = False

    @property
    def precedence(self) -> int:
        """The operator's precedence."""
        return PRECEDENCES[self.operator]


@dataclass(frozen=True, slots=True)
class Logical:
    """Two conditions joined; of an eager one both sides are computed, as by `&`."""

    left: Expression
    is_conjunction: bool
    right: Expression
    is_eager: bool = False
    type: ClassVar[Scalar] = BOOL

    @property
    def operator(self) -> str:
        """The operator; an eager `or` stays `||`, see `build.both`."""
        if not self.is_conjunction:
            return "||"
        return "&" if self.is_eager else "&&"

    @property
    def precedence(self) -> int:
        """The operator's precedence."""
        return PRECEDENCES[self.operator]


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? first : second`."""

    condition: Expression
    first: Expression
    second: Expression
    type: CType
    precedence: ClassVar[int] = CONDITIONAL


@dataclass(frozen=True, slots=True)
class Cast:
    """`(type)operand`."""

    operand: Expression
    type: CType
    precedence: ClassVar[int] = UNARY


@dataclass(frozen=True, slots=True)
class Reinterpretation:
    """`as_type(operand)`, the same bits."""

    operand: Expression
    type: CType
    precedence: ClassVar[int] = POSTFIX


@dataclass(frozen=True, slots=True)
class Call:
    """`function(arguments)`."""

    function: str
    arguments: tuple[Expression, ...]
    type: CType
    precedence: ClassVar[int] = POSTFIX


@dataclass(frozen=True, slots=True)
class Index:
    """`base[index]`, of an array or a pointer."""

    base: Expression
    index: Expression
    type: CType
    precedence: ClassVar[int] = POSTFIX


@dataclass(frozen=True, slots=True)
class Member:
    """`record.field` (`pointer->field` of `*pointer`), or components of a vector."""

    record: Expression
    field: str
    type: CType
    precedence: ClassVar[int] = POSTFIX


@dataclass(frozen=True, slots=True)
class VectorLiteral:
    """`(type)(part, …)`; of one part, a vector that repeats it."""

    parts: tuple[Expression, ...]
    type: Vector
    precedence: ClassVar[int] = UNARY


@dataclass(frozen=True, slots=True)
class Initializer:
    """`{part, …}`."""

    parts: tuple[Expression, ...]
    type: CType
    precedence: ClassVar[int] = PRIMARY


@dataclass(frozen=True, slots=True)
class RecordLiteral:
    """`(type){part, …}`."""

    content: Expression
    type: Record
    precedence: ClassVar[int] = UNARY


@dataclass(frozen=True, slots=True)
class Dereference:
    """`*pointer`, as an lvalue."""

    pointer: Expression
    type: CType
    precedence: ClassVar[int] = UNARY


@dataclass(frozen=True, slots=True)
class AddressOf:
    """`&place`; the address of `*p` is written `p`."""

    place: Expression
    type: Pointer

    @property
    def precedence(self) -> int:
        """The precedence of what is written."""
        return self.place.pointer.precedence if isinstance(self.place, Dereference) else UNARY


@dataclass(frozen=True, slots=True)
class Decayed:
    """An array, used as the pointer to its first element that C makes of it."""

    array: Expression
    type: Pointer

    @property
    def precedence(self) -> int:
        """The array's precedence."""
        return self.array.precedence


@dataclass(frozen=True, slots=True)
class Retyped:
    """An expression that is used as of another type without being written so.

    A condition is an int in C, a mask of -1 and 0 a vector of numbers, a sum of shorts an int.
    """

    operand: Expression
    type: CType

    @property
    def precedence(self) -> int:
        """The operand's precedence."""
        return self.operand.precedence


Expression = (
    Name
    | Integer
    | Real
    | Boolean
    | Null
    | String
    | Unary
    | Binary
    | Logical
    | Conditional
    | Cast
    | Reinterpretation
    | Call
    | Index
    | Member
    | VectorLiteral
    | Initializer
    | RecordLiteral
    | Dereference
    | AddressOf
    | Decayed
    | Retyped
)


# Walks over expressions: which names they read, which types and functions their text names.

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


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return what an expression is directly made of."""
    parts = _PARTS.get(type(expression))
    return parts(expression) if parts is not None else ()


def walk(expression: Expression) -> Sequence[Expression]:
    """Return an expression and all that it is made of."""
    found = [expression]
    for current in found:  # which grows by the parts of each
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


# C statements as a tree, before they become text.


@dataclass(slots=True)
class Evaluate:
    """An expression for its effect: a call."""

    expression: Expression


@dataclass(slots=True)
class Store:
    """`place = value`, where the place is in memory."""

    place: Expression
    value: Expression


@dataclass(slots=True)
class Assign:
    """`variable = value`; with `declare` the variable is declared here, and `value` may be left out."""

    variable: str
    value: Expression | None
    declare: bool = False


@dataclass(slots=True)
class If:
    """`if (condition) then else otherwise`."""

    condition: Expression
    then: list[Statement]
    otherwise: list[Statement]


@dataclass(slots=True)
class Loop:
    """A loop; `kind` is forever, while, do or for. `init` and `step` belong to a `for`.

    `unroll_hint` is an attribute that stands before it, or empty.
    """

    kind: str
    body: list[Statement]
    condition: Expression | None = None
    init: list[Assign] = field(default_factory=list)
    step: list[Assign] = field(default_factory=list)
    unroll_hint: str = ""


@dataclass(slots=True)
class Break:
    """Leaves the innermost loop."""


@dataclass(slots=True)
class Continue:
    """Goes on with the innermost loop's next iteration."""


@dataclass(slots=True)
class Return:
    """Ends the kernel for this work-item."""


@dataclass(slots=True)
class Goto:
    """Goes to a label."""

    target: str


@dataclass(slots=True)
class Label:
    """Where a `goto` leads to; not written unless there is one."""

    name: str


Statement = Evaluate | Store | Assign | If | Loop | Break | Continue | Return | Goto | Label
Jump = (Break, Continue, Return, Goto)


def ends_in_jump(body: list[Statement]) -> bool:
    """Return True if control never falls off the end of a list of statements."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, If):
        return ends_in_jump(last.then) and ends_in_jump(last.otherwise)
    return isinstance(last, Jump)


def lists_of(statement: Statement) -> list[list[Statement]]:
    """Return the lists of statements inside of a statement."""
    if isinstance(statement, If):
        return [statement.then, statement.otherwise]
    if isinstance(statement, Loop):
        return [statement.body]
    return []


def all_statements(body: list[Statement]) -> Iterator[Statement]:
    """Yield the statements of a list and those inside of them, a `for`'s assignments included."""
    pending = [body]
    while pending:
        for statement in pending.pop():
            yield statement
            if isinstance(statement, Loop):
                yield from (*statement.init, *statement.step)
            pending.extend(lists_of(statement))


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions that a statement itself holds, without those of statements inside of it."""
    match statement:
        case Evaluate(expression):
            return (expression,)
        case Store(place, value):
            return (place, value)
        case Assign(_, value) if value is not None:
            return (value,)
        case If(condition):
            return (condition,)
        case Loop(condition=condition) if condition is not None:
            return (condition,)
    return ()
