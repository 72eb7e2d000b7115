"""Values that loops carry from one iteration to the next, as polynomials.

What a loop's header chooses between its start and what the latch brings back:

    i starts at 0, i += step                 step·iteration(header): an induction variable
    p starts at data, p += anything else     regular between work-items if what is added is the same for them
"""

from __future__ import annotations

from typing import Protocol

from coarsen.analysis.control_flow import Loop
from coarsen.analysis.polynomial import Polynomial
from coarsen.analysis.symbols import Piece, Symbols, iteration
from coarsen.ir.kernel import Instruction, Value
from coarsen.ir.types import IntegerType, PointerType


class Forms(Protocol):
    """What is needed of `IndexForms`, which asks for the polynomials of its loops' phis here."""

    symbols: Symbols

    def form(self, value: Value) -> Polynomial:
        """The polynomial of a value."""

    def assuming(self, phi: Instruction, value: Value) -> Polynomial:
        """The polynomial of a value in which a phi stands for itself."""


def loop_phi(forms: Forms, phi: Instruction, loop: Loop) -> Polynomial:
    """The polynomial of a phi at a loop's header."""
    itself = Polynomial.symbol(f"%{phi.name}")
    entering = [v for v, block in zip(phi.operands, phi.incoming, strict=True) if block not in loop.blocks]
    latches = [v for v, block in zip(phi.operands, phi.incoming, strict=True) if block in loop.blocks]
    if len(entering) != 1 or len(latches) != 1 or not isinstance(phi.type, IntegerType | PointerType):
        return itself
    step = forms.assuming(phi, latches[0]) - itself
    origins = forms.symbols.origins(step)
    if f"%{phi.name}" in origins:
        return itself
    start = forms.form(entering[0])
    if all(forms.symbols.block_of(symbol) not in loop.blocks for symbol in origins):
        return start + step * Polynomial.symbol(iteration(loop.header))
    return _carried(forms.symbols, phi, start, step)


def _carried(symbols: Symbols, phi: Instruction, start: Polynomial, step: Polynomial) -> Polynomial:
    """A sum of steps that change: it moves like its start where each step is the same for all work-items."""

    def difference(dimension: int) -> Polynomial | None:
        gain = symbols.difference(step, dimension)
        return symbols.difference(start, dimension) if gain is not None and not gain.terms else None

    return symbols.add(f"%{phi.name}", Piece((start, step), phi.name, difference))
