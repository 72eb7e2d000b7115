"""What each network learns from: the question at each factor, and the answers that examples give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.model import STEP_FACTORS, step_inputs
from coarsen.models.cascade.training import step_samples
from coarsen.models.examples import Example
from tests.models.cascade.conftest import Published


@pytest.fixture
def example(published: Published) -> Example:
    return published["fermi"][0]


def test_inputs_are_features_and_deltas_to_the_next_factor(example: Example) -> None:
    inputs = step_inputs(example.table, 4)
    assert np.array_equal(inputs[:17], example.table.at(4).vector())
    assert np.array_equal(inputs[17:], example.table.delta(4, 8))


def test_all_inputs_are_those_of_every_step(published: Published) -> None:
    inputs, _ = step_samples(published["fermi"])
    assert inputs.shape == (17 * 5, 34)
    assert np.array_equal(inputs[6], step_inputs(published["fermi"][1].table, 2))


def test_a_table_without_the_factor_is_refused(example: Example) -> None:
    short = replace(example.table, rows={1: example.table.at(1)})
    with pytest.raises(InvalidInputError, match="no features at factor 2"):
        step_samples([replace(example, table=short, best_factor=2)])


def test_one_network_has_five_samples_of_each_kernel(published: Published) -> None:
    examples = published["tahiti"][:3]
    inputs, further = step_samples(examples)
    assert inputs.shape == (15, 34)
    for place, example in enumerate(examples):
        answers = further[5 * place : 5 * place + 5]
        assert answers.tolist() == [factor < example.best_factor for factor in STEP_FACTORS]
        assert np.array_equal(inputs[5 * place + 1], step_inputs(example.table, 2))
    # Where runtimes are known too, only the best factor counts.
    timed = replace(examples[0], speedup={2: 0.5, 4: 2.0}, best_factor=4)
    assert step_samples([timed])[1].tolist() == [True, True, False, False, False]
