"""The analytic models in the evaluation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.cost.work_counts import InstructionClass, LaunchSizes, WorkCounts
from coarsen.models.analytic.method import analytic
from coarsen.models.evaluation.entrants import ENTRANTS
from coarsen.models.examples import LaunchedWork
from tests.models.analytic.test_pieces import WORK
from tests.models.evaluation.made_up import made_up


def launched(factor: int, operations: float) -> LaunchedWork:
    """A coarsened work-item that does so much, a million of them uncoarsened."""
    instructions = {InstructionClass.FLOAT: operations, InstructionClass.GLOBAL_ACCESS: 1.0}
    work: WorkCounts = replace(WORK, instructions=instructions)
    return work, LaunchSizes(((1 << 20) // factor, 1, 1), (256 // factor, 1, 1))


# Twice the work at factor 2, as uncoarsened; less for each at 4; far more at 8.
COUNTED = {1: launched(1, 1000.0), 2: launched(2, 2000.0), 4: launched(4, 2500.0), 8: launched(8, 16_000.0)}


@pytest.mark.parametrize("machine", ["pocl", "tahiti"])
def test_the_factor_of_the_least_time_is_chosen(machine: str) -> None:
    example = replace(made_up("alpha", {}, machine), work=COUNTED)
    predictor = analytic().fit([], 0)
    assert predictor.choose(example).factor == 4
    predicted = predictor.log_speedups(example)
    assert predicted[1] == 0 and predicted[4] > 0 > predicted[8]


def test_it_learns_nothing() -> None:
    example = replace(made_up("alpha", {}, "tahiti"), work=COUNTED)
    others = [made_up("beta", {2: 9.0}, "tahiti")]
    assert analytic().fit(others, 1).choose(example) == analytic().fit([], 0).choose(example)


@pytest.mark.parametrize("machine", ["nowhere", "tahiti"])
def test_without_a_profile_or_counts_it_abstains(machine: str) -> None:
    work = COUNTED if machine == "nowhere" else {}
    choice = analytic().fit([], 0).choose(replace(made_up("alpha", {}, machine), work=work))
    assert (choice.factor, choice.abstained) == (1, True)


def test_it_is_an_entrant() -> None:
    entrant = ENTRANTS["analytic"]
    assert entrant.make is not None and entrant.make().name == "analytic"
    assert entrant.reads_work and not entrant.is_random
