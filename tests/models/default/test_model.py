"""The whole model on made-up kernels whose law is known: what it predicts, what it chooses, and why."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.default.model import possible_factors
from coarsen.models.default.prediction import CurvePrediction
from coarsen.models.default.training import Fitted, ForestSettings, train
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.examples import Example
from tests.models.default.made_up import (
    GAIN,
    Kernel,
    example_of,
    made_up_examples,
    made_up_kernel,
    true_slope,
    with_best_factor_alone,
)

Asked = list[tuple[Kernel, Example, CurvePrediction]]


@pytest.fixture(scope="module")
def asked(fitted: Fitted) -> Asked:
    """Fresh kernels on the three devices, measured and predicted."""
    random, found = np.random.default_rng(99), []
    for number in range(60):
        kernel = made_up_kernel(1000 + number, random)
        for device in GAIN:
            predicted = fitted.model.predict(kernel.table, kernel.mechanism, DEVICE_DESCRIPTORS[device])
            found.append((kernel, example_of(kernel, device, random), predicted))
    return found


def test_the_law_is_recovered(asked: Asked) -> None:
    truth = np.array(
        [[true_slope(kernel, example.device) * k for k in range(1, 6)] for kernel, example, _ in asked]
    )
    said = np.array([[point.log_speedup for point in predicted.curve] for *_, predicted in asked])
    assert np.corrcoef(truth.ravel(), said.ravel())[0, 1] > 0.95


def test_intervals_hold_about_four_of_five(asked: Asked) -> None:
    inside = [
        point.low <= example.log_speedup(point.factor) <= point.high
        for _, example, predicted in asked
        for point in predicted.curve
    ]
    assert 0.7 < np.mean(inside) < 0.9


def test_steps_help_as_often_as_they_are_said_to(asked: Asked) -> None:
    said, helped = [], []
    for _, example, predicted in asked:
        for factor, chance in predicted.step_probability.items():
            said.append(chance)
            helped.append(example.log_speedup(2 * factor) > example.log_speedup(factor))
    probability, outcome = np.array(said), np.array(helped)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
        chosen = (probability >= low) & (probability < high)
        assert chosen.sum() > 50
        assert outcome[chosen].mean() == pytest.approx(probability[chosen].mean(), abs=0.1)


def test_most_of_the_gain_is_had_and_little_is_lost(asked: Asked) -> None:
    had = np.array([example.log_speedup(predicted.factor) for _, example, predicted in asked])
    best = np.array([example.log_speedup(example.best_factor) for _, example, _ in asked])
    assert had.mean() > 0.85 * best.mean()
    assert had.min() > -0.25


def test_a_chosen_factor_is_worth_something_by_the_models_own_account(asked: Asked) -> None:
    coarsened = 0
    for *_, predicted in asked:
        if predicted.factor > 1:
            chosen = next(point for point in predicted.curve if point.factor == predicted.factor)
            assert chosen.utility > 0.0
            assert chosen.utility == max(point.utility for point in predicted.curve if point.possible)
            coarsened += 1
    assert coarsened > 50


def test_reasons_name_the_law(asked: Asked) -> None:
    """The two shares decide; together they are most of the first reasons."""
    first = [predicted.reasons(1)[0].feature for *_, predicted in asked]
    decisive = [name in ("uniform_load_share", "divergent_guard_share") for name in first]
    assert np.mean(decisive) > 0.8
    assert all(len(predicted.reasons()) == 3 for *_, predicted in asked)


def test_a_uniform_kernel_is_said_to_gain_from_being_uniform(fitted: Fitted) -> None:
    random = np.random.default_rng(4)
    drawn = (made_up_kernel(number, random) for number in range(200))
    kernel = next(kernel for kernel in drawn if kernel.uniform > 0.9 and kernel.guarded < 0.3)
    predicted = fitted.model.predict(kernel.table, kernel.mechanism, DEVICE_DESCRIPTORS["intel"])
    reason = next(reason for reason in predicted.reasons() if reason.feature == "uniform_load_share")
    assert reason.value == pytest.approx(kernel.uniform)
    assert reason.effect > 0.05


def test_a_training_kernel_is_its_own_nearest(fitted: Fitted, examples: tuple[Example, ...]) -> None:
    example = examples[30]
    predicted = fitted.model.predict(example.table, example.mechanism, DEVICE_DESCRIPTORS[example.device])
    assert predicted.nearest[0].kernel == example.kernel
    assert predicted.nearest[0].distance == pytest.approx(0.0, abs=1e-5)
    assert len({neighbour.kernel for neighbour in predicted.nearest}) == 3


def test_it_stays_at_one_far_from_all_it_knows(fitted: Fitted) -> None:
    random = np.random.default_rng(1)
    kernel = next(k for k in (made_up_kernel(n, random, size=500.0) for n in range(99)) if k.uniform > 0.8)
    predicted = fitted.model.predict(kernel.table, kernel.mechanism, DEVICE_DESCRIPTORS["intel"])
    assert predicted.abstained
    assert predicted.factor == 1
    assert "instructions" in predicted.reason
    assert "\n" not in predicted.reason


def test_a_distance_that_is_barely_too_large_is_told_from_the_limit(fitted: Fitted) -> None:
    random = np.random.default_rng(1)
    kernel = made_up_kernel(0, random, size=500.0)
    device = DEVICE_DESCRIPTORS["intel"]
    distance = fitted.model.predict(kernel.table, kernel.mechanism, device).nearest[0].distance
    barely = replace(fitted.model.neighbourhood, limit=distance - 0.0003)
    reason = replace(fitted.model, neighbourhood=barely).predict(kernel.table, kernel.mechanism, device).reason
    told, limit = (float(number) for number in re.findall(r"\d+\.\d+", reason)[:2])
    assert told > limit


def test_it_seldom_abstains_among_kernels_like_those_it_knows(asked: Asked) -> None:
    assert np.mean([predicted.abstained for *_, predicted in asked]) < 0.06


def test_factors_that_do_not_divide_the_group_are_not_chosen(fitted: Fitted) -> None:
    random = np.random.default_rng(2)
    kernel = next(k for k in (made_up_kernel(n, random) for n in range(99)) if k.uniform > 0.9 and k.guarded < 0.2)
    small = replace(kernel.mechanism, local_size=(4, 64, 1))
    assert possible_factors(small) == (2, 4)
    predicted = fitted.model.predict(kernel.table, small, DEVICE_DESCRIPTORS["intel"])
    assert predicted.factor == 4
    assert [point.possible for point in predicted.curve] == [True, True, False, False, False]
    alone = fitted.model.predict(kernel.table, replace(small, local_size=(1, 1, 1)), DEVICE_DESCRIPTORS["intel"])
    assert alone.factor == 1
    assert not any(point.possible for point in alone.curve)


def test_all_factors_are_possible_where_the_group_is_not_known(fitted: Fitted) -> None:
    kernel = made_up_kernel(0, np.random.default_rng(2))
    assumed = replace(kernel.mechanism, local_size=(16, 16, 1), local_size_is_assumed=True)
    assert possible_factors(assumed) == (2, 4, 8, 16, 32)
    assert possible_factors(replace(assumed, dimension=1)) == (2, 4, 8, 16, 32)
    assert possible_factors(replace(assumed, local_size_is_assumed=False)) == (2, 4, 8, 16)
    predicted = fitted.model.predict(kernel.table, assumed, DEVICE_DESCRIPTORS["intel"])
    assert all(point.possible for point in predicted.curve)


def test_along_a_dimension_that_the_kernel_does_not_use_no_factor_is_possible() -> None:
    kernel = made_up_kernel(0, np.random.default_rng(2))
    assumed = replace(kernel.mechanism, local_size=(256, 1, 1), local_size_is_assumed=True, dimension=1)
    assert possible_factors(assumed) == ()


def test_another_seed_gives_another_forest_and_nearly_the_same_answer(
    fitted: Fitted, examples: tuple[Example, ...]
) -> None:
    other = train(examples, seed=1).model
    example = examples[0]
    descriptor = DEVICE_DESCRIPTORS[example.device]
    one, two = (model.predict(example.table, example.mechanism, descriptor) for model in (fitted.model, other))
    assert one.curve != two.curve
    assert [p.log_speedup for p in one.curve] == pytest.approx([p.log_speedup for p in two.curve], abs=0.15)


def test_the_out_of_bag_curves_are_those_of_kernels_held_out(fitted: Fitted) -> None:
    observed = np.stack([curve.observed for curve in fitted.rows.curves])
    inside = np.array([point.log_speedup for point in _predicted(fitted, fitted.rows.curves[0].example).curve])
    assert np.corrcoef(fitted.mean.ravel(), observed.ravel())[0, 1] > 0.9
    assert not np.allclose(fitted.mean[0], inside, atol=1e-4)


def test_curves_of_one_family_are_too_few() -> None:
    related = [replace(example, family="one") for example in made_up_examples(3, seed=0)]
    with pytest.raises(InvalidInputError, match="two unrelated kernels"):
        train(related)


def test_best_factors_alone_are_too_few(examples: tuple[Example, ...]) -> None:
    with pytest.raises(InvalidInputError, match="measured curves"):
        train([with_best_factor_alone(example, "tahiti", 2) for example in examples])


def test_curves_without_neighbouring_factors_are_refused(examples: tuple[Example, ...]) -> None:
    alone = [replace(example, speedup={4: example.speedup[4]}) for example in examples]
    with pytest.raises(InvalidInputError, match="two neighbouring factors"):
        train(alone, settings=ForestSettings(trees=20))


def test_an_impossible_speed_up_is_refused(examples: tuple[Example, ...]) -> None:
    with pytest.raises(InvalidInputError, match="not a positive number"):
        train([*examples, replace(examples[0], speedup={2: 0.0})])


def test_how_long_a_prediction_takes(fitted: Fitted, examples: tuple[Example, ...]) -> None:
    """Printed, not asserted: it depends on what else the machine does."""
    durations = []
    for example in examples[:30]:
        start = time.perf_counter()
        _predicted(fitted, example)
        durations.append(time.perf_counter() - start)
    print(f"one prediction with its reasons: {1e3 * float(np.median(durations)):.1f} ms")
    assert len(durations) == 30


def _predicted(fitted: Fitted, example: Example) -> CurvePrediction:
    return fitted.model.predict(example.table, example.mechanism, DEVICE_DESCRIPTORS[example.device])
