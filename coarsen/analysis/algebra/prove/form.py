"""Polynomials that equal their values modulo 2^width, or say by what they may be wrong."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.analysis.algebra.polynomial import Polynomial

SPLIT_WIDTH = 32
"""The bits from which on an extension is taken apart; see `exact_forms.py`."""
# Larger expressions are taken as values of which nothing is known; no index in a sensible kernel comes near.
_MAXIMUM_TERMS = 32
_MAXIMUM_DEGREE = 4


@dataclass(frozen=True)
class ModularForm:
    """A polynomial, and how wrong it may be: by multiples of `grain`·2^32; a grain of 0 says that it is exact."""

    polynomial: Polynomial
    grain: int = 0

    def __add__(self, other: ModularForm) -> ModularForm:
        return ModularForm(self.polynomial + other.polynomial, finer(self.grain, other.grain))

    def __sub__(self, other: ModularForm) -> ModularForm:
        return self + other.scaled(-1)

    def __mul__(self, other: ModularForm) -> ModularForm:
        if other.number is not None:
            return self.scaled(other.number)
        return ModularForm(self.polynomial * other.polynomial, finer(self.grain, other.grain))

    def scaled(self, factor: int) -> ModularForm:
        """Return the product with a number."""
        return ModularForm(self.polynomial.scaled(factor), self.grain * (factor & -factor))

    def modulo(self, width: int) -> ModularForm:
        """Return the coefficients modulo 2^width, as the smallest numbers of either sign."""
        return ModularForm(self.polynomial.modulo(width), self.grain if width > SPLIT_WIDTH else 0)

    @property
    def number(self) -> int | None:
        """The number that it is for sure; None for any other."""
        return None if self.grain else self.polynomial.number

    @property
    def is_small(self) -> bool:
        """Return True if it is worth keeping."""
        return len(self.polynomial.terms) <= _MAXIMUM_TERMS and self.polynomial.degree <= _MAXIMUM_DEGREE


def finer(grain: int, other: int) -> int:
    """Return the grain of what is wrong by both; 0 is none."""
    return min(grain or other, other or grain)
