"""Polynomials, against evaluating them."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from coarsen.analysis.algebra.polynomial import Polynomial

SYMBOLS = ("a", "b", "c")
TERMS = st.dictionaries(
    st.lists(st.sampled_from(SYMBOLS), max_size=3).map(lambda names: tuple(sorted(names))),
    st.integers(-9, 9).filter(bool),
    max_size=4,
)
POLYNOMIALS = TERMS.map(Polynomial)
VALUES = st.fixed_dictionaries({name: st.integers(-5, 5) for name in SYMBOLS})


def at(polynomial: Polynomial, values: Mapping[str, int]) -> int:
    total = 0
    for product, coefficient in polynomial.terms.items():
        for symbol in product:
            coefficient *= values[symbol]
        total += coefficient
    return total


@given(POLYNOMIALS, POLYNOMIALS, VALUES, st.integers(-4, 4))
def test_arithmetic_is_that_of_numbers(
    first: Polynomial, second: Polynomial, values: dict[str, int], factor: int
) -> None:
    left, right = at(first, values), at(second, values)
    assert at(first + second, values) == left + right
    assert at(first - second, values) == left - right
    assert at(first * second, values) == left * right
    assert at(first.scaled(factor), values) == factor * left


@given(POLYNOMIALS, POLYNOMIALS, VALUES)
def test_replacing_a_symbol_is_composition(outer: Polynomial, inner: Polynomial, values: dict[str, int]) -> None:
    replaced = outer.replaced(lambda symbol: inner if symbol == "a" else Polynomial.symbol(symbol))
    assert at(replaced, values) == at(outer, {**values, "a": at(inner, values)})


@given(POLYNOMIALS, TERMS.filter(lambda terms: len(terms) == 1).map(Polynomial))
def test_a_product_is_divided_exactly(first: Polynomial, term: Polynomial) -> None:
    quotient = (first * term).divided(term)
    assert quotient is not None
    assert quotient.terms == first.terms


def test_what_does_not_divide_has_no_quotient() -> None:
    a, b = Polynomial.symbol("a"), Polynomial.symbol("b")
    assert a.scaled(3).divided(Polynomial.constant(2)) is None
    assert (a + b).divided(b) is None
    assert a.divided(a + b) is None


@given(POLYNOMIALS)
def test_terms_that_cancel_are_gone(polynomial: Polynomial) -> None:
    nothing = polynomial - polynomial
    assert not nothing.terms
    assert (nothing.is_constant, nothing.constant_part, nothing.symbols) == (True, 0, frozenset())


def test_a_polynomial_is_spelled_as_one_writes_it() -> None:
    a, b = Polynomial.symbol("a"), Polynomial.symbol("b")
    assert str(a.scaled(4) + a * b - b - Polynomial.constant(2)) == "4·a + a·b - b - 2"
    assert str(Polynomial.constant(0)) == "0"


def test_the_factor_of_a_symbol() -> None:
    a, b = Polynomial.symbol("a"), Polynomial.symbol("b")
    assert (a.scaled(4) + a * b + b).factor_of("a") == b + Polynomial.constant(4)
    assert b.factor_of("a") == Polynomial.constant(0)
    assert (a * a + a).factor_of("a") is None
