"""Polynomials with whole coefficients over named symbols: what index arithmetic computes.

`4·global_id(0) + 4·global_id(1)·width + 8` has three terms: a symbol, a product of two, a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

# The symbols of a term's product, in alphabetical order, as often as they are factors.
Product = tuple[str, ...]

_NO_SYMBOLS: Product = ()


@dataclass(frozen=True)
class Polynomial:
    """A sum of terms: each product of symbols with its coefficient, which is not 0."""

    terms: Mapping[Product, int]

    @staticmethod
    def constant(value: int) -> Polynomial:
        """Return a number."""
        return Polynomial({_NO_SYMBOLS: value} if value else {})

    @staticmethod
    def symbol(name: str) -> Polynomial:
        """Return a symbol on its own."""
        return Polynomial({(name,): 1})

    @property
    def is_constant(self) -> bool:
        """Return True if it is a number."""
        return not self.terms or self.terms.keys() == {_NO_SYMBOLS}

    @property
    def number(self) -> int | None:
        """The number that it is; None for any other polynomial."""
        return self.constant_part if self.is_constant else None

    @property
    def constant_part(self) -> int:
        """The term without symbols; the value of a constant polynomial."""
        return self.terms.get(_NO_SYMBOLS, 0)

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The symbols in any term."""
        return frozenset(symbol for product in self.terms for symbol in product)

    def modulo(self, width: int) -> Polynomial:
        """Return the polynomial with its coefficients modulo 2^width, as the smallest numbers of either sign."""
        half = 1 << (width - 1)
        reduced = {product: (c + half) % (2 * half) - half for product, c in self.terms.items()}
        return Polynomial({product: c for product, c in reduced.items() if c})

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collected([*self.terms.items(), *other.terms.items()])

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1)

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _collected(
            (tuple(sorted(first + second)), a * b)
            for first, a in self.terms.items()
            for second, b in other.terms.items()
        )

    def scaled(self, factor: int) -> Polynomial:
        """Return the product with a number."""
        return Polynomial({product: factor * c for product, c in self.terms.items()} if factor else {})

    def divided(self, divisor: Polynomial) -> Polynomial | None:
        """Return the exact quotient by a divisor of one term; None with a remainder or a longer divisor."""
        if len(divisor.terms) != 1:
            return None
        [(product, coefficient)] = divisor.terms.items()
        quotient: dict[Product, int] = {}
        for own, c in self.terms.items():
            rest = _without(own, product)
            if rest is None or c % coefficient:
                return None
            quotient[rest] = c // coefficient
        return Polynomial(quotient)

    def factor_of(self, symbol: str) -> Polynomial | None:
        """Return what a symbol is multiplied by, 0 where it is missing; None where it is a factor twice."""
        found: dict[Product, int] = {}
        for product, coefficient in self.terms.items():
            rest = _without(product, (symbol,))
            if rest is not None:
                if symbol in rest:
                    return None
                found[rest] = coefficient
        return Polynomial(found)

    def replaced(self, value_of: Callable[[str], Polynomial]) -> Polynomial:
        """Return the polynomial with each symbol replaced by a polynomial."""
        return _collected(term for item in self.terms.items() for term in _expanded(*item, value_of))

    @property
    def degree(self) -> int:
        """The number of factors in its longest product."""
        return max(map(len, self.terms), default=0)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        ordered = sorted(self.terms.items(), key=lambda term: (not term[0], term[0]))
        spelled = (_spelled(product, c) for product, c in ordered)
        return " + ".join(spelled).replace("+ -", "- ")


ZERO = Polynomial.constant(0)
ONE = Polynomial.constant(1)


def _collected(terms: Iterable[tuple[Product, int]]) -> Polynomial:
    found: dict[Product, int] = {}
    for product, coefficient in terms:
        found[product] = found.get(product, 0) + coefficient
    return Polynomial({product: coefficient for product, coefficient in found.items() if coefficient})


def _without(product: Product, factors: Product) -> Product | None:
    """Return a product divided by another, or None."""
    rest = list(product)
    for factor in factors:
        if factor not in rest:
            return None
        rest.remove(factor)
    return tuple(rest)


def _expanded(
    product: Product, coefficient: int, value_of: Callable[[str], Polynomial]
) -> Iterator[tuple[Product, int]]:
    result = Polynomial.constant(coefficient)
    for symbol in product:
        result = result * value_of(symbol)
    yield from result.terms.items()


def _spelled(product: Product, coefficient: int) -> str:
    if not product:
        return str(coefficient)
    sign = {1: "", -1: "-"}.get(coefficient, f"{coefficient}·")
    return sign + "·".join(product)


# Polynomials that a value equals but for wraps (`exact_forms.py`).

SPLIT_WIDTH = 32
"""The bits from which on an extension is taken apart."""


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


def finer(grain: int, other: int) -> int:
    """Return the grain of what is wrong by both; 0 is none."""
    return min(grain or other, other or grain)
