"""The estimators keep scikit-learn's contract: all of its own checks, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

from coarsen.models.cascade.step_classifier import CascadeStepClassifier, StepFit, fit_together
from coarsen.models.cascade.varimax_components import VarimaxComponents

# It needs a variable of the environment that must be set before SciPy is loaded.
_LEFT_OUT = "check_array_api_input"
CHECKS = [
    pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}-{number}")
    for fresh in (VarimaxComponents(), CascadeStepClassifier(iterations=200))
    for number, (estimator, check) in enumerate(estimator_checks_generator(fresh))
    if check.func.__name__ != _LEFT_OUT
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learns_checks(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)


@pytest.fixture
def moons() -> tuple[np.ndarray, np.ndarray]:
    samples, answers = make_moons(60, noise=0.1, random_state=3)
    return samples, np.where(answers, "stop", "further")


def test_what_is_not_linear_is_learned(moons: tuple[np.ndarray, np.ndarray]) -> None:
    classifier = CascadeStepClassifier(weight_decay=1e-4, random_state=0).fit(*moons)
    assert classifier.classes_.tolist() == ["further", "stop"]
    assert classifier.n_features_in_ == 2
    assert classifier.score(*moons) >= 0.95


def test_probabilities_and_answers_agree(moons: tuple[np.ndarray, np.ndarray]) -> None:
    classifier = CascadeStepClassifier(random_state=0).fit(*moons)
    probabilities = classifier.predict_proba(moons[0])
    assert probabilities.shape == (60, 2)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(60))
    assert np.array_equal(classifier.predict(moons[0]) == "stop", probabilities[:, 1] > 0.5)


def test_the_random_state_decides_the_network(moons: tuple[np.ndarray, np.ndarray]) -> None:
    weights = [
        CascadeStepClassifier(iterations=5, random_state=state).fit(*moons).network_.hidden_weights
        for state in (0, 0, 1)
    ]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_fitted_together_or_alone_is_the_same(moons: tuple[np.ndarray, np.ndarray]) -> None:
    samples, answers = moons
    parts = [(samples[:20], answers[:20]), (samples, answers), (samples[:, :1], answers)]
    together = [CascadeStepClassifier(random_state=5) for _ in parts]
    fit_together([StepFit(classifier, *part) for classifier, part in zip(together, parts, strict=True)])
    for classifier, part in zip(together, parts, strict=True):
        alone = CascadeStepClassifier(random_state=5).fit(*part)
        assert np.array_equal(alone.network_.hidden_weights, classifier.network_.hidden_weights)
        assert np.array_equal(alone.predict_proba(part[0]), classifier.predict_proba(part[0]))


def test_different_settings_are_not_fitted_together(moons: tuple[np.ndarray, np.ndarray]) -> None:
    fits = [StepFit(CascadeStepClassifier(hidden_units=units), *moons) for units in (2, 3)]
    with pytest.raises(ValueError, match="need the same settings"):
        fit_together(fits)


def test_fitted_components_are_used_as_they_are(moons: tuple[np.ndarray, np.ndarray]) -> None:
    samples, answers = moons
    components = VarimaxComponents().fit(samples)
    classifier = CascadeStepClassifier(FrozenEstimator(components), random_state=0)
    classifier.fit(samples[:30], answers[:30])
    assert np.array_equal(classifier.components_.transform(samples), components.transform(samples))
    assert clone(classifier).components.estimator is components


@pytest.mark.parametrize(
    ("answers", "message"),
    [([1, 1, 1], "two classes"), ([0, 1, 2], "Only binary classification is supported")],
)
def test_there_must_be_two_answers(answers: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CascadeStepClassifier().fit([[1.0], [2.0], [3.0]], answers)
