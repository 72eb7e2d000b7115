"""The model judged on its own training kernels, out of bag: near to what kernels never seen say."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from coarsen.models.default.out_of_bag import (
    out_of_bag_calibration,
    out_of_bag_card,
    out_of_bag_outcomes,
    out_of_bag_scores,
)
from coarsen.models.default.training import Fitted, ForestSettings, train
from coarsen.models.examples import Example
from tests.models.default.made_up import GAIN


def test_scores_are_by_device_and_most_of_the_gain_is_had(fitted: Fitted) -> None:
    scores = out_of_bag_scores(out_of_bag_outcomes(fitted))
    assert set(scores) == {(device, 0) for device in GAIN}
    assert all(score.cases == 60 for score in scores.values())
    assert all(0.85 < score.share_of_oracle < 1.0 for score in scores.values())


def test_probabilities_are_calibrated(fitted: Fitted) -> None:
    found = out_of_bag_calibration(out_of_bag_outcomes(fitted))
    assert found is not None
    assert found.steps == 60 * 3 * 5
    assert found.expected_calibration_error < 0.06


def test_the_card_is_json(fitted: Fitted) -> None:
    card = json.loads(json.dumps(out_of_bag_card(out_of_bag_outcomes(fitted))))
    assert [score["device"] for score in card["scores"]] == sorted(GAIN)
    assert 0.0 < card["brier"] < 0.25


def test_only_measured_factors_are_chosen(examples: tuple[Example, ...]) -> None:
    gaps = [replace(example, speedup={2: example.speedup[2], 8: example.speedup[8]}) for example in examples[:60]]
    outcomes = out_of_bag_outcomes(train(gaps, settings=ForestSettings(trees=40)))
    assert {outcome.choice.factor for outcome in outcomes} <= {1, 2, 8}
    assert all(set(outcome.choice.step_probability) == {1} for outcome in outcomes)


def test_a_kernel_that_the_forest_knows_by_heart_is_not_known_out_of_bag(examples: tuple[Example, ...]) -> None:
    """One kernel gains a hundredfold, against the law: with it in the sample that is learned, without it not."""
    odd = [replace(example, speedup=dict.fromkeys(example.speedup, 100.0)) for example in examples[:3]]
    fitted = train([*odd, *examples[3:]], settings=ForestSettings(trees=60))
    assert np.isfinite(fitted.mean).all()
    assert fitted.mean[0].max() < 0.5 * math.log(100.0)
    inside, _ = fitted.forest.forest_.predict(fitted.rows.curves[0].rows)
    assert inside.max() > fitted.mean[0].max() + 0.5
    assert inside == pytest.approx(fitted.model.forest.predict(fitted.rows.curves[0].rows)[0], rel=2e-3)
