"""The symbols of index arithmetic, and how they differ between neighbouring work-items.

    global_id(0), local_id(0), group_id(0)   the work-item's place in the NDRange
    iteration(header), trips(header)         how often a loop has gone round: inside of it, from 0, and behind it
    width, get_local_size(0)                 arguments and sizes: the same for all work-items
    @table, %array                           where variables of the program and of the work-item start
    %name, (x)/(c), 2^(s), value 1           anything else that an instruction computes: a piece (see `Piece`), or
                                             a value of which nothing but its divergence is known

The difference along a dimension is what a value gains from one work-item to the next along it, within one
work-group and at the same iteration of every loop around: 1 for `global_id(0)` along dimension 0.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from coarsen.analysis.algebra.polynomial import ONE, ZERO, Polynomial
from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import LINEAR_PARTS, Query, linear_id, queried_dimension, query_of

# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_DEPTH = 30
_MAXIMUM_LENGTH = 80
_MAXIMUM_EXPANSION = 4096

# A difference along a dimension; None where it is irregular: not the same, or not known, between all neighbours.
Difference = Polynomial | None
DifferenceAlong = Callable[[int], Difference]


class PieceKind(enum.Enum):
    """What a piece is of its parts; the rule that makes it says so."""

    QUOTIENT = "the first by the second, rounded"
    POWER = "2 to the power of the only one"
    LEAST = "the least of all"
    LARGEST = "the largest of all"
    CLAMPED = "the first, no less than the second and no more than the third"
    BITS = "a combination of the bits of all"
    SELECTED = "one of them, as a condition decides"
    JOINED = "one of them, as the way decides"
    CARRIED = "the first, and the second as often as a loop has gone round"
    LEFT = "the only one as it is when loops are left"
    TRIPS = "the last iteration of a loop, of no parts"


@dataclass(frozen=True, slots=True)
class Piece:
    """A symbol that is affine in pieces: within a piece the difference is regular, between pieces the value jumps.

    `parts` are the polynomials that it is computed from, `instruction` the one that computes it, by its name.
    """

    kind: PieceKind
    parts: tuple[Polynomial, ...]
    instruction: str
    difference: DifferenceAlong


def iteration(header: str) -> str:
    """Return the symbol of a loop's iteration, counted from 0."""
    return f"iteration({header})"


def trips(header: str) -> str:
    """Return the symbol of a loop's last iteration, for what stands after the loop."""
    return f"trips({header})"


class Symbols:
    """The symbols of one kernel.

    `divergence` may hold analyses that exist already, by dimension; others are made when first needed.
    """

    def __init__(
        self, kernel: Kernel, control_flow: ControlFlow, divergence: Mapping[int, Divergence] | None = None
    ) -> None:
        self.kernel = kernel
        self.control_flow = control_flow
        self._divergence = dict(divergence or {})
        self._pieces: dict[str, Piece] = {}
        self._depths: dict[str, int] = {}
        self._short: dict[str, str] = {}
        self._known: dict[tuple[str, int], Difference] = {}
        self._headers = {iteration(loop.header): loop.header for loop in control_flow.loops}

    def add(self, symbol: str, piece: Piece) -> Polynomial:
        """Make a symbol a piece; the polynomial of the symbol alone.

        Pieces of pieces are followed only so far: deeper ones are values of which nothing is known.
        """
        depth = 1 + max((self._depths.get(s, 0) for part in piece.parts for s in part.symbols), default=0)
        if depth > _MAXIMUM_DEPTH:
            return Polynomial.symbol(f"%{piece.instruction}")
        self._pieces[symbol], self._depths[symbol] = piece, depth
        return Polynomial.symbol(symbol)

    def piece(self, symbol: str) -> Piece | None:
        """Return the piece that a symbol stands for, None for any other symbol."""
        return self._pieces.get(symbol)

    def shortened(self, symbol: str) -> str:
        """Return a symbol, or where it is long a short one that always stands for it."""
        if len(symbol) <= _MAXIMUM_LENGTH:
            return symbol
        return self._short.setdefault(symbol, f"value {len(self._short) + 1}")

    def after(self, symbol: str, loops: Iterable[Loop]) -> Polynomial:
        """Return what a symbol is after loops: an iteration becomes the last one, all others stay the same."""
        for loop in loops:
            if symbol == iteration(loop.header):
                return self._trips(loop)
        return Polynomial.symbol(symbol)

    def _trips(self, loop: Loop) -> Polynomial:
        def difference(dimension: int) -> Difference:
            return None if self.divergence(dimension).is_left_apart(loop) else ZERO

        counter = self.kernel.block[loop.header].phis[0]
        return self.add(trips(loop.header), Piece(PieceKind.TRIPS, (), counter.name, difference))

    def divergence(self, dimension: int) -> Divergence:
        """Return the divergence along a dimension."""
        if dimension not in self._divergence:
            self._divergence[dimension] = Divergence(self.kernel, dimension, self.control_flow)
        return self._divergence[dimension]

    def is_divergent(self, name: str, dimension: int) -> bool:
        """Return True if an instruction's value may differ between work-items along a dimension."""
        return name in self.divergence(dimension).values

    def difference(self, polynomial: Polynomial, dimension: int) -> Difference:
        """Return what a value gains from one work-item to the next along a dimension."""
        gains: dict[str, Polynomial] = {}
        for symbol in polynomial.symbols:
            gain = self._gain(symbol, dimension)
            if gain is None:
                return None
            if gain.terms:
                gains[symbol] = gain
        if not gains:
            return ZERO
        varying = Polynomial({p: c for p, c in polynomial.terms.items() if not gains.keys().isdisjoint(p)})
        if _expansion(varying, gains) > _MAXIMUM_EXPANSION:
            return None
        moved = varying.replaced(lambda s: Polynomial.symbol(s) + gains[s] if s in gains else Polynomial.symbol(s))
        return moved - varying

    def _gain(self, symbol: str, dimension: int) -> Difference:
        key = (symbol, dimension)
        if key not in self._known:
            # Where a loop is entered at several places, symbols may depend on each other: those are irregular.
            self._known[key] = None
            self._known[key] = self._gain_of(symbol, dimension)
        return self._known[key]

    def _gain_of(self, symbol: str, dimension: int) -> Difference:
        if symbol in (symbol_of(Query.GLOBAL_ID, dimension), symbol_of(Query.LOCAL_ID, dimension)):
            return ONE
        if symbol in self._pieces:
            return self._pieces[symbol].difference(dimension)
        name = symbol.removeprefix("%")
        instruction = self.kernel.definition.get(name) if name != symbol else None
        if instruction is None or instruction.opcode == "alloca":
            return ZERO
        return None if self.is_divergent(name, dimension) else ZERO

    def origins(self, polynomial: Polynomial) -> frozenset[str]:
        """Return the symbols that a value is computed from, those inside of pieces and the pieces, too."""
        found: set[str] = set()
        pending = [polynomial]
        while pending:
            for symbol in pending.pop().symbols - found:
                found.add(symbol)
                if symbol in self._pieces:
                    pending.extend(self._pieces[symbol].parts)
        return frozenset(found)

    def block_of(self, symbol: str) -> str | None:
        """Return the block in which a symbol gets its value, of a loop's header or an instruction; or None."""
        if symbol in self._headers:
            return self._headers[symbol]
        if symbol in self._pieces:
            return self.kernel.block_of[self._pieces[symbol].instruction]
        return self.kernel.block_of.get(symbol[1:]) if symbol.startswith("%") else None


def _expansion(polynomial: Polynomial, gains: Mapping[str, Polynomial]) -> int:
    """Return how many terms there are at first where symbols are replaced by themselves and their gains."""
    sizes = {symbol: 1 + len(gain.terms) for symbol, gain in gains.items()}
    return sum(math.prod(sizes.get(symbol, 1) for symbol in product) for product in polynomial.terms)


# What OpenCL's queries of the NDRange give, as polynomials over ids and sizes.

_DIMENSIONS = 3
_SYMBOLS = {Query.GLOBAL_ID: "global_id", Query.LOCAL_ID: "local_id", Query.GROUP_ID: "group_id"}


def symbol_of(query: Query, dimension: int) -> str:
    """Return the symbol of what a query gives along a dimension (0, 1 or 2)."""
    return f"{_SYMBOLS.get(query, query.value)}({dimension})"


_QUERIES: Mapping[str, tuple[Query, int]] = {
    symbol_of(query, dimension): (query, dimension)
    for query in Query
    if query.has_dimension
    for dimension in range(_DIMENSIONS)
}


def query_form(call: Instruction) -> Polynomial | None:
    """Return the polynomial of a query; None for another call, and where the dimension is not known."""
    query = query_of(call)
    if query is None:
        return None
    if query.is_linear:
        return _linear(query)
    dimension = queried_dimension(call)
    return answer(query, dimension) if dimension is not None else None


def answer(query: Query, dimension: int) -> Polynomial:
    """Return what a query gives along a dimension (0, 1 or 2): an id, or a size by its function's name."""
    return Polynomial.symbol(symbol_of(query, dimension))


def queried(symbol: str) -> tuple[Query, int] | None:
    """Return the query whose answer a symbol is, and its dimension; None for any other symbol."""
    return _QUERIES.get(symbol)


def _linear(query: Query) -> Polynomial:
    """Return a linear id; of global ids the launch's offset does not count."""
    identity, size = LINEAR_PARTS[query]

    def place(dimension: int) -> Polynomial:
        found = answer(identity, dimension)
        return found - answer(Query.GLOBAL_OFFSET, dimension) if identity is Query.GLOBAL_ID else found

    return linear_id(place, lambda dimension: answer(size, dimension), Polynomial.__mul__, Polynomial.__add__)
