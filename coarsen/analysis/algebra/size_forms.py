"""Index forms as expressions over the sizes of a launch.

Sizes are `global_size(d)`, `local_size(d)`, `groups(d)`, and whole scalar arguments by their names. Values of
which they say nothing, loaded ones for example, have no expression. A work-item's ids and the iterations of
loops stay names of their own at first; whoever takes a mean over work-items replaces them. For predictions only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.numbers import relation_of
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.symbols import Piece, PieceKind, answer, iteration, queried, trips
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
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.opencl.queries import Query
from coarsen.ir.types import IntegerType

_SIZES = {Query.GLOBAL_SIZE: "global_size", Query.LOCAL_SIZE: "local_size", Query.GROUP_COUNT: "groups"}
_SIZES[Query.ENQUEUED_LOCAL_SIZE] = "local_size"
_EXTENTS = {
    Query.GLOBAL_ID: Query.GLOBAL_SIZE,
    Query.LOCAL_ID: Query.LOCAL_SIZE,
    Query.GROUP_ID: Query.GROUP_COUNT,
}
_LARGEST_DEPTH = 30
REMAINDER = "remainder "
"""What the symbols of remainders start with, which whoever takes a mean puts into polynomials."""
# What gives the same for the same parts.
_OF_PARTS = frozenset({PieceKind.QUOTIENT, PieceKind.POWER, PieceKind.LEAST, PieceKind.LARGEST, PieceKind.CLAMPED})

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
        phi = self.forms.kernel.definition[piece.instruction]
        block = self.forms.kernel.block_of[phi.name]
        if piece.kind is PieceKind.CARRIED:
            start, step = (self.expanded(part) for part in piece.parts)
            step = step.replaced(self._known_trips)
            is_linear = self.is_invariant(step, self.forms.control_flow.loop_at[block])
            return start + step * Polynomial.symbol(iteration(block)) if is_linear else itself
        if piece.kind is PieceKind.LEFT:
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
            if piece is not None and piece.kind in _OF_PARTS:
                pending.extend(each for part in piece.parts for each in part.symbols)
            else:
                found.add(symbol)
        return frozenset(found)

    def quotient(self, symbol: str) -> Piece | None:
        """Return dividend and divisor of a symbol that is a whole quotient; None for any other."""
        piece = self.forms.symbols.piece(symbol)
        return piece if piece is not None and piece.kind is PieceKind.QUOTIENT else None

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
        query = queried(symbol)
        if query is not None:
            return _answer(symbol, *query)
        if symbol in self._headers:
            return self._last_iteration(self._headers[symbol])
        is_counted = symbol in self.counters or symbol.startswith(REMAINDER)
        if is_counted or symbol in self._scalars:
            return Name(symbol)
        piece = self.forms.symbols.piece(symbol)
        if piece is None or self._depth > _LARGEST_DEPTH:
            return None
        self._depth += 1
        found = self._piece(piece)
        self._depth -= 1
        return found

    def _piece(self, piece: Piece) -> Expression | None:
        """Return a quotient, a power of 2, a smallest or a largest value."""
        parts = [part for each in piece.parts if (part := self.resolved(each)) is not None]
        if len(parts) < len(piece.parts):
            return None
        match piece.kind:
            case PieceKind.QUOTIENT:
                return floor(*parts) if parts[1] != ZERO else None
            case PieceKind.POWER:
                return power(2, parts[0])
            case PieceKind.LEAST:
                return minimum(*parts)
            case PieceKind.LARGEST:
                return maximum(*parts)
            case PieceKind.CLAMPED:
                return minimum(maximum(parts[0], parts[1]), parts[2])
            case PieceKind.SELECTED:
                return self._of_select(piece, parts)
            case _:
                return None

    def _of_select(self, piece: Piece, parts: list[Expression]) -> Expression | None:
        condition = self.forms.kernel.definition[piece.instruction].operands[0]
        compare = self.forms.kernel.definition.get(condition.text)
        if condition.kind is not ValueKind.INSTRUCTION or compare is None or compare.opcode != "icmp":
            return None
        if not isinstance(compare.operands[0].type, IntegerType):
            return None
        sides = [self.forms.form(operand) for operand in compare.operands]
        relation = relation_of(compare)
        if relation[0] not in "lg" or sorted(map(str, sides)) != sorted(map(str, piece.parts)):
            return None
        is_least = (relation[0] == "l") == (str(sides[0]) == str(piece.parts[0]))
        return minimum(*parts) if is_least else maximum(*parts)


def _answer(symbol: str, query: Query, dimension: int) -> Expression | None:
    """Return a query's answer as an expression: an id, a size; offsets are taken to be 0."""
    if query in _EXTENTS:
        return Name(symbol)
    size = _SIZES.get(query)
    return Name(f"{size}({dimension})") if size is not None else ZERO if query is Query.GLOBAL_OFFSET else None


def extent_of_id(symbol: str) -> Polynomial | None:
    """Return how many values an id has, as a polynomial; None for another symbol."""
    query = queried(symbol)
    return answer(_EXTENTS[query[0]], query[1]) if query is not None and query[0] in _EXTENTS else None


def without_queries(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial with global sizes as groups times local sizes, so that equal ones look equal."""

    def value_of(symbol: str) -> Polynomial:
        query = queried(symbol)
        if query is None or query[0] is not Query.GLOBAL_SIZE:
            return Polynomial.symbol(symbol.replace(Query.ENQUEUED_LOCAL_SIZE.value, Query.LOCAL_SIZE.value))
        dimension = query[1]
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
