"""Training: what it learns from, that it is reproducible, and that nothing held out leaks into a fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.features import FeatureTable
from coarsen.models.best_factors import read_best_factors
from coarsen.models.network_training import NetworkSettings
from coarsen.models.step_inputs import STEP_FACTORS, step_inputs
from coarsen.models.train import FEWEST_EXAMPLES, TrainedModel, train_device
from coarsen.models.training_set import family_of, training_set

Tables = Mapping[str, FeatureTable]
BRIEF = NetworkSettings(iterations=20)
FERMI = read_best_factors("fermi").best


def test_targets_say_further_below_the_best_factor_and_stop_at_it(tables: Tables) -> None:
    known = training_set(tables, {"mt": 8, "spmv": 1, "sgemm": 32})
    kernels = ("mt", "spmv", "sgemm")
    targets = {}
    for factor in STEP_FACTORS:
        examples = known.examples(kernels, factor)
        targets[factor] = dict(zip((kernels[i] for i in examples.decided), examples.targets, strict=True))
    assert targets == {
        1: {"mt": 1, "spmv": 0, "sgemm": 1},
        2: {"mt": 1, "sgemm": 1},
        4: {"mt": 1, "sgemm": 1},
        8: {"mt": 0, "sgemm": 1},
        16: {"sgemm": 1},
    }


def test_inputs_are_features_and_deltas_to_the_next_factor(tables: Tables) -> None:
    inputs = step_inputs(tables["mt"], 4)
    assert np.array_equal(inputs[:17], tables["mt"].at(4).vector())
    assert np.array_equal(inputs[17:], tables["mt"].delta(4, 8))


def test_each_kernel_is_held_out_once_with_its_whole_family(tables: Tables) -> None:
    folds = training_set(tables, FERMI).folds()
    held_out = Counter(kernel for fold in folds for kernel in fold.held_out)
    assert held_out == dict.fromkeys(FERMI, 1)
    assert ("mt", "mtLocal") in [fold.held_out for fold in folds]
    for fold in folds:
        assert not {family_of(k) for k in fold.held_out} & {family_of(k) for k in fold.training}
        assert sorted(fold.held_out + fold.training) == sorted(FERMI)


def test_what_is_held_out_does_not_reach_its_own_prediction(tables: Tables) -> None:
    usual = train_device("fermi", tables, FERMI, settings=BRIEF).evaluation
    turned = {**FERMI, "mt": 1, "mtLocal": 32}
    changed = train_device("fermi", tables, turned, settings=BRIEF).evaluation
    for method in ("cascade", "unique"):
        for kernel in ("mt", "mtLocal"):
            assert usual.predicted[method][kernel] == changed.predicted[method][kernel]
    assert usual.predicted["cascade"] != changed.predicted["cascade"]


def test_features_that_are_held_out_do_not_reach_the_fold(tables: Tables) -> None:
    """A model trained without a kernel is the one that its fold trained: scaling and components included."""
    without = {kernel: factor for kernel, factor in FERMI.items() if kernel != "sgemm"}
    alone = train_device("fermi", tables, without, settings=BRIEF)
    together = train_device("fermi", tables, FERMI, settings=BRIEF)
    expected = alone.model.predict(tables["sgemm"]).factor
    assert together.evaluation.predicted["cascade"]["sgemm"] == expected


def test_the_evaluation_covers_each_kernel_once(kepler: TrainedModel) -> None:
    assert kepler.evaluation.methods == ("cascade", "unique", "never", "published")
    for method in kepler.evaluation.methods:
        assert set(kepler.evaluation.predicted[method]) == set(kepler.evaluation.best)
        assert kepler.evaluation.score(method).kernels == 17


def test_a_step_with_few_examples_gives_a_constant_answer(kepler: TrainedModel, tables: Tables) -> None:
    for step in kepler.model.steps:
        assert step.is_constant == (step.examples < FEWEST_EXAMPLES)
    at_eight = kepler.model.steps[3]
    assert (at_eight.factor, at_eight.examples, at_eight.further) == (8, 3, 2)
    probabilities = {at_eight.probability(step_inputs(table, 8)) for table in tables.values()}
    assert probabilities == {(2 + 1) / (3 + 2)}


def test_a_step_with_answers_of_one_kind_is_constant(tables: Tables) -> None:
    best = {**dict.fromkeys(FERMI, 2), "mt": 1, "spmv": 1}
    steps = train_device("even", tables, best, settings=BRIEF).model.steps
    assert not steps[0].is_constant
    assert steps[1].is_constant
    assert steps[1].probability(np.zeros(34)) == 1 / 17


def test_the_seed_decides_the_networks(kepler: TrainedModel, tables: Tables) -> None:
    best = read_best_factors("kepler").best
    again, other = (train_device("kepler", tables, best, seed, settings=BRIEF).model for seed in (0, 1))
    first = [model.steps[0].network for model in (kepler.model, again, other)]
    assert all(network is not None for network in first)
    weights = [network.hidden_weights for network in first if network is not None]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_missing_features_are_an_input_error(tables: Tables) -> None:
    with pytest.raises(InvalidInputError, match="no features for the kernels strange"):
        training_set(tables, {"mt": 2, "strange": 4})


def test_features_along_another_dimension_are_an_input_error(tables: Tables) -> None:
    with pytest.raises(InvalidInputError, match="along dimension 0"):
        training_set({**tables, "mt": replace(tables["mt"], dimension=1)}, FERMI)


def test_one_family_is_too_few(tables: Tables) -> None:
    with pytest.raises(InvalidInputError, match="at least two kernels"):
        training_set(tables, {"mt": 2, "mtLocal": 4})
