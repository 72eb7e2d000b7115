"""Phis: values that loops carry on, that leave loops, or that come from several blocks.

What a loop's header chooses between its start and what the latch brings back:

    i starts at 0, i += step                 step·iteration(header): an induction variable
    p starts at data, p += anything else     regular between work-items if what is added is the same for them
"""

from __future__ import annotations

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.predict.choices import choice
from coarsen.analysis.algebra.predict.prediction import Prediction
from coarsen.analysis.algebra.predict.symbols import Piece, PieceKind, Symbols, iteration, trips
from coarsen.analysis.control_flow import Loop
from coarsen.ir.kernel import Instruction

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
