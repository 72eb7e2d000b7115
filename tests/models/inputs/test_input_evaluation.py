"""Inputs held out: nothing fitted knows of them, and everybody is judged by times that chose nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from coarsen.dispatch.tree import Leaf, Split, check_tree
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Entrant, Settings, fitted
from coarsen.models.inputs.evaluation import fold, hold_out_largest, leave_groups_out, outcome
from coarsen.models.inputs.fixed import fixed_best
from coarsen.models.inputs.portfolio import CPU_MARGIN
from coarsen.models.inputs.regret_tree import regret_tree
from coarsen.models.inputs.shipping import shipped
from coarsen.models.inputs.times import MOST_REGRET, Ending, InputPoint, VersionTimes
from tests.models.inputs.made_up import sizes, times_of, version

SETTINGS = Settings(CPU_MARGIN)
CONTENTS = Settings(CPU_MARGIN, frozenset({"skew"}))
CROSSING = times_of([lambda n: 3 * (10 + n), lambda n: 10 + n, lambda n: 100 + n / 100], sizes(16, first=0), 0.01)


def with_contents() -> VersionTimes:
    """Twelve sizes with two contents each, which decide; the same sizes are one group."""
    points = [
        InputPoint(f"{n}-{skew}", f"{n}", {"n": float(n), "skew": skew}) for n in sizes(12) for skew in (0.5, 4.0)
    ]
    skews = [point.features["skew"] for point in points]
    seconds = [[2.5, 1.0 + 2 * (skew > 1), 1.0 + 2 * (skew < 1), 1.9] for skew in skews]
    noise = np.random.default_rng(0).normal(0, 0.01, (24, 4))
    return VersionTimes(tuple(points), tuple(map(version, range(4))), np.array(seconds) * np.exp(noise), 0)


def poisoned(times: VersionTimes, group: str) -> VersionTimes:
    """The same with nonsense for the times of a group: turned round, and some of them failures."""
    seconds = times.seconds.copy()
    for row in times.in_groups([group]):
        seconds[row] = 1e3 / seconds[row]
        seconds[row, -1] = np.nan
    return replace(times, seconds=seconds)


def best_few(times: VersionTimes) -> Sequence[int]:
    """A first stage that depends on the times: the fastest versions on the first and last input."""
    return [int(np.nanargmin(times.seconds[row])) for row in (0, -1)]


@pytest.mark.parametrize("group", ["group-0", "group-7", "group-15"])
def test_nothing_fitted_changes_by_a_byte_whatever_the_held_out_group_took(group: str) -> None:
    for stage_one in (best_few, lambda times: range(len(times.versions))):
        clean = fold(CROSSING, [group], SETTINGS, stage_one)
        assert repr(fold(poisoned(CROSSING, group), [group], SETTINGS, stage_one)).encode() == repr(clean).encode()


def test_contents_of_one_size_are_held_out_together_and_nothing_of_them_is_known() -> None:
    times = with_contents()
    clean = fold(times, ["256"], CONTENTS, best_few)
    assert repr(fold(poisoned(times, "256"), ["256"], CONTENTS, best_few)) == repr(clean)
    # Poison elsewhere is noticed, or the test above would prove nothing.
    assert repr(fold(poisoned(times, "64"), ["256"], CONTENTS, best_few)) != repr(clean)


def test_each_input_is_chosen_for_once_by_all_entrants() -> None:
    choices = leave_groups_out(CROSSING, SETTINGS)
    assert choices.rows == tuple(range(16))
    assert set(choices.versions) == set(Entrant)
    # Below 91 the second version is the fastest, above the third.
    assert choices.versions[Entrant.BEST] == (1,) * 7 + (2,) * 9
    tree = choices.versions[Entrant.TREE]
    assert sum(own != best for own, best in zip(tree, choices.versions[Entrant.BEST], strict=True)) <= 2
    assert choices.versions[Entrant.DEFAULT] == (0,) * 16


def with_ending(row: int, column: int, ending: Ending) -> VersionTimes:
    """The same with a version that has no time on an input."""
    seconds, endings = CROSSING.seconds.copy(), CROSSING.endings.copy()
    seconds[row, column], endings[row, column] = np.nan, ending
    return replace(CROSSING, seconds=seconds, endings=endings)


def test_what_can_not_be_launched_on_an_input_gives_way_to_the_default() -> None:
    times = with_ending(12, 2, Ending.FELL_BACK)
    choices = leave_groups_out(times, SETTINGS)
    assert choices.versions[Entrant.TREE][12] in (0, 1)
    assert choices.versions[Entrant.BEST][12] == 1
    assert not any(choices.failed[Entrant.TREE])
    found = outcome("made up", times, choices, times.played, CPU_MARGIN)
    assert found.seconds[Entrant.TREE][12] in times.seconds[12, :2]


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.WRONG])
def test_what_is_launched_and_fails_counts_as_four_times_the_best(ending: Ending) -> None:
    times = with_ending(12, 2, ending)
    choices = leave_groups_out(times, SETTINGS)
    assert choices.versions[Entrant.TREE][12] == 2 and choices.failed[Entrant.TREE][12]
    assert (12, 2) not in choices.pairs
    again = np.full(times.seconds.shape, np.nan)
    for row, column in choices.pairs:
        again[row, column] = 7.0
    found = outcome("made up", times, choices, again, CPU_MARGIN)
    assert found.gain(Entrant.TREE, Entrant.BEST)[12] == pytest.approx(-MOST_REGRET)
    assert not found.is_exact[Entrant.TREE][12] and found.is_exact[Entrant.BEST][12]


def test_what_fails_when_it_is_timed_again_fails_and_does_not_block() -> None:
    choices = leave_groups_out(CROSSING, SETTINGS)
    again = np.full(CROSSING.seconds.shape, np.nan)
    for row, column in choices.pairs:
        again[row, column] = CROSSING.seconds[row, column]
    again[12, 2] = np.inf
    found = outcome("made up", CROSSING, choices, again, CPU_MARGIN)
    # The best of those that ran again: the second version or the default.
    best = found.seconds[Entrant.BEST][12]
    assert best == min(again[12, :2][~np.isnan(again[12, :2])])
    assert found.seconds[Entrant.TREE][12] == 4 * best
    assert not found.is_exact[Entrant.TREE][12]


def test_versions_with_wrong_results_on_a_training_input_are_no_choice() -> None:
    times = with_ending(3, 1, Ending.WRONG)
    entrants = fold(times, ["group-9"], SETTINGS, lambda all_times: range(3))
    assert entrants.columns == (0, 2)
    assert entrants.fixed_of_all != 1
    # Only the held-out input shows it: nothing knows.
    assert fold(times, ["group-3"], SETTINGS, lambda all_times: range(3)).columns == (0, 1, 2)


def test_everybody_is_judged_by_the_second_times() -> None:
    choices = leave_groups_out(CROSSING, SETTINGS)
    again = np.full(CROSSING.seconds.shape, np.nan)
    for row, column in choices.pairs:
        again[row, column] = 7.0
    found = outcome("made up", CROSSING, choices, again, CPU_MARGIN)
    assert all((own == 7.0).all() for own in found.seconds.values())
    assert found.gain(Entrant.TREE, Entrant.FIXED).tolist() == [0.0] * 16
    assert all(found.is_exact[Entrant.BEST])
    assert sum(found.is_exact[Entrant.TREE]) >= 14
    again[choices.pairs[3]] = np.nan
    with pytest.raises(InvalidInputError, match="time again on the input 'input-00"):
        outcome("made up", CROSSING, choices, again, CPU_MARGIN)


def test_the_largest_quarter_is_held_out_together() -> None:
    choices = hold_out_largest(CROSSING, SETTINGS, lambda point: point.features["n"])
    assert sorted(choices.rows) == [12, 13, 14, 15]
    assert choices.versions[Entrant.TREE] == (2,) * 4
    assert len(choices.leaves) == 1
    grouped = hold_out_largest(with_contents(), CONTENTS, lambda point: point.features["n"])
    assert sorted(grouped.rows) == [18, 19, 20, 21, 22, 23]


def test_one_group_can_not_be_held_out() -> None:
    alone = CROSSING.of_inputs([3])
    with pytest.raises(InvalidInputError, match="two groups"):
        leave_groups_out(alone, SETTINGS)
    with pytest.raises(InvalidInputError, match="two groups"):
        hold_out_largest(alone, SETTINGS, lambda point: 1.0)


def test_contents_count_where_they_decide() -> None:
    choices = leave_groups_out(with_contents(), CONTENTS)
    best = choices.versions[Entrant.BEST]
    assert choices.versions[Entrant.TREE] == best
    assert choices.versions[Entrant.TREE_WITHOUT_SUPPLIED] != best


def test_the_first_stage_decides_what_there_is_to_choose_from() -> None:
    entrants = fitted(CROSSING, SETTINGS, lambda times: [2])
    assert entrants.columns == (0, 2)
    chosen = entrants.chosen({"n": 1.0})
    assert chosen[Entrant.TREE] in (0, 2)
    assert chosen[Entrant.FIXED_OF_ALL] == fixed_best(CROSSING).number


def test_shipped_are_the_versions_that_can_be_answered_and_the_default() -> None:
    tree = regret_tree(CROSSING, CPU_MARGIN)
    found = shipped(tree, CROSSING)
    assert found.versions == (version(0), version(1), version(2))
    assert found.default == 0
    assert isinstance(found.tree, Split)
    assert (found.tree.at_most, found.tree.above) == (Leaf(1), Leaf(2))
    check_tree(found.tree, frozenset({"n"}), len(found.versions))
    few = shipped(regret_tree(CROSSING.of_inputs([15]), CPU_MARGIN), CROSSING)
    assert few.versions == (version(0), version(2))
    assert few.tree == Leaf(1)
    assert few.tree_without_supplied is None


def test_both_trees_are_shipped_where_the_caller_may_supply() -> None:
    times = with_contents()
    found = shipped(regret_tree(times, CPU_MARGIN, {"skew"}), times)
    assert isinstance(found.tree, Split)
    assert found.tree.feature == "skew"
    assert found.tree_without_supplied is not None
