"""The decision: what may be lost counts, and the best uncoarsened launch is fallen back on."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.models.launch.decision import Rule, decide, utilities

# The own launch, a better local size, a coarsening that gains for sure, one that gains more or loses.
SAMPLES = np.array([[-0.2, -0.2], [0.0, 0.0], [0.1, 0.1], [-0.3, 0.8]])
COARSENED = np.array([False, False, True, True])


def test_a_loss_counts_as_often_as_the_aversion_has_it() -> None:
    assert utilities(SAMPLES, 0.0) == pytest.approx([-0.2, 0.0, 0.1, 0.25])
    assert utilities(SAMPLES, 2.0) == pytest.approx([-0.6, 0.0, 0.1, -0.05])


@pytest.mark.parametrize(("aversion", "chosen"), [(0.0, 3), (2.0, 2)])
def test_aversion_decides_between_what_is_sure_and_what_may_gain_more(aversion: float, chosen: int) -> None:
    assert decide(SAMPLES, COARSENED, 0.0, Rule(aversion)).chosen == chosen


def test_what_gains_less_than_the_margin_is_left_for_the_best_uncoarsened_launch() -> None:
    made = decide(SAMPLES, COARSENED, 0.0, Rule(2.0, margin=0.15))
    assert (made.chosen, made.fallback, made.abstained) == (1, 1, False)


def test_a_kernel_unlike_all_others_is_not_coarsened_but_may_have_another_local_size() -> None:
    made = decide(SAMPLES, COARSENED, 2.0, Rule(limit=1.5))
    assert (made.chosen, made.abstained) == (1, True)


def test_what_is_not_allowed_is_not_chosen_and_not_fallen_back_on() -> None:
    made = decide(SAMPLES, COARSENED, 0.0, Rule(2.0), np.array([True, False, True, True]))
    assert (made.chosen, made.fallback) == (2, 0)
    made = decide(SAMPLES, COARSENED, 0.0, Rule(2.0), np.array([True, False, False, False]))
    assert (made.chosen, made.fallback, made.abstained) == (0, 0, False)


def test_nothing_to_coarsen_leaves_the_best_local_size() -> None:
    assert decide(SAMPLES[:2], COARSENED[:2], 0.0, Rule()).chosen == 1
