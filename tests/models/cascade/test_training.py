"""Training: that it is reproducible, that each device is on its own, and that nothing held out leaks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.model import STEP_FACTORS, step_inputs
from coarsen.models.cascade.trained import TrainedModel, chosen_factors, train_device
from coarsen.models.cascade.training import (
    FEWEST_EXAMPLES,
    Problem,
    fit_cascade,
    fit_cascades,
    fit_predictors,
    train_networks,
)
from coarsen.models.evaluation.evaluation import leave_one_family_out
from coarsen.models.examples import Example, Fit, Predictor
from tests.models.cascade.conftest import Published


def predictor_of(training: tuple[Example, ...]) -> Predictor:
    """The predictor that learned from some examples."""
    return fit_predictors([Fit(training, 0)])[0]


def with_best(examples: tuple[Example, ...], **best: int) -> tuple[Example, ...]:
    """The examples with other best factors."""
    return tuple(replace(e, best_factor=best.get(e.kernel, e.best_factor)) for e in examples)


def test_with_few_examples_or_answers_of_one_kind_the_answer_is_constant(published: Published) -> None:
    few = fit_cascade(with_best(published["kepler"][:2], mt=2), 0)
    assert few.steps[0].examples == 10 >= FEWEST_EXAMPLES and not few.steps[0].is_constant
    never = fit_cascade(with_best(published["fermi"], **{each.kernel: 1 for each in published["fermi"]}), 0)
    assert [step.factor for step in never.steps] == list(STEP_FACTORS)
    assert all(step.is_constant for step in never.steps)
    assert never.steps[2].probability(np.zeros(11)) == 1 / (17 * 5 + 2)


def test_the_network_learns_its_examples(published: Published) -> None:
    """Not that it is good: that targets, components and networks belong together."""
    model = fit_cascade(published["tahiti"], 0)
    assert sum(model.predict(each.table).factor == each.best_factor for each in published["tahiti"]) >= 9


def test_one_network_is_asked_at_every_factor(published: Published) -> None:
    model = fit_cascade(published["cypress"], 0)
    first = model.steps[0]
    assert [step.factor for step in model.steps] == list(STEP_FACTORS)
    assert all(step.network is first.network is not None for step in model.steps)
    assert {(step.examples, step.further) for step in model.steps} == {(17 * 5, first.further)}
    steps_below = sum(STEP_FACTORS.index(e.best_factor) if e.best_factor < 32 else 5 for e in published["cypress"])
    assert first.further == steps_below


def test_the_seed_decides_the_networks(kepler: TrainedModel, published: Published) -> None:
    again, other = (fit_cascade(published["kepler"], seed) for seed in (0, 1))
    networks = [model.steps[0].network for model in (kepler.model, again, other)]
    weights = [network.hidden_weights for network in networks if network is not None]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_fits_of_one_batch_are_those_done_alone(published: Published) -> None:
    both = published["fermi"] + published["tahiti"]
    folds = leave_one_family_out(both, both)[:2]
    fits = [Fit(fold.training, seed) for fold in folds for seed in (3, 4)]
    together = fit_predictors(fits)
    alone = [fit_predictors([fit])[0] for fit in fits]
    for first, second in zip(together, alone, strict=True):
        for example in both:
            assert first(example) == second(example)


def test_the_method_learns_from_the_own_device_alone(published: Published) -> None:
    fermi = published["fermi"]
    alone = predictor_of(fermi)
    together = predictor_of(published["tahiti"] + fermi + published["kepler"])
    assert [alone(example) for example in fermi] == [together(example) for example in fermi]
    assert alone(fermi[0]) != together(published["tahiti"][0])


def test_without_enough_examples_of_the_device_it_stays_at_one(published: Published) -> None:
    few = published["fermi"][: FEWEST_EXAMPLES - 1]
    predictor = predictor_of(published["tahiti"] + few)
    for example in (few[0], replace(few[0], device="h200"), replace(published["tahiti"][0], dimension=1)):
        assert predictor(example) == 1


def test_what_is_held_out_does_not_reach_its_own_prediction(published: Published) -> None:
    """Neither the answer nor the features of mt or mtLocal change what is predicted for them."""
    usual = train_device(published["fermi"], evaluation_seeds=1).evaluation
    turned = with_best(published["fermi"], mt=1, mtLocal=32)
    changed = train_device(turned, evaluation_seeds=1).evaluation
    for method in ("cascade", "unique"):
        before, after = chosen_factors(usual, method), chosen_factors(changed, method)
        assert [before[kernel] for kernel in ("mt", "mtLocal")] == [after[kernel] for kernel in ("mt", "mtLocal")]
    assert chosen_factors(usual, "cascade") != chosen_factors(changed, "cascade")
    (fold,) = [fold for fold in leave_one_family_out(turned, turned) if fold.held_out[0].family == "mt"]
    without = fit_cascade(fold.training, 0)
    for example in fold.held_out:
        assert chosen_factors(usual, "cascade")[example.kernel] == {without.predict(example.table).factor: 1}


def test_scaling_and_components_see_no_held_out_features(published: Published) -> None:
    fermi = published["fermi"]
    whole, part = fit_cascade(fermi, 0).projection, fit_cascade(fermi[1:], 0).projection
    assert not np.array_equal(whole.mean, part.mean)
    inputs = np.stack([step_inputs(each.table, factor) for each in fermi[1:] for factor in STEP_FACTORS])
    assert part.mean == pytest.approx(inputs.mean(axis=0), rel=1e-3, abs=1e-3)


def test_the_evaluation_covers_each_kernel_at_each_seed(kepler: TrainedModel) -> None:
    assert list(kepler.evaluation.outcomes) == ["cascade", "cautious", "unique", "never", "published"]
    for method, seeds in (("cascade", 2), ("cautious", 2), ("unique", 1), ("published", 1)):
        chosen = chosen_factors(kepler.evaluation, method)
        assert set(chosen) == set(kepler.kernels)
        assert all(sum(counts.values()) == seeds for counts in chosen.values())


def test_one_example_is_too_few(published: Published) -> None:
    with pytest.raises(InvalidInputError, match="at least two kernels"):
        fit_cascade(published["fermi"][:1], 0)


def test_devices_and_dimensions_are_not_mixed(published: Published) -> None:
    fermi, tahiti = published["fermi"], published["tahiti"]
    for mixed in (fermi + tahiti, (*fermi[1:], replace(fermi[0], dimension=1))):
        with pytest.raises(InvalidInputError, match="one device, along one dimension"):
            fit_cascades([Fit(mixed, 0)])


def test_what_is_not_linear_is_learned() -> None:
    scores = np.linspace(-2.0, 2.0, 40)[:, None]
    answers = (np.abs(scores[:, 0]) > 1.0).astype(np.float64)
    (network,) = train_networks([Problem(scores, answers, 0)])
    assert np.array_equal(network.probability(scores) > 0.5, answers > 0)


def test_networks_of_one_batch_are_those_trained_alone() -> None:
    samples = np.random.default_rng(3).normal(size=(60, 2))
    answers = (samples[:, 0] * samples[:, 1] > 0).astype(np.float64)
    parts = [(samples[:20], answers[:20]), (samples, answers), (samples[:, :1], answers)]
    problems = [Problem(*part, 5) for part in parts]
    for network, problem in zip(train_networks(problems), problems, strict=True):
        (alone,) = train_networks([problem])
        assert np.array_equal(alone.hidden_weights, network.hidden_weights)
        assert np.array_equal(alone.probability(problem.scores), network.probability(problem.scores))
