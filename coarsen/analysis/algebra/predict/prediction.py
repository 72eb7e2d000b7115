"""A walk whose forms hold where nothing wraps, over ids, iterations and uniform values; phis and choices in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from coarsen.analysis.algebra.numbers import number_of
from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.algebra.predict.symbols import Piece, PieceKind, Symbols, iteration, trips
from coarsen.analysis.algebra.walk import Walk
from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel

PredictRule = Callable[["Prediction", Instruction], Polynomial | None]

# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 64
_MAXIMUM_DEGREE = 8
_MAXIMUM_COEFFICIENT = 1 << 64


class Prediction(Walk[Polynomial]):
    """The polynomials of a kernel's integers and pointers.

    Args:
        kernel: in normal form.
        control_flow: of the kernel.
        rules: the predicting ones, by opcode.
        divergence: analyses that exist already, by dimension.
    """

    def __init__(
        self,
        kernel: Kernel,
        control_flow: ControlFlow,
        rules: Mapping[str, PredictRule],
        divergence: Mapping[int, Divergence] | None = None,
    ) -> None:
        super().__init__(kernel)
        self.control_flow = control_flow
        self.symbols = Symbols(kernel, control_flow, divergence)
        self._rules = rules

    def number(self, number: int) -> Polynomial:
        """Return the polynomial of a number."""
        return Polynomial.constant(number)

    def leaf(self, value: Operand) -> Polynomial:
        """Return the polynomial of an argument, a variable or a constant; 0 of one that may be anything."""
        if value.kind is ValueKind.CONSTANT:
            # A constant address is that of its variable, whatever offset into it.
            if mentioned := value.referenced():
                return Polynomial.symbol(f"@{mentioned[0].name}")
            return self.number(number_of(value) or 0)
        return Polynomial.symbol(("@" if value.kind is ValueKind.GLOBAL else "") + value.text)

    def own(self, instruction: Instruction) -> Polynomial:
        """Return an instruction's result as a symbol of its own."""
        return Polynomial.symbol(f"%{instruction.name}")

    def index(self, value: Operand) -> Polynomial:
        """Return an index as an address counts it: as it is."""
        return self.form(value)

    def has_rule(self, opcode: str) -> bool:
        """Return True if results of an opcode may follow from its operands."""
        return opcode in self._rules

    def applied(self, instruction: Instruction) -> Polynomial | None:
        """Return what an instruction's rule gives; None where it says nothing, or too much."""
        rule = self._rules.get(instruction.opcode)
        found = rule(self, instruction) if rule is not None else None
        return found if found is None or _is_small(found) else None

    def both(self, instruction: Instruction) -> tuple[Polynomial, Polynomial]:
        """Return the polynomials of an instruction's two operands."""
        return self.form(instruction.operands[0]), self.form(instruction.operands[1])

    def may_multiply(self, first: Polynomial, second: Polynomial) -> bool:
        """Return True if a product is worth being computed."""
        return len(first.terms) * len(second.terms) <= _MAXIMUM_TERMS

    def assuming(self, phi: Instruction, value: Operand) -> Polynomial:
        """Return the polynomial of a value in which a phi is itself; what follows from that is not kept."""
        known, length = self._forms.get(phi.name), len(self._forms)
        self._forms[phi.name] = self.own(phi)
        found = self.form(value)
        while len(self._forms) > length:
            self._forms.popitem()  # the latest first: only those that came since
        if known is not None:
            self._forms[phi.name] = known
        return found


def _is_small(polynomial: Polynomial) -> bool:
    return (
        len(polynomial.terms) <= _MAXIMUM_TERMS
        and polynomial.degree <= _MAXIMUM_DEGREE
        and all(abs(coefficient) <= _MAXIMUM_COEFFICIENT for coefficient in polynomial.terms.values())
    )


# Phis: values that loops carry on, that leave loops, or that come from several blocks.
#
# What a loop's header chooses between its start and what the latch brings back:
#
#     i starts at 0, i += step                 step·iteration(header): an induction variable
#     p starts at data, p += anything else     regular between work-items if what is added is the same for them

_NOTHING = frozenset({"undef", "poison"})


def phi(prediction: Prediction, instruction: Instruction) -> Polynomial:
    """Return a phi's polynomial."""
    block = prediction.block_of(instruction)
    loop = prediction.control_flow.loop_of[block]
    if loop is not None and loop.header == block:
        return _of_header(prediction, instruction, loop)
    if len(instruction.operands) == 1:
        return _out_of_loop(prediction, instruction)
    parts = [prediction.form(operand) for operand in instruction.operands if operand.text not in _NOTHING]
    return choice(prediction, instruction, PieceKind.JOINED, parts)


def _of_header(prediction: Prediction, phi: Instruction, loop: Loop) -> Polynomial:
    """Return the polynomial of a phi at a loop's header."""
    itself = prediction.own(phi)
    entering = [v for v, block in zip(phi.operands, phi.incoming, strict=True) if block not in loop.blocks]
    latches = [v for v, block in zip(phi.operands, phi.incoming, strict=True) if block in loop.blocks]
    if len(entering) != 1 or len(latches) != 1:
        return itself
    step = prediction.assuming(phi, latches[0]) - itself
    origins = prediction.symbols.origins(step)
    if f"%{phi.name}" in origins:
        return itself
    start = prediction.form(entering[0])
    if all(prediction.symbols.block_of(symbol) not in loop.blocks for symbol in origins):
        return start + step * Polynomial.symbol(iteration(loop.header))
    return _carried(prediction.symbols, phi, start, step)


def _carried(symbols: Symbols, phi: Instruction, start: Polynomial, step: Polynomial) -> Polynomial:
    """Return a sum of steps that change: it moves like its start where steps are the same for all work-items."""

    def difference(dimension: int) -> Polynomial | None:
        gain = symbols.difference(step, dimension)
        return symbols.difference(start, dimension) if gain is not None and not gain.terms else None

    return symbols.add(f"%{phi.name}", Piece(PieceKind.CARRIED, (start, step), phi.name, difference))


def _out_of_loop(prediction: Prediction, phi: Instruction) -> Polynomial:
    """Return the phi that takes a value out of a loop: regular along dimensions where all leave it together."""
    symbols, block = prediction.symbols, prediction.block_of(phi)
    inner, source = prediction.form(phi.operands[0]), phi.incoming[0]
    left = [loop for loop in prediction.control_flow.loops_around(source) if block not in loop.blocks]
    inner = inner.replaced(lambda symbol: symbols.after(symbol, left))
    blocks = frozenset().union(*(loop.blocks for loop in left))
    changing = symbols.origins(inner) - {trips(loop.header) for loop in left}
    if not any(symbols.block_of(symbol) in blocks for symbol in changing):
        return inner

    def difference(dimension: int) -> Polynomial | None:
        apart = any(map(symbols.divergence(dimension).is_left_apart, left))
        return None if apart else symbols.difference(inner, dimension)

    return symbols.add(f"%{phi.name}", Piece(PieceKind.LEFT, (inner,), phi.name, difference))


# One of several values, chosen in a way that is not followed.
#
# It moves like those of the values that move, if these agree: `min`, `max`, `clamp`, `select`, a phi, `x ^
# uniform`.


def choice(
    prediction: Prediction, instruction: Instruction, kind: PieceKind, parts: Sequence[Polynomial]
) -> Polynomial:
    """Return the polynomial of a choice between values."""
    if parts and all(part.terms == parts[0].terms for part in parts):
        return parts[0]
    symbols = prediction.symbols

    def difference(dimension: int) -> Polynomial | None:
        found = [symbols.difference(part, dimension) for part in parts]
        moving = [gain for gain in found if gain is None or gain.terms]
        if not moving:
            return None if symbols.is_divergent(instruction.name, dimension) else ZERO
        return moving[0] if all(gain == moving[0] for gain in moving) else None

    return symbols.add(f"%{instruction.name}", Piece(kind, tuple(parts), instruction.name, difference))


def select(prediction: Prediction, instruction: Instruction) -> Polynomial:
    """`select`."""
    parts = [prediction.form(operand) for operand in instruction.operands[1:]]
    return choice(prediction, instruction, PieceKind.SELECTED, parts)
