"""One of several values, chosen in a way that is not followed.

It moves like those of the values that move, if these agree: `min`, `max`, `clamp`, `select`, a phi, `x ^ uniform`.
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.algebra.predict.prediction import Prediction
from coarsen.analysis.algebra.predict.symbols import Piece, PieceKind
from coarsen.ir.kernel import Instruction


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
