"""A made-up study from times to criteria: what must be timed again, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.dispatch.tree import versions_of
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.acceptance import BEST_OF_ALL, BEST_OF_TRIED, criteria
from coarsen.models.inputs.entrants import Settings
from coarsen.models.inputs.judging import Plan, Study, judged, plan
from coarsen.models.inputs.portfolio import CPU_MARGIN
from coarsen.models.inputs.regret_tree import regret_tree
from coarsen.models.inputs.shipping import shipped
from coarsen.models.inputs.times import VersionTimes
from coarsen.models.trees.arrays import Array
from tests.models.inputs.made_up import sizes, times_of

SENSITIVE = [lambda n: 3 * (10 + n), lambda n: 10 + n, lambda n: 200 + n / 50, lambda n: 150 + n / 4]
TIMES = times_of(SENSITIVE, sizes(20, first=0), 0.02)
STUDY = Study("made up", TIMES, Settings(CPU_MARGIN))
CONTROL = replace(
    STUDY,
    kernel="control",
    times=times_of([lambda n: 1.3 * n, lambda n: n, lambda n: 1.01 * n], sizes(20, first=0), 0.02, seed=1),
    is_control=True,
)


def second_times(times: VersionTimes, pairs: tuple[tuple[int, int], ...]) -> Array:
    """The same with other noise, of these pairs alone."""
    again = np.full(times.seconds.shape, np.nan)
    noise = np.exp(np.random.default_rng(5).normal(0, 0.02, again.shape))
    for row, column in pairs:
        again[row, column] = times.seconds[row, column] * noise[row, column]
    return again


@pytest.fixture(scope="module")
def made() -> Plan:
    return plan(STUDY)


def test_what_was_chosen_is_timed_again_and_little_else(made: Plan) -> None:
    assert len(made.pairs) < STUDY.times.seconds.size
    assert {row for row, _ in made.pairs} == set(range(20))
    result = judged(made, second_times(STUDY.times, made.pairs))
    assert (result.is_adaptive, result.versions, result.has_contents) == (True, 3, False)
    assert result.reference == BEST_OF_TRIED
    assert result.extrapolated is not None
    assert len(result.extrapolated.inputs) == 5
    with pytest.raises(InvalidInputError, match="time again"):
        judged(made, second_times(STUDY.times, made.pairs[1:]))


def test_a_sensitive_kernel_and_a_control_meet_the_criteria_that_they_decide(made: Plan) -> None:
    results = [judged(each, second_times(each.study.times, each.pairs)) for each in (made, plan(CONTROL))]
    found = {criterion.number: criterion for criterion in criteria(results, is_gpu=False)}
    assert found["3"].value == 1
    for number in ("4a", "4b", "4c", "5a", "6", "7a", "7c", "9a", "14", "16", "17a"):
        assert found[number].is_met, found[number]


def test_the_largest_inputs_are_those_that_take_the_default_longest_or_what_the_caller_says(made: Plan) -> None:
    assert sorted(made.largest.rows) == [15, 16, 17, 18, 19]
    few = replace(STUDY, times=TIMES.of_inputs(range(4, 12)), size_of=lambda point: -point.features["n"])
    assert sorted(plan(few).largest.rows) == [0, 1]


def test_the_shipped_tree_answers_with_shipped_versions() -> None:
    few = plan(replace(STUDY, times=TIMES.of_inputs(range(4, 12)), stage_one=lambda times: [1, 2]))
    assert few.shipped.versions == TIMES.versions[:3]
    assert versions_of(few.shipped.tree) == {1, 2}


def test_a_search_may_have_missed_the_best_version() -> None:
    assert STUDY.reference == BEST_OF_TRIED
    assert replace(STUDY, stage_one=lambda times: [1, 2]).reference == BEST_OF_ALL


def test_the_same_times_ship_the_same_bytes(made: Plan) -> None:
    again = shipped(regret_tree(TIMES, CPU_MARGIN), TIMES)
    assert repr(again).encode() == repr(made.shipped).encode()
