"""Extents as expressions: what they may hold, and what they are worth."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.dispatch.expressions import parse_expression, parse_formula
from coarsen.errors import InvalidInputError

VALUES = {"n": 10, "local_size_0": 4}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n", 10),
        (12, 12),
        ("2 * n + 1", 21),
        ("(n + local_size_0 - 1) // local_size_0 * local_size_0", 12),
        ("n % local_size_0", 2),
        ("-n + 11", 1),
        (" n ", 10),
        ("max(n, 2 * local_size_0, 3) - min(n, local_size_0)", 6),
    ],
)
def test_value(text: str | int, value: int) -> None:
    assert parse_expression(text).evaluate(VALUES) == value


def test_names() -> None:
    assert parse_expression("(n + m) * n // 2").names == {"n", "m"}


@pytest.mark.parametrize(
    "text",
    [
        *("", "n +", "n n", "n ** 2", "n / 2", "1.5", "True", "'n'", "n if n else 1", "n < 2", "[n]", "n, m"),
        *("abs(n)", "n.real", "n[0]", "lambda: n", "(n := 2)", "~n", "n @ n", "n << 9", "__import__('os')", "\0"),
        *("n\nn", "f'{n}'", "*n", "1j", "...", "None", "not n", "+n", "log2(n)", "min(n)", "max()"),
        *("min(n, m, key=n)", "min(*n)", "n.min(n, n)", "min" * 40 + "(n, n)"),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_expression(text)


@pytest.mark.parametrize("text", ["(" * 90 + "n" + ")" * 90, "-" * 190 + "n", "9" * 200])
def test_a_deep_or_long_text_does_no_harm(text: str) -> None:
    try:
        parse_expression(text).evaluate(VALUES)
    except InvalidInputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("wrong", [["n"], {"n": 1}, None, 2.5])
def test_what_is_no_text_is_refused(wrong: Any) -> None:  # noqa: ANN401 (whatever a caller gives)
    with pytest.raises(InvalidInputError, match="may only have whole numbers"):
        parse_expression(wrong)


def test_too_long() -> None:
    with pytest.raises(InvalidInputError, match="longer than 200 characters"):
        parse_expression("n + " * 60 + "n")


@pytest.mark.parametrize("text", ["n // 0", "n % (n - 10)"])
def test_division_by_zero(text: str) -> None:
    with pytest.raises(InvalidInputError, match="divides by zero"):
        parse_expression(text).evaluate(VALUES)


def test_a_name_without_value() -> None:
    with pytest.raises(InvalidInputError, match="'n \\+ m' needs a whole number for 'm'"):
        parse_expression("n + m").evaluate(VALUES)


@given(st.text(max_size=40))
def test_no_text_gives_another_error(text: str) -> None:
    try:
        names = parse_expression(text).names
    except InvalidInputError:
        return
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize("text", ["log2(height / width)", "0.5 * n", "max(n / m, 1e-3)", "n // m % 7", "-log2(n)"])
def test_a_formula_has_real_numbers_too(text: str) -> None:
    assert parse_formula(text).names <= {"height", "width", "n", "m"}


@pytest.mark.parametrize(
    "text", ["1e999", "True", "n ** 2", "sqrt(n)", "log2(n, 2)", "__import__('os')", "0.5j", "n < 2"]
)
def test_what_no_formula_may_have(text: str) -> None:
    with pytest.raises(InvalidInputError, match="may only have numbers"):
        parse_formula(text)
