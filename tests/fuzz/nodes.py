"""A random kernel as a small tree: the generator makes it, the shrinker cuts it down, `render.py` writes OpenCL C.

Any tree that the generator makes, and any that the shrinker makes of it, is free of races and of undefined
behaviour, since the way each node is written leaves no room for either:

- arithmetic is unsigned (it wraps), divisors are made odd (never 0), shifts are by constants below 32, floats are
  small integers and halves of them (exact);
- `field` and `weights` are read only, and have as many elements as are read (`field.py`);
- `data` is read only; indices into it and into private arrays are taken modulo the length, or are the item's id
  times a small factor plus a small number, for which there is room;
- `result` has a row of slots for each work-item, which no other item reads or writes;
- `total` has a row of counters for each atomic operation; operations of one kind commute and their results are not
  looked at, so the order of work-items can't be seen;
- local memory is written, and read by others, only by `Exchange`, `Tally` and `Reduce`, each of which brings its
  own barriers: between two of these, a cell is written by one item or only by atomics of one kind, or only read;
- those three, and branches around them, stand where control flow is uniform for the work-group: under conditions
  and in loops whose bounds are made of arguments, group ids and variables that were only ever given such values.
  `Leave` stands there under such a condition too; a divergent `return` only in kernels without barriers;
- loops count: a `For` runs from below a bound to a bound, taken modulo small numbers, in steps of at least 1; the
  other loops have fuel;
- every variable is set where it is declared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tests.fuzz.field import Bound, Field, Tap, Window

# Expressions: all of type uint.


@dataclass(frozen=True)
class Constant:
    value: int


@dataclass(frozen=True)
class Variable:
    """A variable, an argument, a loop's counter, a component of a vector, or an id or size (`render.QUERIES`)."""

    name: str


@dataclass(frozen=True)
class Binary:
    """`operator` is one of + - * ^ & | / %; a divisor is made odd."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Shifted:
    value: Expression
    amount: int


@dataclass(frozen=True)
class Converted:
    """By way of another type: uchar, ushort or ulong (wraps), or half of it as float (exact)."""

    type: Literal["uchar", "ushort", "ulong", "float"]
    value: Expression


@dataclass(frozen=True)
class Choice:
    """`condition ? yes : no`."""

    condition: Condition
    yes: Expression
    no: Expression


@dataclass(frozen=True)
class Load:
    """An element of `data`, at any index modulo its length."""

    index: Expression


@dataclass(frozen=True)
class OwnLoad:
    """`data[id * scale + offset]`: neighbouring items read neighbouring elements."""

    scale: int
    offset: int


@dataclass(frozen=True)
class Recall:
    """What the item has written to a slot of its own in `result`."""

    slot: int


@dataclass(frozen=True)
class Element:
    """An element of the private array."""

    index: Expression


@dataclass(frozen=True)
class Call:
    """A call of a helper function."""

    helper: str
    first: Expression
    second: Expression


Memory: TypeAlias = Literal["tile", "shared"]
Layout: TypeAlias = Literal["rows", "columns"]

Expression: TypeAlias = (
    Constant | Variable | Binary | Shifted | Converted | Choice | Load | OwnLoad | Recall | Element | Call
)

# Conditions.


@dataclass(frozen=True)
class Truth:
    value: bool


@dataclass(frozen=True)
class Compare:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Joined:
    """`operator` is && or ||."""

    operator: str
    left: Condition
    right: Condition


Condition: TypeAlias = Truth | Compare | Joined

# Statements.


@dataclass(frozen=True)
class Assign:
    """`operator` is = += ^= or *=."""

    target: str
    operator: str
    value: Expression


@dataclass(frozen=True)
class SetElement:
    """Into the private array."""

    index: Expression
    value: Expression


@dataclass(frozen=True)
class SetVector:
    """A vector variable, from its components turned by one and as many values."""

    target: str
    operator: str
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class LoadVector:
    """Adds consecutive elements of `data` to a vector variable."""

    target: str
    index: Expression


@dataclass(frozen=True)
class Publish:
    """Into a slot of the item's own in `result`."""

    slot: int
    value: Expression


@dataclass(frozen=True)
class Count:
    """An atomic operation (add, xor, and, or, max, min) on a counter of `total`."""

    operation: str
    cell: Expression
    value: Expression


@dataclass(frozen=True)
class Leave:
    way: Literal["break", "continue", "return"]


@dataclass(frozen=True)
class If:
    condition: Condition
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class For:
    """From `start` while below `limit`, by `step`.

    `reach` "short": start modulo 4, limit modulo 7, step 1. "grid" and "local": start, and step, are the item's
    global or local id, and the size; the limit is taken modulo three times the size.
    """

    counter: str
    start: Expression
    limit: Expression
    reach: Literal["short", "grid", "local"]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """While the condition holds, six rounds at most; `tested_first` false makes it a do-while."""

    counter: str
    condition: Condition
    tested_first: bool
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Switch:
    """By a value modulo the number of cases and one more, the default; `falls` lets case 0 go on in case 1."""

    value: Expression
    cases: tuple[tuple[Statement, ...], ...]
    default: tuple[Statement, ...]
    falls: bool


@dataclass(frozen=True)
class Exchange:
    """Each item leaves a value in local memory and adds that of the item `offset` further to `target`."""

    memory: Memory
    value: Expression
    offset: int
    target: str


@dataclass(frozen=True)
class Tally:
    """The items add up values in local memory atomically; each takes the sum."""

    value: Expression
    target: str


@dataclass(frozen=True)
class Reduce:
    """Adds up values as a tree in local memory, a barrier between the levels; each item takes the sum."""

    memory: Memory
    value: Expression
    target: str


@dataclass(frozen=True)
class Stencil:
    """Adds elements of `field` to `target`, three times what was there each time: taps in loops over windows.

    All stencils of a kernel read the same field.

    `weighted` multiplies by an element of `weights`, one for each round of the windows. `factored` writes an axis
    as a sum times its factor, or else as a sum of products; `turned` begins with the last of what is added.
    All of `bounds` must hold for the taps.
    """

    target: str
    field: Field
    windows: tuple[Window, ...]
    taps: tuple[Tap, ...]
    weighted: bool
    factored: bool
    turned: bool
    bounds: tuple[Bound, ...] = ()


Statement: TypeAlias = (
    Assign
    | SetElement
    | SetVector
    | LoadVector
    | Publish
    | Count
    | Leave
    | If
    | For
    | While
    | Switch
    | Exchange
    | Tally
    | Reduce
    | Stencil
)
Node: TypeAlias = Expression | Condition | Statement


@dataclass(frozen=True)
class Helper:
    """`uint name(uint p, uint q)`: statements on p and q, and what it gives back."""

    name: str
    body: tuple[Statement, ...]
    value: Expression


@dataclass(frozen=True)
class Kernel:
    """`layout` says where an item's slots are: side by side, or a work-item apart (neighbours are neighbours).

    `counts_offset` is true where ids are taken less the launch's offset; it has none where they aren't.
    """

    dimensions: int
    counts_offset: bool
    layout: Layout
    helpers: tuple[Helper, ...]
    body: tuple[Statement, ...]

    @property
    def stencils(self) -> tuple[Stencil, ...]:
        """Return the statements in its body, which are never inside of other statements."""
        return tuple(statement for statement in self.body if isinstance(statement, Stencil))
