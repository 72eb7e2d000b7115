"""Qualities of traces, and those of random draws in closed form against all ways to draw."""

from __future__ import annotations

import itertools
import math
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.quality import expected_best, qualities, random_quality


def test_qualities_rise_to_one() -> None:
    times = [None, 8.0, 10.0, None, 2.0, 4.0]
    assert qualities(times, 2.0) == [0.0, 0.25, 0.25, 0.25, 1.0, 1.0]


def every_draw(times: list[float], failures: int, draws: int) -> list[float]:
    """The best of each way to draw, infinity where all fail."""
    choices = [*times, *[math.inf] * failures]
    return [min(drawn) for drawn in itertools.combinations(choices, draws)]


def reached_by(qualities: list[float], share: float) -> float:
    """The largest quality that at least this share of them reaches."""
    ordered = sorted(qualities, reverse=True)
    return ordered[math.ceil(share * len(ordered) - 1e-9) - 1]


@settings(max_examples=60)
@given(st.lists(st.floats(0.5, 9), min_size=1, max_size=6), st.integers(0, 3), st.data())
def test_random_draws_without_replacement(times: list[float], failures: int, data: st.DataObject) -> None:
    draws = data.draw(st.integers(1, len(times) + failures))
    bests = every_draw(times, failures, draws)
    expected = [min(times) / best for best in bests]
    found = random_quality(times, len(times) + failures, draws)
    assert found.mean == pytest.approx(fmean(expected))
    assert (found.lower, found.median, found.upper) == pytest.approx(
        tuple(reached_by(expected, share) for share in (0.75, 0.5, 0.25))
    )
    finite = [best for best in bests if math.isfinite(best)]
    if finite:
        assert expected_best(times, len(times) + failures, draws) == pytest.approx(fmean(finite))


def test_all_draws_find_the_optimum() -> None:
    found = random_quality([3.0, 1.0, 2.0], 5, 5)
    assert (found.mean, found.lower, found.median, found.upper) == pytest.approx((1, 1, 1, 1))
    assert expected_best([3.0, 1.0, 2.0], 5, 5) == pytest.approx(1.0)


def test_large_spaces() -> None:
    times = [float(time) for time in range(1, 11131)]
    # The expected minimum of n of 1, 2, …, N is (N + 1) / (n + 1).
    for draws in (1, 24, 556, 11129):
        assert expected_best(times, 11130, draws) == pytest.approx(11131 / (draws + 1), rel=1e-6)


@pytest.mark.parametrize(("choices", "draws"), [(2, 0), (2, 3), (0, 1)])
def test_impossible_draws(choices: int, draws: int) -> None:
    with pytest.raises(InvalidInputError, match="are not possible"):
        random_quality([1.0], choices, draws)
