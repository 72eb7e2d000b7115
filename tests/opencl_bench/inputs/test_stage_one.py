"""The first stage over inputs, on spaces and stored times with known answers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Settings
from coarsen.models.inputs.evaluation import fold, leave_groups_out
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings, spread, stage_one
from coarsen.opencl_bench.inputs.stage_one_replay import ReplayedStageOne
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.evaluator import Evaluator, FunctionEvaluator
from coarsen.opencl_bench.search.exhaustive import ExhaustiveSearcher
from coarsen.opencl_bench.search.guided import GuidedSearcher
from coarsen.opencl_bench.search.random_sample import RandomSearcher
from coarsen.opencl_bench.search.spaces import Axis, Choice, ConstrainedSpace
from coarsen.opencl_bench.search.staircase import StaircaseSearcher
from coarsen.variant.variant import Variant

EXHAUSTIVE = StageOneSettings(ExhaustiveSearcher())
QUICK = StageOneSettings(GuidedSearcher(trees=5), inputs=2)


def points(count: int) -> tuple[InputPoint, ...]:
    """Powers of two from 1 on."""
    return tuple(InputPoint(f"{k}", f"{k}", {"n": float(2**k)}) for k in range(count))


def grid_times(inputs: int = 10, noise: float = 0.0) -> VersionTimes:
    """Blocks of 2^a and tiles of 2^b: the best block grows with n, the best tile is 4."""
    choices = [(a, b) for a in range(8) for b in range(8)]
    versions = tuple(Variant((2**a,), (), (("BLOCK", str(2**a)), ("TILE", str(2**b)))) for a, b in choices)
    seconds = [[1 + abs(a - 0.7 * k) + 0.3 * abs(b - 2) for a, b in choices] for k in range(inputs)]
    drawn = np.random.default_rng(0).normal(0, noise, (inputs, len(choices)))
    return VersionTimes(points(inputs), versions, np.array(seconds) * np.exp(drawn), 27)


def test_searched_inputs_fill_the_space_of_features() -> None:
    assert spread(points(9), 3) == (4, 0, 8)
    assert spread(points(9), 5) == (4, 0, 8, 2, 6)
    assert sorted(spread(points(3), 8)) == [0, 1, 2]
    # Features that differ in contents alone count as much as sizes do.
    sizes, skews = (1.0, 32.0, 1024.0), (0.0, 9.0)
    corners = [InputPoint(f"{n}-{skew}", f"{n}", {"n": n, "skew": skew}) for n in sizes for skew in skews]
    assert {corners[number].features["skew"] for number in spread(corners, 4)} == {0.0, 9.0}
    assert sorted(spread([replace(point, features={}) for point in points(3)], 2)) == [0, 1]
    with pytest.raises(InvalidInputError, match="no inputs"):
        spread([], 8)
    with pytest.raises(InvalidInputError, match="at least one input"):
        StageOneSettings(inputs=0)


def test_winners_and_what_is_a_step_from_them_go_on() -> None:
    space = ConstrainedSpace(
        (Axis("BLOCK", (8, 1, 2, 4)), Axis("TILE", (1, 2, 3))), lambda choice: choice != (3, 1)
    )
    best: dict[int, Choice] = {0: (2, 1), 1: (2, 1)}

    def evaluator(number: int) -> Evaluator:
        return FunctionEvaluator(space, lambda choice: 1.0 if choice == best[number] else 2.0)

    found = stage_one(points(2), evaluator, (0, 0), EXHAUSTIVE)
    # Beside a block of 2 stand those of 1 and 4, of which (4, 2) breaks a constraint; beside a tile of 2 1 and 3.
    assert found.choices == ((0, 0), (2, 1), (1, 1), (2, 0), (2, 2))
    assert found.searched == (0, 1)
    assert found.trials == 22


def test_a_search_starts_from_the_best_of_the_nearest_input() -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))
    asked: list[FunctionEvaluator] = []

    def evaluator(number: int) -> Evaluator:
        asked.append(FunctionEvaluator(space, lambda choice: 1.0 + abs(choice[0] - 50)))
        return asked[-1]

    found = stage_one(points(3), evaluator, (0,), StageOneSettings(RandomSearcher(), share=0.2))
    # Two of twelve runs are kept for the end.
    first = min(found.found[0].trace[:10], key=lambda trial: trial.time or math.inf)
    assert [each.trace[0].choice for each in asked[1:3]] == [first.choice] * 2
    assert all(len(each.trace) == 10 for each in asked[:3])
    cold = stage_one(points(3), evaluator, (0,), StageOneSettings(RandomSearcher(), share=0.2, is_warm=False))
    assert cold.found[1].trace[0] != found.found[1].trace[0]


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        (Budget(trials=7), 7),
        (Budget(share=0.5), 30),
        (Budget(), None),
        (Budget(trials=20, share=0.1), 6),
        (None, 18),
    ],
)
def test_a_limit_takes_the_place_of_the_usual_share(limit: Budget | None, most: int | None) -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))
    assert StageOneSettings(limit=limit).budget(space) == Budget(trials=most)


def test_a_share_of_what_is_not_counted_is_refused() -> None:
    axes = tuple(Axis(name, tuple(range(1000))) for name in "abcd")
    settings = StageOneSettings(limit=Budget(share=0.5))
    with pytest.raises(InvalidInputError, match="give the budget as a number of trials"):
        settings.budget(ConstrainedSpace(axes))


def test_a_limited_search_keeps_to_its_limit_on_every_input() -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))

    def evaluator(number: int) -> Evaluator:
        return FunctionEvaluator(space, lambda choice: 1.0 + abs(choice[0] - 10 * number))

    found = stage_one(points(4), evaluator, (0,), StageOneSettings(RandomSearcher(), limit=Budget(trials=6)))
    # One is kept for the end, for what was best on the others.
    assert {len(each.trace) for each in found.found} <= {5, 6}
    whole = StageOneSettings(StaircaseSearcher(), is_warm=False, limit=Budget())
    # With one parameter, a staircase without a limit tries every value.
    assert [len(each.trace) for each in stage_one(points(2), evaluator, (0,), whole).found] == [60] * 2


def test_what_is_best_on_a_later_input_is_tried_on_the_earlier_ones() -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))

    def evaluator(number: int) -> Evaluator:
        # A needle that a random search of one input in three finds.
        return FunctionEvaluator(space, lambda choice: 1.0 if choice == (37,) else 2.0 + choice[0])

    settings = StageOneSettings(RandomSearcher(), share=0.4)
    found = stage_one(points(8), evaluator, (0,), settings)
    assert (37,) not in {trial.choice for trial in found.found[0].trace[:20]}
    assert {each.best.choice for each in found.found if each.best} == {(37,)}
    assert max(len(each.trace) for each in found.found) <= 24


def test_an_input_on_which_nothing_runs_leaves_the_default() -> None:
    space = ConstrainedSpace((Axis("BLOCK", (1, 2)),))
    found = stage_one(points(1), lambda _: FunctionEvaluator(space, lambda choice: None), (0,), EXHAUSTIVE)
    assert found.choices == ((0,),)


def test_a_replay_finds_what_is_best_on_the_inputs_it_searched() -> None:
    times = grid_times()
    replayed = ReplayedStageOne(replace(EXHAUSTIVE, share=1.0))
    run = replayed.run(times)
    columns = replayed(times)
    assert times.default in columns
    assert all(int(np.nanargmin(times.seconds[number])) in columns for number in run.searched)
    assert len(columns) < len(times.versions) / 2
    for found, number in zip(run.found, run.searched, strict=True):
        assert found.best is not None
        assert found.best.time == times.seconds[number].min()


def test_a_guided_replay_tries_a_share_and_comes_near_the_best() -> None:
    times = grid_times(noise=0.01)
    run = ReplayedStageOne(QUICK).run(times)
    assert len(run.searched) == 2
    assert all(len(found.trace) <= 19 for found in run.found)
    quality = [
        times.seconds[number].min() / (found.best.time or math.inf)
        for found, number in zip(run.found, run.searched, strict=True)
        if found.best is not None
    ]
    assert min(quality) > 0.8


def test_the_staircase_runs_in_a_replay_over_parameters_alone() -> None:
    times = grid_times(4)
    run = ReplayedStageOne(StageOneSettings(StaircaseSearcher(), is_warm=False, share=1.0)).run(times)
    # The local size follows from BLOCK: two parameters of eight values each.
    assert all(len(found.trace) <= 1 + 2 * 14 for found in run.found)


def test_what_failed_on_an_input_is_tried_there_and_never_its_winner() -> None:
    times = grid_times(4)
    seconds = times.seconds.copy()
    seconds[:, 0] = np.nan
    whole = replace(EXHAUSTIVE, share=1.0, is_warm=False)
    run = ReplayedStageOne(whole).run(replace(times, seconds=seconds))
    assert all(len(found.trace) == 64 for found in run.found)


def test_the_whole_chain_knows_nothing_of_the_held_out_group() -> None:
    times = grid_times(5, noise=0.02)
    poisoned = times.seconds.copy()
    poisoned[list(times.in_groups(["2"]))] **= -3.0
    settings = Settings(0.05)
    for changed in (replace(times, seconds=poisoned), times):
        stage = ReplayedStageOne(StageOneSettings(RandomSearcher(), inputs=2))
        found = repr(fold(changed, ["2"], settings, stage)).encode()
        clean = repr(fold(times, ["2"], settings, replace(stage, searches={}))).encode()
        assert found == clean


def test_the_same_search_is_run_once_and_another_one_anew() -> None:
    times = grid_times(6)
    replayed = ReplayedStageOne(replace(EXHAUSTIVE, share=1.0, inputs=3))
    first = replayed(times)
    assert len(replayed.searches) == 3
    assert replayed(times) == first
    assert len(replayed.searches) == 3
    other = replace(times, seconds=times.seconds[:, ::-1])
    assert replayed(other) == ReplayedStageOne(replayed.settings)(other)
    assert len(replayed.searches) == 6


def test_the_evaluation_replays_it_in_each_fold() -> None:
    times = grid_times(6)
    choices = leave_groups_out(times, Settings(0.05), ReplayedStageOne(replace(EXHAUSTIVE, share=1.0)))
    assert len(choices.rows) == 6
