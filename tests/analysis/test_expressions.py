"""Expressions over sizes: values, text, JSON."""

from __future__ import annotations

import pytest

from coarsen.analysis.expressions import (
    ONE,
    ZERO,
    Expression,
    Name,
    as_known,
    at_least_zero,
    ceiling,
    difference,
    evaluate,
    expression_text,
    floor,
    logarithm,
    magnitude,
    maximum,
    minimum,
    number,
    otherwise,
    power,
    product,
    quotient,
    replaced,
    total,
)
from coarsen.errors import InvalidInputError

WIDTH, HEIGHT, LOCAL = Name("width"), Name("height"), Name("local_size(0)")
THREE, FOUR = number(3), number(4)

CASES: list[tuple[Expression, str, float]] = [
    (ceiling(difference(WIDTH, THREE), FOUR), "⌈(width - 3) / 4⌉", 2),
    (floor(difference(WIDTH, THREE), FOUR), "⌊(width - 3) / 4⌋", 1),
    (product([FOUR, WIDTH, total([HEIGHT, ONE])]), "4·width·(height + 1)", 240),
    (total([WIDTH, WIDTH, THREE, product([number(-2), HEIGHT])]), "2·width - 2·height + 3", 13),
    (product([quotient(HEIGHT, LOCAL), LOCAL]), "height", 5),
    (total([quotient(WIDTH, LOCAL), quotient(WIDTH, LOCAL)]), "2·width / local_size(0)", 2.5),
    (quotient(WIDTH, product([LOCAL, HEIGHT])), "width / (local_size(0)·height)", 0.25),
    (minimum(maximum(WIDTH, FOUR), number(9), number(16)), "min(max(width, 4), 9)", 9),
    (total([logarithm(LOCAL), ONE]), "⌊log2(local_size(0))⌋ + 1", 4),
    (logarithm(WIDTH, 3), "⌊log3(width)⌋", 2),
    (power(2, HEIGHT), "2^height", 32),
    (difference(WIDTH, WIDTH), "0", 0),
    (product([ZERO, WIDTH]), "0", 0),
    (ceiling(WIDTH, WIDTH), "1", 1),
    (at_least_zero(difference(HEIGHT, WIDTH)), "max(height - width, 0)", 0),
    (at_least_zero(total([WIDTH, ONE])), "width + 1", 11),
    (magnitude(product([number(-4), WIDTH])), "4·width", 40),
    (otherwise(WIDTH, number(8)), "width", 10),
]
SIZES = {"width": 10, "height": 5, "local_size(0)": 8}


@pytest.mark.parametrize(("expression", "text", "value"), CASES, ids=[text for _, text, _ in CASES])
def test_an_expression_has_its_text_and_its_value(expression: Expression, text: str, value: float) -> None:
    assert expression_text(expression) == text
    assert evaluate(expression, SIZES) == value


def test_equal_sums_are_equal_however_they_came_to_be() -> None:
    assert total([WIDTH, THREE, WIDTH]) == total([product([number(2), WIDTH]), THREE])


@pytest.mark.parametrize(("value", "expected"), [(-1, -1), (0, -1), (1, 0), (2, 1), (3, 1), (4, 2), (1 << 40, 40)])
def test_a_logarithm_is_whole(value: int, expected: int) -> None:
    assert evaluate(logarithm(WIDTH), {"width": value}) == expected


def test_what_is_missing_is_assumed_where_that_is_said() -> None:
    expression = total([otherwise(WIDTH, number(8)), HEIGHT])
    assert evaluate(expression, {"height": 5}) == 13
    assert as_known(expression) == total([WIDTH, HEIGHT])
    with pytest.raises(InvalidInputError, match=r"^the size 'height' needs a value$"):
        evaluate(expression, {"width": 5})


def test_names_are_replaced() -> None:
    expression = ceiling(total([WIDTH, HEIGHT]), LOCAL)
    assert replaced(expression, {"height": THREE, "local_size(0)": FOUR}) == ceiling(total([WIDTH, THREE]), FOUR)


@pytest.mark.parametrize("expression", [ceiling(WIDTH, HEIGHT), quotient(WIDTH, HEIGHT), power(2, WIDTH)])
def test_no_number_is_one_clear_line(expression: Expression) -> None:
    with pytest.raises(InvalidInputError, match=r"^these sizes give no finite number of work: \w+"):
        evaluate(expression, {"width": 1000, "height": 0})
