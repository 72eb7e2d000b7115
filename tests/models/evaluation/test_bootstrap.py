"""Bootstrap intervals of means over kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.models.evaluation.scores import Interval, mean_interval


def letters(count: int) -> list[str]:
    return [f"family {index}" for index in range(count)]


def test_the_same_seed_gives_the_same_interval() -> None:
    values = [0.1, -0.2, 0.7, 0.3]
    assert mean_interval(values, letters(4)) == mean_interval(values, letters(4))
    assert mean_interval(values, letters(4), seed=1) != mean_interval(values, letters(4), resamples=50, seed=2)


def test_equal_values_have_no_spread() -> None:
    assert mean_interval([0.25] * 5, letters(5)) == Interval(0.25, 0.25)


def test_a_family_is_drawn_whole() -> None:
    # Two families: the means of resamples are 0, 1 and, of one of each, 3/4.
    drawn = mean_interval([0.0, 1.0, 1.0, 1.0], ["a", "b", "b", "b"])
    assert drawn == Interval(0.0, 1.0)
    # If kernels were drawn one by one, the interval of so lopsided a sample would not reach 0.
    assert mean_interval([0.0, 1.0, 1.0, 1.0], letters(4)).low > 0.0
    assert mean_interval([0.0, 1.0, 1.0, 1.0], ["a", "a", "a", "a"]) == Interval(0.75, 0.75)


def test_the_order_of_kernels_matters_only_to_the_draws() -> None:
    one = mean_interval([0.1, 0.5, 0.9, 0.2], ["a", "b", "c", "d"])
    other = mean_interval([0.2, 0.9, 0.5, 0.1], ["d", "c", "b", "a"])
    assert [one.low, one.high] == pytest.approx([other.low, other.high])


def test_of_twenty_intervals_about_one_misses() -> None:
    random = np.random.default_rng(7)
    found = [
        mean_interval(random.normal(0.3, 1.0, 40).tolist(), letters(40), seed=trial, resamples=1000)
        for trial in range(400)
    ]
    held = sum(interval.low <= 0.3 <= interval.high for interval in found)
    assert 360 <= held <= 394  # 0.90 to 0.985; about 0.94 is expected of a percentile bootstrap


def test_the_width_is_that_of_the_mean() -> None:
    values = np.random.default_rng(3).normal(0.0, 2.0, 400).tolist()
    interval = mean_interval(values, letters(400))
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * np.std(values) / 20, rel=0.06)


def test_exponential() -> None:
    interval = Interval(0.0, math.log(2)).exponential()
    assert [interval.low, interval.high] == pytest.approx([1.0, 2.0])
