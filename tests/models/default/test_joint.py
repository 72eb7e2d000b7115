"""The joint distribution of a curve against draws from it, and the choice that follows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.models.default.joint import AVERSION, CurveDistribution, expected_loss
from coarsen.models.default.prediction import FactorPrediction

FACTORS = (2, 4, 8, 16, 32)


def curve(mean: tuple[float, ...], deviation: float = 0.1, correlation: float = 0.6) -> CurveDistribution:
    count = len(mean)
    between = np.full((count, count), correlation)
    np.fill_diagonal(between, 1.0)
    return CurveDistribution(FACTORS[:count], np.array(mean), deviation**2 * between)


@pytest.mark.parametrize("mean", [-0.4, -0.05, 0.0, 0.1, 0.6])
@pytest.mark.parametrize("deviation", [0.02, 0.3])
def test_the_expected_loss_is_that_of_draws(mean: float, deviation: float) -> None:
    draws = mean + deviation * np.random.default_rng(0).normal(size=400_000)
    assert expected_loss(mean, deviation) == pytest.approx(np.maximum(0.0, -draws).mean(), abs=2e-3 * deviation)


@pytest.mark.parametrize("mean", [-0.4, 0.0, 0.6])
def test_the_expected_gain_is_that_of_draws(mean: float) -> None:
    worth = float(curve((mean,), deviation=0.3).utilities()[0])
    point = FactorPrediction(2, mean, low=mean, high=mean, utility=worth, possible=True)
    draws = mean + 0.3 * np.random.default_rng(0).normal(size=400_000)
    assert point.expected_gain == pytest.approx(np.maximum(0.0, draws).mean(), abs=1e-3)


def test_without_uncertainty_the_loss_is_the_mean() -> None:
    assert expected_loss(-0.3, 0.0) == 0.3
    assert expected_loss(0.3, 0.0) == 0.0


def test_a_step_is_the_difference_of_two_draws() -> None:
    known = curve((0.2, 0.5, 0.1), deviation=0.3)
    draws = np.random.default_rng(0).multivariate_normal(known.mean, known.covariance, size=200_000)
    for factor, added in ((1, draws[:, 0]), (2, draws[:, 1] - draws[:, 0]), (4, draws[:, 2] - draws[:, 1])):
        assert known.step(factor) == pytest.approx((added.mean(), added.std()), abs=5e-3)
    assert known.steps() == (1, 2, 4)


def test_a_sure_gain_is_taken_and_a_doubtful_one_left() -> None:
    assert curve((0.1, 0.3), deviation=0.05).best() == 4
    assert curve((0.1, 0.3), deviation=1.0).best() == 1


def test_a_loss_counts_four_times_as_much_as_a_gain() -> None:
    """Even odds of losing as much as is gained are worth −1½ times it; a fifth of the odds is worth nothing."""
    even = curve((0.0,), deviation=0.2)
    gain = expected_loss(0.0, 0.2)
    assert even.utilities()[0] == pytest.approx(-AVERSION * gain)


def test_of_equal_factors_the_smaller_is_chosen() -> None:
    assert curve((0.4, 0.4)).best() == 2


def test_no_factor_leaves_the_kernel_as_it_is() -> None:
    assert curve((0.4, 0.5)).limited_to(()).best() == 1


def test_limits_and_adjustments() -> None:
    known = curve((0.1, 0.2, 0.4))
    limited = known.limited_to((2, 8))
    assert limited.factors == (2, 8)
    assert limited.mean.tolist() == [0.1, 0.4]
    assert limited.steps() == (1,)
    adjusted = known.adjusted(0.5, 0.1)
    assert adjusted.mean == pytest.approx([0.15, 0.3, 0.5])
    assert np.array_equal(adjusted.covariance, known.covariance)


@given(
    st.lists(st.floats(-3, 3), min_size=5, max_size=5),
    st.floats(0.01, 2.0),
    st.floats(0.0, 0.95),
)
def test_a_chosen_factor_is_expected_to_gain_more_than_thrice_its_loss(
    mean: list[float], deviation: float, correlation: float
) -> None:
    known = curve(tuple(mean), deviation, correlation)
    chosen = known.best()
    if chosen > 1:
        index = FACTORS.index(chosen)
        assert mean[index] > AVERSION * expected_loss(mean[index], deviation)
        assert known.utilities()[index] == known.utilities().max()
    else:
        assert (known.utilities() <= 0.0).all()
