"""One step's answer by hand, the same in torch and NumPy, and what the cascade makes of several."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch

from coarsen.features import FEATURES, FeatureTable
from coarsen.models import CascadeModel
from coarsen.models.cascade.model import INPUT_COUNT, STEP_FACTORS, Network, Projection, StepModel, step_inputs
from coarsen.models.cascade.trained import TrainedModel
from coarsen.models.cascade.training import logits

Tables = Mapping[str, FeatureTable]


def on_one_input(index: int, *steps: StepModel) -> CascadeModel:
    """A cascade whose one component is one input, less 1, by 2."""
    weights = np.zeros((INPUT_COUNT, 1))
    weights[index, 0] = 1.0
    mean, scale = np.ones(INPUT_COUNT), np.full(INPUT_COUNT, 2.0)
    return CascadeModel("sketch", 0, Projection(mean, scale, weights, weights, np.ones(1)), steps)


def network(weight: float) -> Network:
    """It answers logistic(weight · tanh(score))."""
    return Network(np.eye(1), np.zeros(1), np.array([weight]), 0.0)


def constant(factor: int, further: bool) -> StepModel:
    return StepModel(factor, 3, 3 if further else 0)


def test_probability_by_hand() -> None:
    projection = on_one_input(3).projection
    inputs = np.zeros(INPUT_COUNT)
    inputs[3] = 5.0
    scores = projection.scores(projection.standardise(inputs))
    expected = 1 / (1 + math.exp(-1.5 * math.tanh((5.0 - 1.0) / 2.0)))
    assert StepModel(1, 9, 5, network(1.5)).probability(scores) == pytest.approx(expected, rel=1e-15)
    many = network(1.5).probability(np.stack([scores, 0 * scores]))
    assert many.tolist() == [pytest.approx(expected), 0.5]


def test_extreme_outputs_do_not_overflow() -> None:
    with np.errstate(all="raise", under="ignore"):
        assert network(1e4).probability(np.full(1, 1e6)) == 1.0
        assert network(-700.0).probability(np.full(1, 1e6)) < 1e-300


def test_torch_and_numpy_give_the_same(kepler: TrainedModel, tables: Tables) -> None:
    projection = kepler.model.projection
    for step in kepler.model.steps[:3]:
        assert step.network is not None
        arrays = (
            step.network.hidden_weights,
            step.network.hidden_biases,
            step.network.output_weights,
            np.array(step.network.output_bias),
        )
        parameters = [torch.from_numpy(array[np.newaxis].copy()) for array in arrays]
        inputs = np.stack([step_inputs(table, step.factor) for table in tables.values()])
        scores = projection.scores(projection.standardise(inputs))
        from_torch = torch.sigmoid(logits(torch.from_numpy(scores[np.newaxis]), parameters))[0].numpy()
        assert step.network.probability(scores) == pytest.approx(from_torch, rel=1e-12)


@pytest.mark.parametrize(
    ("answers", "factor", "asked"),
    [((0, 1, 1, 1, 1), 1, 1), ((1, 1, 0, 1, 1), 4, 3), ((1, 1, 1, 1, 0), 16, 5), ((1, 1, 1, 1, 1), 32, 5)],
)
def test_the_cascade_stops_at_the_first_no(
    answers: tuple[int, ...], factor: int, asked: int, tables: Tables
) -> None:
    steps = [constant(at, bool(answer)) for at, answer in zip(STEP_FACTORS, answers, strict=True)]
    model = on_one_input(0, *steps)
    prediction = model.predict(tables["mt"])
    assert (prediction.factor, len(prediction.steps)) == (factor, asked)
    assert prediction.reasons() == ()


def test_an_even_answer_does_not_coarsen(tables: Tables) -> None:
    assert on_one_input(0, StepModel(1, 4, 2)).predict(tables["mt"]).factor == 1


def test_reasons_name_the_feature_that_decided(tables: Tables) -> None:
    loads = [feature.name for feature in FEATURES].index("loads")
    prediction = on_one_input(loads, StepModel(1, 9, 5, network(-3.0))).predict(tables["mtLocal"])
    first, second, _ = prediction.reasons()
    assert (first.feature, first.value) == ("loads", 8.0)
    assert first.effect == pytest.approx(prediction.steps[0].probability - 0.5)
    assert second.effect == 0.0


def test_a_features_effect_includes_its_delta(tables: Tables) -> None:
    loads = [feature.name for feature in FEATURES].index("loads")
    model = on_one_input(len(FEATURES) + loads, StepModel(1, 9, 5, network(3.0)))
    divergent = replace(tables["mtLocal"], rows={1: tables["mtLocal"].at(1), 2: tables["mtLocal"].at(32)})
    assert model.predict(divergent).reasons(1)[0].feature == "loads"


@pytest.mark.parametrize(
    ("steps", "factor", "doubtful"),
    [
        ((StepModel(1, 10, 10), StepModel(2, 10, 0)), 2, None),
        ((StepModel(1, 10, 7), StepModel(2, 10, 3)), 2, None),
        ((StepModel(1, 10, 6), StepModel(2, 10, 0)), 2, 1),
        ((StepModel(1, 10, 10), StepModel(2, 10, 4)), 2, 2),
        ((StepModel(1, 10, 0), StepModel(2, 10, 5)), 1, None),
    ],
    ids=["certain", "on the bounds", "the first", "the last", "one that is not asked"],
)
def test_with_caution_a_doubtful_step_gives_1(
    steps: tuple[StepModel, ...], factor: int, doubtful: int | None, tables: Tables
) -> None:
    # The probabilities are (further + 1) / (examples + 2): 2/3 and 1/3 are certain enough.
    prediction = on_one_input(0, *steps).predict(tables["sgemm"])
    found = prediction.doubtful
    assert (prediction.factor, found.factor if found else None) == (factor, doubtful)
    careful = prediction.cautiously()
    assert (careful.factor, careful.steps) == (factor if doubtful is None else 1, prediction.steps)
