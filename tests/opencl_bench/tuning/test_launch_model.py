"""What the model of a launch's times makes of a few trials."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coarsen.tuning.launch_search import LaunchModel
from coarsen.tuning.search.evaluator import Trial
from coarsen.tuning.search.spaces import Choice
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

VARIANTS = (
    Variant((64,)),
    Variant((64,), (Coarsening(2, 0),)),
    Variant((64,), (Coarsening(4, 0),)),
    Variant((64,), (Coarsening(8, 0),)),
    Variant((64,), (Coarsening(8, 0, level=Level.GROUP),)),
    Variant((256,)),
    Variant((256,), (Coarsening(8, 0),)),
)


def variant_of(choice: Choice) -> Variant:
    return VARIANTS[choice[0]]


def model(expected: float = 0.0) -> LaunchModel:
    return LaunchModel(variant_of, (64,), lambda variant: expected * len(variant.coarsenings))


def test_what_was_measured_is_believed_and_continued() -> None:
    trials = [Trial((0,), 1.0), Trial((1,), 0.7), Trial((2,), 0.5)]
    bounds = model().lower_bounds(trials, [(0,), (1,), (2,), (3,)], 0.0)
    assert bounds[:3] == pytest.approx([0.0, math.log(0.7), math.log(0.5)], abs=0.1)
    assert bounds[3] < bounds[1], "a larger factor goes on like the smaller ones"


def test_what_is_far_from_all_trials_is_less_certain() -> None:
    trials = [Trial((0,), 1.0), Trial((1,), 1.0)]
    choices = [(1,), (3,), (6,)]
    width = model().lower_bounds(trials, choices, 0.0) - model().lower_bounds(trials, choices, 1.0)
    assert 0 < width[0] < width[1] < width[2]


def test_what_failed_counts_as_slow() -> None:
    trials = [Trial((0,), 1.0), Trial((2,), 0.5), Trial((4,), None)]
    merged, groups = model().lower_bounds(trials, [(3,), (4,)], 0.0)
    assert merged < groups
    assert groups == pytest.approx(0.0, abs=0.1)


def test_an_effect_of_the_local_size_is_carried_over() -> None:
    trials = [Trial((0,), 1.0), Trial((3,), 0.8), Trial((5,), 0.3)]
    own, other = model().lower_bounds(trials, [(3,), (6,)], 0.0)
    assert other < own


@pytest.mark.parametrize("rest", [(), (1,), (1, 1)])
def test_an_open_local_size_is_no_obstacle(rest: tuple[int, ...]) -> None:
    variants = Variant(()), Variant((256, *rest), (Coarsening(8, 0),)), Variant((128, *rest))
    open_model = LaunchModel(lambda choice: variants[choice[0]], (), lambda _: 0.0)
    bounds = open_model.lower_bounds([Trial((0,), 1.0), Trial((1,), 0.5)], [(0,), (1,), (2,)], 0.7)
    assert np.isfinite(bounds).all()


def test_what_is_expected_counts_as_far_as_it_is_confirmed() -> None:
    trials = [Trial((0,), 1.0), Trial((1,), 0.5)]
    believed = model(math.log(0.5)).lower_bounds(trials, [(4,)], 0.0)
    refuted = model(math.log(2.0)).lower_bounds(trials, [(4,)], 0.0)
    assert believed[0] < refuted[0]
