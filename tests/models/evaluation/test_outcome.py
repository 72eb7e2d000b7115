"""What came of a choice."""

from __future__ import annotations

import math

import pytest

from coarsen.models.evaluation.scores import (
    GIVEN_UP_SPEEDUP,
    factor_that_runs,
    log_speedup_of,
    oracle_log_speedup,
)
from tests.models.evaluation.made_up import made_up, outcome

GAPPED = made_up("sgemm", {2: 1.5, 8: 3.0})


@pytest.mark.parametrize(("chosen", "ran"), [(1, 1), (2, 2), (4, 2), (8, 8), (16, 8), (32, 8)])
def test_the_largest_smaller_factor_runs_in_place_of_one_that_cannot(chosen: int, ran: int) -> None:
    found = outcome(GAPPED, chosen)
    assert (factor_that_runs(GAPPED, chosen), found.ran, found.fell_back) == (ran, ran, chosen != ran)
    assert math.exp(found.log_speedup) == pytest.approx({1: 1.0, 2: 1.5, 8: 3.0}[ran])
    assert log_speedup_of(GAPPED, chosen) == found.log_speedup


def test_nothing_smaller_runs_but_the_kernel_itself() -> None:
    assert outcome(made_up("nbody", {8: 2.0}), 4).ran == 1


def test_a_configuration_that_was_given_up_is_a_loss_and_never_the_best() -> None:
    slow = made_up("nbody", {2: GIVEN_UP_SPEEDUP})
    found = outcome(slow, 2)
    assert (found.was_given_up, found.fell_back, found.log_speedup) == (True, False, math.log(0.1))
    assert (slow.best_factor, oracle_log_speedup(slow)) == (1, 0.0)
    assert not outcome(slow, 1).was_given_up


def test_the_oracle_takes_the_largest_speedup() -> None:
    assert oracle_log_speedup(GAPPED) == math.log(3.0)
    assert oracle_log_speedup(made_up("spmv", {2: 0.5})) == 0.0


def test_of_a_best_factor_alone_only_the_distance_is_known() -> None:
    found = outcome(made_up("sgemm", {}, best=16), 4)
    assert (found.is_measured, found.fell_back, found.log2_error) == (False, False, -2.0)
