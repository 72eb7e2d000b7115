"""Whether probabilities mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.evaluation.calibration import Forecast, calibration, forecasts, wilson_interval
from coarsen.models.evaluation.scores import Outcome
from coarsen.models.examples import Choice, Example
from tests.models.evaluation.made_up import made_up


def forecast(example: Example, probabilities: dict[int, float], seed: int = 0) -> Outcome:
    return Outcome(example, seed, Choice(1, step_probability=probabilities))


def test_a_step_helps_where_the_next_factor_is_faster() -> None:
    example = made_up("sgemm", {2: 1.5, 4: 1.2, 8: 1.2})
    found = forecasts([forecast(example, {1: 0.9, 2: 0.3, 4: 0.5})])
    assert [(each.probability, each.helped, each.weight) for each in found] == [
        (0.9, True, 1.0),
        (0.3, False, 1.0),
        (0.5, False, 1.0),
    ]


def test_steps_without_durations_are_left_out() -> None:
    example = made_up("sgemm", {2: 1.5, 8: 0.1, 16: 0.1})
    everywhere = dict.fromkeys((1, 2, 4, 8, 16), 0.5)
    assert [each.helped for each in forecasts([forecast(example, everywhere)])] == [True]
    # It is known that what was given up is slower than what was not.
    given_up = made_up("sgemm", {2: 1.5, 4: 0.1})
    assert [each.helped for each in forecasts([forecast(given_up, everywhere)])] == [True, False]
    assert not forecasts([forecast(made_up("sgemm", {}, best=4), everywhere)])


def test_a_step_counts_once_however_many_seeds_there_are() -> None:
    example = made_up("sgemm", {2: 1.5})
    found = calibration(forecasts([forecast(example, {1: 0.95}, seed) for seed in range(4)]))
    assert found is not None
    assert found.steps == pytest.approx(1.0)
    assert found.bins[0].interval == wilson_interval(1.0, 1.0)


def test_by_hand() -> None:
    found = calibration(
        [Forecast(0.1, False, 1), Forecast(0.3, True, 1), Forecast(0.9, True, 1), Forecast(1.0, True, 1)], bins=2
    )
    assert found is not None
    low, high = found.bins
    assert (low.low, low.high, low.steps, low.helped) == (0.0, 0.5, 2.0, 0.5)
    assert (high.low, high.high, high.steps, high.helped) == (0.5, 1.0, 2.0, 1.0)
    assert [low.mean_probability, high.mean_probability] == pytest.approx([0.2, 0.95])
    assert found.expected_calibration_error == pytest.approx((0.3 + 0.05) / 2)
    assert found.brier == pytest.approx((0.01 + 0.49 + 0.01 + 0.0) / 4)


def test_forecasts_that_mean_what_they_say_have_a_small_error() -> None:
    random = np.random.default_rng(5)
    said = random.uniform(size=4000)
    came = random.uniform(size=4000) < said
    honest = calibration([Forecast(float(p), bool(c), 1) for p, c in zip(said, came, strict=True)])
    bold = calibration([Forecast(float(p > 0.5), bool(c), 1) for p, c in zip(said, came, strict=True)])
    assert honest is not None and bold is not None
    assert honest.expected_calibration_error < 0.03 < 0.2 < bold.expected_calibration_error
    assert all(each.interval.low < each.helped < each.interval.high for each in honest.bins)


def test_nothing_said_nothing_found() -> None:
    assert calibration([]) is None


@pytest.mark.parametrize(
    ("share", "count", "low", "high"),
    # Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 1998, table I.
    [
        (81 / 263, 263, 0.2553, 0.3662),
        (15 / 148, 148, 0.0624, 0.1605),
        (0.0, 20, 0.0, 0.1611),
        (1 / 29, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals(share: float, count: float, low: float, high: float) -> None:
    interval = wilson_interval(share, count)
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=5e-5)
