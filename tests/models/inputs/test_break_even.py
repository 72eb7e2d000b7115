"""Break-even points of curves that cross at known sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.break_even import BreakEven, break_evens

GRID = [2**k for k in range(0, 21, 2)]
FINE = [*range(1, 9001)]
NAN = math.nan


def curves(*laws: Callable[[float], float]) -> Callable[[int], list[float]]:
    return lambda n: [law(n) for law in laws]


def taken_over(
    curve: Callable[[int], Sequence[float]], sizes: Sequence[int], noise: float
) -> tuple[BreakEven, ...]:
    """The break-even points of curves that are measured at these sizes."""
    return break_evens(sizes, np.array([curve(size) for size in sizes]).reshape(len(sizes), len(curve(1))), noise)


# The first costs nothing to start and 1 for each element, the second 1000 and 0.1: they cross at 1111.1….
CROSSING = curves(lambda n: n, lambda n: 1000 + 0.1 * n)


def test_a_crossing_without_noise_is_found_to_the_integer() -> None:
    (found,) = taken_over(CROSSING, FINE, noise=0.0)
    assert found == BreakEven(before=0, after=1, low=1111, high=1112)
    assert found.octaves < 0.01


def test_with_noise_the_bracket_is_where_neither_is_known_to_be_faster() -> None:
    (found,) = taken_over(CROSSING, FINE, noise=0.05)
    # n · 1.05 < 1000 + n / 10 up to 1052, and 1.05 · (1000 + n / 10) < n from 1174 on.
    assert (found.low, found.high) == (1052, 1174)


def test_a_bracket_lies_between_the_sizes_that_are_given() -> None:
    (found,) = taken_over(CROSSING, GRID, noise=0.05)
    assert (found.low, found.high) == (1024, 4096)


def test_a_bracket_is_as_wide_as_curves_lie_within_noise() -> None:
    close = curves(lambda n: 1.0, lambda n: (n / 1000) ** -0.05)
    (found,) = taken_over(close, FINE, noise=0.05)
    assert found.octaves > 2
    # (n / 1000)^-0.05 is within 5 % for about an octave and a half on either side.
    assert found.low == pytest.approx(1000 / 1.05**20, rel=0.01)
    assert found.high == pytest.approx(1000 * 1.05**20, rel=0.01)


def test_curves_within_noise_everywhere_have_no_break_even() -> None:
    assert taken_over(curves(lambda n: 1.0, lambda n: 1.0 + 0.04 * math.sin(n)), FINE, noise=0.05) == ()


def test_what_never_was_faster_has_no_change_with_what_takes_over() -> None:
    # The first is the fastest at the least size by 1 %, which is noise; the second has been as good all along.
    assert taken_over(curves(lambda n: 1.0, lambda n: 1.01 * n**-0.1), FINE, noise=0.05) == ()


def test_a_version_that_is_as_good_as_the_next_gives_it_its_place() -> None:
    # From 100 on the second is faster than the first by far, and the third then by 2 %, above 10000 by 20 %.
    found = taken_over(
        curves(
            lambda n: n,
            lambda n: 100.0 if n < 8000 else 120.0,
            lambda n: 102.0 if n < 2000 else 98.0,
        ),
        FINE,
        noise=0.05,
    )
    assert [(point.before, point.after) for point in found] == [(0, 2)]
    assert (found[0].low, found[0].high) == (97, 108)


def test_several_versions_take_turns_and_a_version_that_is_never_best_has_no_part() -> None:
    found = taken_over(
        curves(lambda n: n, lambda n: 100 + n / 4, lambda n: 1e5, lambda n: 2000 + n / 64), FINE, noise=0.0
    )
    assert [(point.before, point.after) for point in found] == [(0, 1), (1, 3)]
    assert [point.low for point in found] == [133, 8106]


def test_a_version_that_fails_from_some_size_on_gives_way_there() -> None:
    (found,) = taken_over(lambda n: [1.0 if n < 5000 else NAN, 2.0], FINE, noise=0.05)
    assert (found.low, found.high) == (4999, 5000)


def test_steps_hold_a_crossing() -> None:
    stepped = curves(lambda n: math.ceil(n / 64) * 64.0, lambda n: 500.0)
    (found,) = taken_over(stepped, FINE, noise=0.0)
    assert (found.low, found.high) == (448, 449)


@pytest.mark.parametrize("sizes", [[], [0, 1], [4, 4], [8, 2]])
def test_sizes_that_make_no_sense_are_refused(sizes: list[int]) -> None:
    with pytest.raises(InvalidInputError, match="ascending"):
        taken_over(CROSSING, sizes, noise=0.0)


def test_a_size_at_which_nothing_ran_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="size 16"):
        taken_over(lambda n: [NAN, NAN] if n == 16 else [1.0, 2.0], FINE, noise=0.0)
