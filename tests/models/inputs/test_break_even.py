"""Break-even points of curves that cross at known sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.break_even import BreakEven, break_evens, switches
from coarsen.models.inputs.break_even_errors import compared, pooled, regret_between
from coarsen.models.inputs.sections import Section, quartiles, sections

GRID = [2**k for k in range(0, 21, 2)]
NAN = math.nan


def curves(*laws: Callable[[float], float]) -> Callable[[int], list[float]]:
    return lambda n: [law(n) for law in laws]


# The first costs nothing to start and 1 for each element, the second 1000 and 0.1: they cross at 1111.1….
CROSSING = curves(lambda n: n, lambda n: 1000 + 0.1 * n)


class Counted:
    """Counts what is measured."""

    def __init__(self, measure: Callable[[int], Sequence[float]]) -> None:
        self.measure = measure
        self.asked: list[int] = []

    def __call__(self, size: int) -> Sequence[float]:
        self.asked.append(size)
        return self.measure(size)


def test_a_crossing_without_noise_is_found_to_the_integer() -> None:
    (found,) = break_evens(CROSSING, GRID, noise=0.0)
    assert found == BreakEven(before=0, after=1, low=1111, high=1112)
    assert not found.is_ill_defined


def test_with_noise_the_bracket_is_where_neither_is_known_to_be_faster() -> None:
    (found,) = break_evens(CROSSING, GRID, noise=0.05)
    # n · 1.05 < 1000 + n / 10 up to 1052, and 1.05 · (1000 + n / 10) < n from 1174 on.
    assert (found.low, found.high) == (1052, 1174)


def test_each_size_is_measured_once_and_a_resolution_saves_measuring() -> None:
    exact, coarse = Counted(CROSSING), Counted(CROSSING)
    break_evens(exact, GRID, noise=0.05)
    (found,) = break_evens(coarse, GRID, noise=0.05, resolution=0.5)
    assert len(set(exact.asked)) == len(exact.asked)
    assert len(coarse.asked) < len(exact.asked)
    assert found.low <= 1052 < 1174 <= found.high


def test_an_infinite_resolution_measures_the_given_sizes_alone() -> None:
    counted = Counted(CROSSING)
    (found,) = break_evens(counted, GRID, noise=0.05, resolution=math.inf)
    assert sorted(counted.asked) == GRID
    assert (found.low, found.high) == (1024, 4096)


def test_curves_within_noise_over_two_octaves_are_ill_defined() -> None:
    close = curves(lambda n: 1.0, lambda n: (n / 1000) ** -0.05)
    (found,) = break_evens(close, GRID, noise=0.05)
    assert found.is_ill_defined
    # (n / 1000)^-0.05 is within 5 % for about an octave and a half on either side.
    assert found.low == pytest.approx(1000 / 1.05**20, rel=0.01)
    assert found.high == pytest.approx(1000 * 1.05**20, rel=0.01)


def test_curves_within_noise_everywhere_have_no_break_even() -> None:
    assert break_evens(curves(lambda n: 1.0, lambda n: 1.0 + 0.04 * math.sin(n)), GRID, noise=0.05) == ()


def test_what_never_was_faster_has_no_change_with_what_takes_over() -> None:
    # The first is the fastest at the least size by 1 %, which is noise; the second has been as good all along.
    assert break_evens(curves(lambda n: 1.0, lambda n: 1.01 * n**-0.1), GRID, noise=0.05) == ()


def test_a_version_that_is_as_good_as_the_next_gives_it_its_place() -> None:
    # From 100 on the second is faster than the first by far, and the third then by 2 %, above 10000 by 20 %.
    found = break_evens(
        curves(
            lambda n: n,
            lambda n: 100.0 if n < 8000 else 120.0,
            lambda n: 102.0 if n < 2000 else 98.0,
        ),
        GRID,
        noise=0.05,
    )
    assert [(point.before, point.after) for point in found] == [(0, 2)]
    assert (found[0].low, found[0].high) == (97, 108)


def test_several_versions_take_turns_and_a_version_that_is_never_best_has_no_part() -> None:
    found = break_evens(
        curves(lambda n: n, lambda n: 100 + n / 4, lambda n: 1e5, lambda n: 2000 + n / 64), GRID, noise=0.0
    )
    assert [(point.before, point.after) for point in found] == [(0, 1), (1, 3)]
    assert [point.low for point in found] == [133, 8106]


def test_a_version_that_fails_from_some_size_on_gives_way_there() -> None:
    (found,) = break_evens(lambda n: [1.0 if n < 5000 else NAN, 2.0], GRID, noise=0.05)
    assert (found.low, found.high) == (4999, 5000)


def test_steps_hold_a_crossing() -> None:
    stepped = curves(lambda n: math.ceil(n / 64) * 64.0, lambda n: 500.0)
    (found,) = break_evens(stepped, GRID, noise=0.0)
    assert (found.low, found.high) == (448, 449)


@pytest.mark.parametrize("sizes", [[], [0, 1], [4, 4], [8, 2]])
def test_sizes_that_make_no_sense_are_refused(sizes: list[int]) -> None:
    with pytest.raises(InvalidInputError, match="ascending"):
        break_evens(CROSSING, sizes, noise=0.0)
    with pytest.raises(InvalidInputError, match="ascending"):
        switches(lambda n: 0, sizes)


def test_a_size_at_which_nothing_ran_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="size 16"):
        break_evens(lambda n: [NAN, NAN] if n == 16 else [1.0, 2.0], GRID, noise=0.0)


def test_a_choice_switches_between_two_neighbouring_sizes() -> None:
    assert switches(lambda n: int(n > 90) + int(n > 5000), GRID) == (
        BreakEven(0, 1, 90, 91),
        BreakEven(1, 2, 5000, 5001),
    )


def test_sections_run_along_each_axis_at_what_the_others_are_held_at() -> None:
    def measure(sizes: Mapping[str, int]) -> list[float]:
        return [sizes["width"], 1000.0 * sizes["height"]]

    found = sections(measure, {"width": GRID, "height": GRID[:6]}, {"width": [64, 3000], "height": [1, 8]}, 0.0)
    assert found == (
        Section("width", {"height": 1}, (BreakEven(0, 1, 999, 1001),)),
        Section("width", {"height": 8}, (BreakEven(0, 1, 7999, 8001),)),
        Section("height", {"width": 64}, ()),
        Section("height", {"width": 3000}, (BreakEven(1, 0, 2, 4),)),
    )


def test_sizes_are_held_within_their_range() -> None:
    assert quartiles([2**k for k in range(9)]) == (4, 16, 64)
    assert quartiles([7]) == (7,)


def test_errors_are_octaves_to_the_bracket_and_nothing_within_it() -> None:
    measured = [BreakEven(0, 1, 1000, 1100), BreakEven(1, 2, 9000, 9001)]
    inside, below, above = (BreakEven(0, 1, n, n + 1) for n in (1050, 250, 4400))
    assert compared([inside], measured).matched[0].error == 0.0
    assert compared([below], measured).matched[0].error == pytest.approx(2.0, abs=0.01)
    errors = compared([above, below], measured)
    assert errors.matched[0].error == pytest.approx(2.0, abs=0.01)
    assert (errors.missed, errors.invented, errors.ill_defined) == (1, 1, 0)
    both = pooled([errors, compared([inside], measured)])
    assert both.quantile(0.5) == pytest.approx(1.0, abs=0.01)
    assert (both.missed, both.invented) == (2, 1)


def test_ill_defined_points_judge_nothing() -> None:
    errors = compared([BreakEven(0, 1, 10, 11)], [BreakEven(0, 1, 100, 1000)])
    assert (errors.matched, errors.missed, errors.invented, errors.ill_defined) == ((), 0, 0, 1)
    assert math.isnan(errors.quantile(0.5))


def test_regret_is_what_the_wrong_version_costs_between_the_points() -> None:
    measured = [BreakEven(0, 1, 1111, 1112)]
    early = compared([BreakEven(0, 1, 555, 556)], measured).matched[0]
    late = compared([BreakEven(0, 1, 2222, 2223)], measured).matched[0]
    exact = compared([BreakEven(0, 1, 1111, 1112)], measured).matched[0]
    assert 0 < regret_between(late, CROSSING) < math.log(2222 / 1222)
    assert 0 < regret_between(early, CROSSING) < math.log(1055 / 555)
    assert regret_between(exact, CROSSING) == 0.0
