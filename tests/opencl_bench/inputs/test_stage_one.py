"""The first stage over inputs, on spaces and stored times with known answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs.stage_one import StageOne, StageOneSettings, spread, stage_one
from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
from coarsen.tuning.search.evaluator import Budget, Evaluator
from coarsen.tuning.search.exhaustive import ExhaustiveSearcher, RandomSearcher
from coarsen.tuning.search.searcher import Found
from coarsen.tuning.search.spaces import Axis, Choice
from tests.opencl_bench.search.tables import ConstrainedSpace, FunctionEvaluator

EXHAUSTIVE = StageOneSettings(ExhaustiveSearcher())


def points(count: int) -> tuple[InputPoint, ...]:
    """Powers of two from 1 on."""
    return tuple(InputPoint(f"{k}", f"{k}", {"n": float(2**k)}) for k in range(count))


def stage(
    inputs: tuple[InputPoint, ...],
    evaluator_of: Callable[[int], Evaluator],
    settings: StageOneSettings,
) -> StageOne:
    """The first stage, each search by an evaluator of its own."""

    def search(number: int, request: SearchRequest) -> Found:
        return request.searcher.search(evaluator_of(number), request.budget, request.seed, request.first)

    return stage_one(inputs, lambda number: evaluator_of(number).space, search, settings)


def test_searched_inputs_fill_the_space_of_features() -> None:
    assert spread(points(9), 3) == (4, 0, 8)
    assert spread(points(9), 5) == (4, 0, 8, 2, 6)
    assert sorted(spread(points(3), 8)) == [0, 1, 2]
    # Features that differ in contents alone count as much as sizes do.
    sizes, skews = (1.0, 32.0, 1024.0), (0.0, 9.0)
    corners = [InputPoint(f"{n}-{skew}", f"{n}", {"n": n, "skew": skew}) for n in sizes for skew in skews]
    assert {corners[number].features["skew"] for number in spread(corners, 4)} == {0.0, 9.0}
    assert sorted(spread([replace(point, features={}) for point in points(3)], 2)) == [0, 1]
    # A feature that may be 0 is near in numbers, not in octaves, and one that never differs counts nothing.
    others = [InputPoint(f"{skew}", "", {"skew": skew, "n": 5.0}) for skew in (-1.0, 0.0, 4.0, 10.0)]
    assert spread(others, 3) == (1, 3, 2)
    with pytest.raises(InvalidInputError, match="no inputs"):
        spread([], 8)


def test_winners_and_what_is_a_step_from_them_go_on() -> None:
    space = ConstrainedSpace(
        (Axis("BLOCK", (8, 1, 2, 4)), Axis("TILE", (1, 2, 3))), lambda choice: choice != (3, 1)
    )
    best: dict[int, Choice] = {0: (2, 1), 1: (2, 1)}

    def evaluator(number: int) -> Evaluator:
        return FunctionEvaluator(space, lambda choice: 1.0 if choice == best[number] else 2.0)

    found = stage(points(2), evaluator, EXHAUSTIVE)
    # Beside a block of 2 stand those of 1 and 4, of which (4, 2) breaks a constraint; beside a tile of 2 1 and 3.
    assert found.choices == ((2, 1), (1, 1), (2, 0), (2, 2))
    assert [len(each.trace) for each in found.found.values()] == [11, 11]


def test_a_search_starts_from_the_best_of_the_nearest_input() -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))
    asked: list[Evaluator] = []

    def evaluator(number: int) -> Evaluator:
        asked.append(FunctionEvaluator(space, lambda choice: 1.0 + abs(choice[0] - 50)))
        return asked[-1]

    found = stage(points(3), evaluator, StageOneSettings(RandomSearcher(), limit=Budget(share=0.2)))
    del asked[:3]  # which were asked for their spaces
    # Two of twelve runs are kept for the end.
    first = min(next(iter(found.found.values())).trace[:10], key=lambda trial: trial.time or math.inf)
    assert [each.trace[0].choice for each in asked[1:3]] == [first.choice] * 2
    assert all(len(each.trace) == 10 for each in asked[:3])


def test_what_a_search_may_pass_by_is_tried_first() -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),), lambda choice: choice != (59,))
    asked: list[Evaluator] = []

    def search(_: int, request: SearchRequest) -> Found:
        asked.append(FunctionEvaluator(space, lambda choice: 1.0 + abs(choice[0] - 50)))
        return request.searcher.search(asked[-1], request.budget, request.seed, request.first)

    settings = StageOneSettings(RandomSearcher(), limit=Budget(trials=5))
    found = stage_one(points(3), lambda _: space, search, settings, [(50,), (59,), (3,)])
    # After what was the best on the others.
    assert [{trial.choice for trial in each.trace[:2]} for each in asked] == [{(50,), (3,)}] * 3
    assert found.choices[0] == (50,)


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        (Budget(trials=7), 7),
        (Budget(share=0.5), 30),
        (Budget(seconds=9), 18),
        (Budget(trials=20, share=0.1), 6),
        (None, 18),
    ],
)
def test_a_limit_takes_the_place_of_the_usual_share(limit: Budget | None, most: int | None) -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))
    seconds = None if limit is None else limit.seconds
    assert StageOneSettings(limit=limit).budget(space) == Budget(trials=most, seconds=seconds)


def test_a_share_of_what_is_not_counted_is_refused() -> None:
    axes = tuple(Axis(name, tuple(range(1000))) for name in "abcd")
    settings = StageOneSettings(limit=Budget(share=0.5))
    with pytest.raises(InvalidInputError, match="give the budget as a number of trials"):
        settings.budget(ConstrainedSpace(axes))


def test_a_limited_search_keeps_to_its_limit_on_every_input() -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))

    def evaluator(number: int) -> Evaluator:
        return FunctionEvaluator(space, lambda choice: 1.0 + abs(choice[0] - 10 * number))

    found = stage(points(4), evaluator, StageOneSettings(RandomSearcher(), limit=Budget(trials=6)))
    # One is kept for the end, for what was best on the others.
    assert {len(each.trace) for each in found.found.values()} <= {5, 6}


def test_what_is_best_on_a_later_input_is_tried_on_the_earlier_ones() -> None:
    space = ConstrainedSpace((Axis("BLOCK", tuple(range(60))),))

    def evaluator(number: int) -> Evaluator:
        # A needle that a random search of one input in three finds.
        return FunctionEvaluator(space, lambda choice: 1.0 if choice == (37,) else 2.0 + choice[0])

    settings = StageOneSettings(RandomSearcher(), limit=Budget(share=0.4))
    found = stage(points(8), evaluator, settings)
    assert (37,) not in {trial.choice for trial in next(iter(found.found.values())).trace[:20]}
    assert {each.best.choice for each in found.found.values() if each.best} == {(37,)}
    assert max(len(each.trace) for each in found.found.values()) <= 24


def test_an_input_on_which_nothing_runs_has_no_winner() -> None:
    space = ConstrainedSpace((Axis("BLOCK", (1, 2)),))
    found = stage(points(1), lambda _: FunctionEvaluator(space, lambda choice: None), EXHAUSTIVE)
    assert found.choices == ()


def test_an_input_on_which_the_default_version_fails_is_passed_over() -> None:
    space = ConstrainedSpace((Axis("BLOCK", (1, 2, 4)),))
    asked: list[int] = []

    def search(number: int, request: SearchRequest) -> Found | None:
        asked.append(number)
        evaluator = FunctionEvaluator(space, lambda choice: float(3 - choice[0]))
        return request.searcher.search(evaluator, request.budget, 0, request.first) if number else None

    found = stage_one(points(2), lambda _: space, search, EXHAUSTIVE)
    assert (sorted(asked), list(found.found)) == ([0, 1], [1])
    assert found.choices == ((2,), (1,))
