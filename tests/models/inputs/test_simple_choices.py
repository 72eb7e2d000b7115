"""Fixed best, distances and portfolio on made-up times with known answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.models.inputs.times import (
    CPU_MARGIN,
    GPU_MARGIN,
    InputPoint,
    VersionTimes,
    fixed_best,
    margin_of,
    portfolio,
    wins,
)
from tests.models.inputs.made_up import sizes, times_of, version

# The first is best on three of five inputs and awful on the others; the second is never far from the best.
TORN = times_of(
    [lambda n: 1.0 if n < 100 else 9.0, lambda n: 1.2, lambda n: 9.0 if n < 100 else 1.0], [1, 2, 3, 200, 300]
)


def test_the_fixed_best_loses_least() -> None:
    assert fixed_best(TORN) == 1


def test_a_portfolio_has_what_is_best_somewhere_and_nothing_else() -> None:
    # Of TORN's versions the middle one is the fixed best, and superfluous once both others are there.
    assert sorted(portfolio(TORN, CPU_MARGIN)) == [0, 2]


def test_a_version_that_is_best_within_noise_or_on_one_input_is_not_built() -> None:
    within_noise = times_of([lambda n: 1.0, lambda n: 0.96 if n > 100 else 2.0], [1, 2, 3, 200, 300])
    assert portfolio(within_noise, CPU_MARGIN) == (0,)
    assert sorted(portfolio(within_noise, GPU_MARGIN)) == [0, 1]
    once = times_of([lambda n: 1.0, lambda n: 0.1 if n > 250 else 2.0], [1, 2, 3, 200, 300])
    assert portfolio(once, CPU_MARGIN) == (0,)


def test_a_portfolio_has_room_for_so_many_versions_with_the_default_one() -> None:
    # Each version is the best on two inputs of its own, the later the more so.
    laws = [lambda n, k=k: 1.0 if int(n) // 2 == k else 2.0 + k / 100 for k in range(12)]
    times = times_of([lambda n: 3.0, *laws], range(24))
    for most in (1, 2, 5, 8):
        found = portfolio(times, CPU_MARGIN, most)
        assert len({*found, times.default}) <= max(most, 2)
        rests = {each: [other for other in found if other != each] for each in found}
        assert len(found) == 1 or all(wins(times, each, rests[each], CPU_MARGIN) >= 2 for each in found)


def test_a_version_that_failed_has_no_place_where_it_failed() -> None:
    seconds = np.array([[1.0, np.nan], [1.0, np.nan], [1.0, 4.0], [1.0, 0.5]])
    points = tuple(InputPoint(f"{k}", f"{k}", {}) for k in range(4))
    times = VersionTimes(points, (version(0), version(1)), seconds, 0)
    assert portfolio(times, CPU_MARGIN) == (0,)
    better = replace(times, seconds=np.array([[1.0, 0.5], [1.0, np.nan], [1.0, 4.0], [1.0, 0.5]]))
    assert sorted(portfolio(better, CPU_MARGIN)) == [0, 1]


@pytest.mark.parametrize(("is_gpu", "margin"), [(False, 0.05), (True, 0.01)])
def test_noise_is_larger_on_cpus(is_gpu: bool, margin: float) -> None:
    assert margin_of(is_gpu) == margin


def test_more_versions_than_the_fixed_best_only_where_inputs_matter() -> None:
    same = times_of([lambda n: n, lambda n: 1.02 * n, lambda n: 1.01 * n], sizes(20), noise=0.01)
    assert len(portfolio(same, CPU_MARGIN)) == 1
