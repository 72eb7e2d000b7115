"""Quotients in index arithmetic, which are affine in pieces."""

from __future__ import annotations

from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.algebra.predict.symbols import Piece, PieceKind, Symbols


def quotient(symbols: Symbols, dividend: Polynomial, divisor: Polynomial, instruction: str) -> Polynomial:
    """Return the whole quotient of two values, rounded either way, computed by an instruction of this name.

    Equal quotients have the same symbol wherever they are computed.
    """
    if divisor.is_constant and divisor.constant_part == 0:
        return ZERO
    if dividend.is_constant and divisor.is_constant:
        return Polynomial.constant(dividend.constant_part // divisor.constant_part)
    exact = dividend.divided(divisor)
    if exact is not None:
        return exact

    def difference(dimension: int) -> Polynomial | None:
        gain, change = (symbols.difference(part, dimension) for part in (dividend, divisor))
        if gain is None or change is None or change.terms:
            return None
        return _gain_of_quotient(gain, divisor)

    symbol = symbols.shortened(f"({dividend})/({divisor})")
    return symbols.add(symbol, Piece(PieceKind.QUOTIENT, (dividend, divisor), instruction, difference))


def _gain_of_quotient(gain: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """Return what the quotient gains where the dividend gains `gain`: an exact part of it, or usually nothing."""
    exact = gain.divided(divisor)
    if exact is not None:
        return exact
    if not gain.is_constant:
        return None
    is_small = not divisor.is_constant or 2 * abs(gain.constant_part) <= abs(divisor.constant_part)
    return ZERO if is_small else None
