"""Index arithmetic (`index_forms.py`) as expressions over the sizes of a launch.

Sizes are `global_size(d)`, `local_size(d)`, `groups(d)`, and whole scalar arguments by their names. Values of
which they say nothing, loaded ones for example, have no expression. A work-item's ids and the iterations of loops
stay names of their own at first; whoever takes a mean over work-items replaces them.

Predict with it, never decide what is legal: index forms take arithmetic as exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from coarsen.analysis.control_flow import Loop
from coarsen.analysis.expressions import (
    ZERO,
    Expression,
    Name,
    floor,
    maximum,
    minimum,
    number,
    power,
    product,
    replaced,
    total,
)
from coarsen.analysis.index_forms import IndexForms
from coarsen.analysis.polynomial import Polynomial
from coarsen.analysis.queries import answer
from coarsen.analysis.symbols import Piece, iteration, trips
from coarsen.ir.details import predicate
from coarsen.ir.kernel import Instruction, ValueKind
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.opencl.queries import Query, query_named
from coarsen.ir.types import IntegerType

_SIZES = {Query.GLOBAL_SIZE: "global_size", Query.LOCAL_SIZE: "local_size", Query.GROUP_COUNT: "groups"}
_SIZES[Query.ENQUEUED_LOCAL_SIZE] = "local_size"
_QUERY = re.compile(r"(get_\w+)\((\d)\)$")
_ID = re.compile(r"(global_id|local_id|group_id)\((\d)\)$")
_EXTENT = {"global_id": Query.GLOBAL_SIZE, "local_id": Query.LOCAL_SIZE, "group_id": Query.GROUP_COUNT}
_LARGEST_DEPTH = 30
REMAINDER = "remainder "
"""What the symbols of remainders start with, which whoever takes a mean puts into polynomials."""
# What gives the same for the same operands.
_OF_PARTS = frozenset({"udiv", "sdiv", "urem", "srem", "lshr", "ashr", "shl", "and", "call"})

_DIVIDING = frozenset({"udiv", "sdiv", "urem", "srem", "lshr", "ashr", "and"})

Trips = Callable[[str], Expression | None]


class SizeForms:
    """The values of a kernel as expressions over sizes, ids and iterations.

    Args:
        forms: of the kernel in normal form.
        last_iteration: which iteration, from 0, leaves the loop of a header; None where nothing says.
    """

    def __init__(self, forms: IndexForms, last_iteration: Trips) -> None:
        self.forms = forms
        self._last_iteration = last_iteration
        self._scalars = {a.name for a in forms.kernel.arguments if isinstance(a.type, IntegerType)}
        self._headers = {trips(loop.header): loop.header for loop in forms.control_flow.loops}
        self.counters: Mapping[str, str] = {
            iteration(loop.header): loop.header for loop in forms.control_flow.loops
        }
        self._expanded: dict[str, Polynomial] = {}
        self._depths: dict[str, int] = {}
        self._depth = 0

    # Polynomials.

    def expanded(self, polynomial: Polynomial) -> Polynomial:
        """Return a polynomial with the values that loops carry by steps of the same size written out."""
        return polynomial.replaced(self._expanded_symbol)

    def _expanded_symbol(self, symbol: str) -> Polynomial:
        if symbol not in self._expanded:
            self._expanded[symbol] = Polynomial.symbol(symbol)  # for what depends on itself
            piece = self.forms.symbols.piece(symbol)
            if piece is not None:
                self._expanded[symbol] = self._written_out(symbol, piece)
        return self._expanded[symbol]

    def _written_out(self, symbol: str, piece: Piece) -> Polynomial:
        itself = Polynomial.symbol(symbol)
        phi = self.forms.kernel.definition.get(piece.instruction)
        if phi is None or phi.opcode != "phi" or symbol != f"%{phi.name}":
            return itself
        block = self.forms.kernel.block_of[phi.name]
        loop = self.forms.control_flow.loop_of[block]
        if loop is not None and loop.header == block:
            start, step = (self.expanded(part) for part in piece.parts)
            step = step.replaced(self._known_trips)
            is_linear = self.is_invariant(step, loop)
            return start + step * Polynomial.symbol(iteration(block)) if is_linear else itself
        if len(phi.operands) == 1:
            source = phi.incoming[0]
            left = [each for each in self.forms.control_flow.loops_around(source) if block not in each.blocks]
            ends = {iteration(each.header): Polynomial.symbol(trips(each.header)) for each in left}
            inner = self.expanded(piece.parts[0]).replaced(lambda s: ends.get(s, Polynomial.symbol(s)))
            return inner if all(self.is_invariant(inner, each) for each in left) else itself
        return itself

    def _known_trips(self, symbol: str) -> Polynomial:
        header = self._headers.get(symbol)
        last = self._last_iteration(header) if header is not None else None
        value = getattr(last, "value", None)
        return Polynomial.constant(value) if isinstance(value, int) else Polynomial.symbol(symbol)

    def is_invariant(self, polynomial: Polynomial, loop: Loop) -> bool:
        """Return True if a value is the same in all iterations of a loop, wherever it is computed."""
        return not self.changing(polynomial, loop) - {trips(loop.header)}

    def changing(self, polynomial: Polynomial, loop: Loop) -> frozenset[str]:
        """Return the symbols of a value that get their values in a loop, its iteration included."""
        found: set[str] = set()
        pending, seen = list(polynomial.symbols), set[str]()
        while pending:
            symbol = pending.pop()
            if symbol in seen or self.forms.symbols.block_of(symbol) not in loop.blocks:
                continue
            seen.add(symbol)
            piece = self.forms.symbols.piece(symbol)
            if piece is not None and self.forms.kernel.definition[piece.instruction].opcode in _OF_PARTS:
                pending.extend(each for part in piece.parts for each in part.symbols)
            else:
                found.add(symbol)
        return frozenset(found)

    def quotient(self, symbol: str) -> Piece | None:
        """Return dividend and divisor of a symbol that is a whole quotient; None for any other."""
        piece = self.forms.symbols.piece(symbol)
        if piece is None or len(piece.parts) != 2:
            return None
        return piece if self.forms.kernel.definition[piece.instruction].opcode in _DIVIDING else None

    def depth(self, symbol: str) -> int:
        """Return how many quotients and the like a symbol is made of, one in the other."""
        if symbol not in self._depths:
            self._depths[symbol] = 0  # for what depends on itself
            piece = self.forms.symbols.piece(symbol)
            parts = piece.parts if piece is not None else ()
            self._depths[symbol] = 1 + max(
                (self.depth(each) for part in parts for each in part.symbols), default=0
            )
        return self._depths[symbol]

    # Expressions.

    def resolved(self, polynomial: Polynomial) -> Expression | None:
        """Return a value as an expression over sizes, ids and iterations; None where it depends on data."""
        terms = []
        for symbols, coefficient in self.expanded(polynomial).terms.items():
            factors = [self._symbol(symbol) for symbol in symbols]
            known = [factor for factor in factors if factor is not None]
            if len(known) < len(factors):
                return None
            terms.append(product([number(coefficient), *known]))
        return total(terms)

    def _symbol(self, symbol: str) -> Expression | None:
        query = _QUERY.match(symbol)
        if query is not None:
            asked = query_named(query[1])
            size = _SIZES.get(asked) if asked is not None else None
            offset = ZERO if asked is Query.GLOBAL_OFFSET else None
            return Name(f"{size}({query[2]})") if size is not None else offset
        if symbol in self._headers:
            return self._last_iteration(self._headers[symbol])
        is_counted = symbol in self.counters or symbol.startswith(REMAINDER)
        if is_counted or symbol in self._scalars or _ID.match(symbol):
            return Name(symbol)
        piece = self.forms.symbols.piece(symbol)
        if piece is None or self._depth > _LARGEST_DEPTH:
            return None
        self._depth += 1
        found = self._piece(piece)
        self._depth -= 1
        return found

    def _piece(self, piece: Piece) -> Expression | None:
        """A quotient, a power of 2, a smallest or a largest value."""
        instruction = self.forms.kernel.definition[piece.instruction]
        parts = [part for each in piece.parts if (part := self.resolved(each)) is not None]
        if len(parts) < len(piece.parts) or instruction.opcode == "phi":
            return None
        if instruction.opcode == "select":
            return self._of_select(instruction, piece, parts)
        if instruction.opcode == "call":
            return _of_builtin(builtin_name(instruction.callee), parts)
        if len(parts) == 1 and instruction.opcode in ("shl", "lshr", "ashr"):
            return power(2, parts[0])
        is_quotient = len(parts) == 2 and instruction.opcode not in ("xor", "or")
        return floor(*parts) if is_quotient and parts[1] != ZERO else None

    def _of_select(self, select: Instruction, piece: Piece, parts: list[Expression]) -> Expression | None:
        condition = select.operands[0]
        compare = self.forms.kernel.definition.get(condition.text)
        if condition.kind is not ValueKind.INSTRUCTION or compare is None or compare.opcode != "icmp":
            return None
        if not isinstance(compare.operands[0].type, IntegerType):
            return None
        sides = [self.forms.form(operand) for operand in compare.operands]
        relation = predicate(compare).lstrip("us")
        if relation[0] not in "lg" or sorted(map(str, sides)) != sorted(map(str, piece.parts)):
            return None
        is_least = (relation[0] == "l") == (str(sides[0]) == str(piece.parts[0]))
        return minimum(*parts) if is_least else maximum(*parts)


def _of_builtin(name: str, parts: list[Expression]) -> Expression | None:
    if name.endswith("clamp") and len(parts) == 3:
        return minimum(maximum(parts[0], parts[1]), parts[2])
    if len(parts) == 2 and (name.endswith("min") or ".smin" in name or ".umin" in name):
        return minimum(*parts)
    if len(parts) == 2 and (name.endswith("max") or ".smax" in name or ".umax" in name):
        return maximum(*parts)
    return None


def extent_of_id(symbol: str) -> Polynomial | None:
    """Return how many values an id has, as a polynomial; None for another symbol."""
    match = _ID.match(symbol)
    return answer(_EXTENT[match[1]], int(match[2])) if match is not None else None


def without_queries(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial with global sizes as groups times local sizes, so that equal ones look equal."""

    def value_of(symbol: str) -> Polynomial:
        query = _QUERY.match(symbol)
        if query is None or query[1] != Query.GLOBAL_SIZE.value:
            return Polynomial.symbol(symbol.replace(Query.ENQUEUED_LOCAL_SIZE.value, Query.LOCAL_SIZE.value))
        dimension = int(query[2])
        return answer(Query.LOCAL_SIZE, dimension) * answer(Query.GROUP_COUNT, dimension)

    return polynomial.replaced(value_of)


def with_means(expression: Expression, extents: Mapping[str, Expression]) -> Expression:
    """Return an expression with names of ids and iterations replaced by their means.

    Args:
        expression: over sizes, ids and iterations.
        extents: how many values the names have, from 0 on.
    """
    means = {name: product([number(0.5), total([extent, number(-1)])]) for name, extent in extents.items()}
    return replaced(expression, means)
