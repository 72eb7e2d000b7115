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
from coarsen.models.inference import Network, Projection, StepModel
from coarsen.models.network_training import logits
from coarsen.models.step_inputs import INPUT_COUNT, STEP_FACTORS, step_inputs
from coarsen.models.train import TrainedModel

Tables = Mapping[str, FeatureTable]


def of_one_input(index: int, weight: float, factor: int = 1) -> StepModel:
    """A step that looks at one input: logistic(weight · tanh(standardised input))."""
    component = np.zeros((1, INPUT_COUNT))
    component[0, index] = 1.0
    projection = Projection(np.ones(INPUT_COUNT), np.full(INPUT_COUNT, 2.0), component)
    return StepModel(factor, 9, 5, projection, Network(np.eye(1), np.zeros(1), np.array([weight]), 0.0))


def constant(factor: int, further: bool) -> StepModel:
    return StepModel(factor, 3, 3 if further else 0)


def test_probability_by_hand() -> None:
    inputs = np.zeros(INPUT_COUNT)
    inputs[3] = 5.0
    expected = 1 / (1 + math.exp(-1.5 * math.tanh((5.0 - 1.0) / 2.0)))
    assert of_one_input(3, 1.5).probability(inputs) == pytest.approx(expected, rel=1e-15)


def test_extreme_outputs_do_not_overflow() -> None:
    inputs = np.full(INPUT_COUNT, 1e6)
    assert of_one_input(0, 1e4).probability(inputs) == 1.0
    assert of_one_input(0, -1e4).probability(inputs) == 0.0


def test_torch_and_numpy_give_the_same(kepler: TrainedModel, tables: Tables) -> None:
    for step in kepler.model.steps[:3]:
        assert step.projection is not None
        assert step.network is not None
        arrays = (
            step.network.hidden_weights,
            step.network.hidden_biases,
            step.network.output_weights,
            np.array(step.network.output_bias),
        )
        parameters = [torch.from_numpy(array[np.newaxis].copy()) for array in arrays]
        inputs = np.stack([step_inputs(table, step.factor) for table in tables.values()])
        projected = step.projection.project(step.projection.standardise(inputs))
        from_torch = torch.sigmoid(logits(torch.from_numpy(projected[np.newaxis]), parameters))[0].numpy()
        from_numpy = [step.probability(row) for row in inputs]
        assert from_numpy == pytest.approx(from_torch, rel=1e-12)


@pytest.mark.parametrize(
    ("answers", "factor", "asked"),
    [((0, 1, 1, 1, 1), 1, 1), ((1, 1, 0, 1, 1), 4, 3), ((1, 1, 1, 1, 0), 16, 5), ((1, 1, 1, 1, 1), 32, 5)],
)
def test_the_cascade_stops_at_the_first_no(
    answers: tuple[int, ...], factor: int, asked: int, tables: Tables
) -> None:
    steps = tuple(constant(at, bool(answer)) for at, answer in zip(STEP_FACTORS, answers, strict=True))
    prediction = CascadeModel("sketch", 0, steps).predict(tables["mt"])
    assert (prediction.factor, len(prediction.steps)) == (factor, asked)
    assert prediction.reasons() == ()


def test_an_even_answer_does_not_coarsen(tables: Tables) -> None:
    model = CascadeModel("sketch", 0, (StepModel(1, 4, 2),))
    assert model.predict(tables["mt"]).factor == 1


def test_reasons_name_the_feature_that_decided(tables: Tables) -> None:
    loads = [feature.name for feature in FEATURES].index("loads")
    step = of_one_input(loads, -3.0)
    prediction = CascadeModel("sketch", 0, (step,)).predict(tables["mtLocal"])
    first, second, _ = prediction.reasons()
    assert (first.feature, first.value) == ("loads", 8.0)
    assert first.effect == pytest.approx(prediction.steps[0].probability - 0.5)
    assert second.effect == 0.0


def test_a_features_effect_includes_its_delta(tables: Tables) -> None:
    loads = [feature.name for feature in FEATURES].index("loads")
    model = CascadeModel("sketch", 0, (of_one_input(len(FEATURES) + loads, 3.0),))
    divergent = replace(tables["mtLocal"], rows={1: tables["mtLocal"].at(1), 2: tables["mtLocal"].at(32)})
    assert model.predict(divergent).reasons(1)[0].feature == "loads"
