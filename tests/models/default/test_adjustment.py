"""The two numbers of a device, found again from best factors that follow them."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.default.adjustment import Adjustment, fit_adjustment
from coarsen.models.default.joint import CurveDistribution
from coarsen.models.default.training import train
from coarsen.models.examples import Example
from tests.models.default.made_up import made_up_examples, with_best_factor_alone

FACTORS = (2, 4, 8, 16, 32)


def kernels(count: int) -> list[CurveDistribution]:
    """Curves that rise or fall by each doubling, and bend."""
    random = np.random.default_rng(0)
    doublings = np.arange(1, 6)
    slopes, bends = random.normal(0.0, 0.25, size=count), random.uniform(0.01, 0.06, size=count)
    covariance = 0.02 * (0.4 * np.ones((5, 5)) + 0.6 * np.eye(5))
    return [
        CurveDistribution(FACTORS, slope * doublings - bend * doublings**2, covariance)
        for slope, bend in zip(slopes, bends, strict=True)
    ]


def best_factors(curves: list[CurveDistribution], planted: Adjustment) -> list[int]:
    random = np.random.default_rng(1)
    found = []
    for curve in curves:
        adjusted = curve.adjusted(planted.scale, planted.slope)
        drawn = random.multivariate_normal(adjusted.mean, adjusted.covariance)
        found.append((1, *FACTORS)[int(np.argmax(np.append(0.0, drawn)))])
    return found


@pytest.mark.parametrize("planted", [Adjustment(1.0, 0.0), Adjustment(1.0, 0.2), Adjustment(0.5, -0.08)])
def test_a_planted_adjustment_is_found_again(planted: Adjustment) -> None:
    curves = kernels(150)
    found = fit_adjustment(curves, best_factors(curves, planted))
    assert found.slope == pytest.approx(planted.slope, abs=0.08)
    assert found.scale == pytest.approx(planted.scale, abs=0.26)


def test_the_same_answers_give_the_same_adjustment() -> None:
    curves = kernels(17)
    best = best_factors(curves, Adjustment(1.0, 0.1))
    assert fit_adjustment(curves, best) == fit_adjustment(curves, best)


def coarsened_further(examples: tuple[Example, ...]) -> list[Example]:
    """Of a tahiti, nothing but best factors, twice as large as on the pocl device."""
    return [
        with_best_factor_alone(example, "tahiti", min(32, 2 * example.best_factor))
        for example in examples
        if example.device == "pocl"
    ]


def test_a_device_with_best_factors_alone_is_adjusted(examples: tuple[Example, ...]) -> None:
    fresh = coarsened_further(made_up_examples(25, seed=5))
    model = train([*examples, *fresh], seed=0).model
    assert set(model.adjustments) == {"tahiti"}
    assert model.adjustment("tahiti").slope > 0.0
    assert model.adjustment("pocl") == Adjustment()
