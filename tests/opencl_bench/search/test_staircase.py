"""Golden traces of the staircase from the least values to the largest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.search.exhaustive import REACHED, Parameters, StaircaseSearcher
from coarsen.tuning.search.searcher import Found
from coarsen.tuning.search.spaces import Axis, Choice, SearchSpace, VariantSearchSpace
from coarsen.variant.coarsening import Level
from coarsen.variant.space import Dimension, VariantSpace, coarsening_dimensions
from coarsen.variant.variant import Variant
from tests.opencl_bench.search.tables import ConstrainedSpace, FunctionEvaluator, space_of


def climbed(space: SearchSpace, time_of: Callable[[Choice], float | None]) -> Found:
    return StaircaseSearcher().search(FunctionEvaluator(space, time_of), Budget(), 0)


def steps(found: Found) -> list[Choice]:
    return [trial.choice for trial in found.trace]


def test_one_parameter_is_tried_at_every_value_in_ascending_order() -> None:
    space = ConstrainedSpace((Axis("BLOCK", (256, 64, 128, 1024, 512)),))
    found = climbed(space, lambda choice: [3.0, 1.0, 9.0, 2.0, 5.0][choice[0]])
    assert [space.axes[0].values[choice[0]] for choice in steps(found)] == [64, 128, 256, 512, 1024]
    assert found.best is not None
    assert found.best.choice == (1,)
    assert found.ending == REACHED


VALLEY: dict[Choice, float] = {
    (0, 0): 5.0,
    (0, 1): 8.0,
    (0, 2): 9.0,
    (1, 0): 7.0,
    (1, 1): 9.0,
    (1, 2): 9.5,
    (2, 0): 9.0,
    (2, 1): 8.0,
    (2, 2): 1.0,
}


def test_a_ridge_that_stops_a_climb_is_crossed() -> None:
    # Both steps from the least values are slower: whoever compares with the base stays there.
    found = climbed(space_of((3, 3)), VALLEY.__getitem__)
    assert steps(found) == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (2, 1), (2, 2)]
    assert found.best is not None
    assert (found.best.choice, found.best.time) == ((2, 2), 1.0)


def test_the_fastest_of_those_just_tried_is_the_base_and_the_best_of_all_is_the_answer() -> None:
    times = {**VALLEY, (0, 1): 2.0, (2, 2): 6.0}
    found = climbed(space_of((3, 3)), times.__getitem__)
    # (0, 1) is the base, then (1, 1) and (0, 2) are as slow as each other: the first parameter's is taken.
    assert steps(found) == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (2, 1), (1, 2), (2, 2)]
    assert found.best is not None
    assert found.best.choice == (0, 1)


@pytest.mark.parametrize(("lengths", "rounds"), [((3, 3), 4), ((2, 3, 4), 6), ((5,), 4)])
def test_there_are_as_many_rounds_as_steps_of_all_parameters(lengths: tuple[int, ...], rounds: int) -> None:
    found = climbed(space_of(lengths), lambda choice: 1.0 + sum(choice))
    assert len(found.trace) <= 1 + len(lengths) * rounds
    assert steps(found)[0] == (0,) * len(lengths)
    assert steps(found)[-1] == tuple(length - 1 for length in lengths)


@pytest.mark.parametrize(("inputs", "values", "runs"), [(15, 5, 75), (18, 3, 54)])
def test_the_counts_of_the_paper(inputs: int, values: int, runs: int) -> None:
    """Table I: reduction tried 75 versions on 15 inputs, each transpose 54 on 18."""
    axis = Axis("BLOCK", tuple(64 * 2**k for k in range(values)))
    tried = 0
    for n in range(inputs):
        times: dict[Choice, float] = {
            (place,): 1.0 + (value * (n + 1)) % 7 for place, value in enumerate(axis.values)
        }
        tried += len(climbed(ConstrainedSpace((axis,)), times.__getitem__).trace)
    assert tried == runs


def test_what_failed_may_be_the_base_where_all_failed() -> None:
    failing = {(1, 0), (0, 1)}
    found = climbed(space_of((3, 3)), lambda choice: None if choice in failing else VALLEY[choice])
    # Of two that failed the first parameter's is the base.
    assert steps(found)[:5] == [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1)]
    assert steps(found)[-1] == (2, 2)


def test_what_breaks_a_constraint_is_not_run_and_takes_infinitely_long() -> None:
    space = space_of((3, 3), lambda choice: choice != (1, 0))
    found = climbed(space, VALLEY.__getitem__)
    assert steps(found)[:4] == [(0, 0), (0, 1), (1, 1), (0, 2)]
    assert (1, 0) not in steps(found)


def test_a_budget_ends_it_early() -> None:
    evaluator = FunctionEvaluator(space_of((3, 3)), VALLEY.__getitem__)
    found = StaircaseSearcher().search(evaluator, Budget(trials=3), 0)
    assert (len(found.trace), found.ending) == (3, "the budget was spent")


def variant_space(constraint: Callable[[Variant], str | None]) -> VariantSearchSpace:
    """Local sizes and a macro, the default of each in the middle."""
    return VariantSearchSpace(
        VariantSpace(
            (Dimension("local_size", ((128,), (64,), (256,))), Dimension("-D BLOCK", ("128", "64", "256"))),
            constraints=(constraint,),
        )
    )


def block_is_local_size(variant: Variant) -> str | None:
    macros: Mapping[str, str] = dict(variant.definitions)
    return None if macros["BLOCK"] == str(variant.local_size[0]) else "BLOCK must be the local size"


def test_a_local_size_that_follows_from_a_macro_is_no_parameter() -> None:
    space = variant_space(block_is_local_size)
    assert len(Parameters(space).lengths) == 1
    found = climbed(space, lambda choice: 1.0 + choice[0])
    assert [space.variant(choice).local_size for choice in steps(found)] == [(64,), (128,), (256,)]


def test_a_local_size_of_its_own_is_a_parameter_in_ascending_order() -> None:
    space = variant_space(lambda variant: None)
    found = climbed(space, lambda choice: 1.0 + sum(choice))
    first, last = (space.variant(steps(found)[place]) for place in (0, -1))
    assert (first.local_size, dict(first.definitions)["BLOCK"]) == ((64,), "64")
    assert (last.local_size, dict(last.definitions)["BLOCK"]) == ((256,), "256")
    assert len(found.trace) <= 1 + 2 * 4


def test_a_stride_where_nothing_is_merged_is_the_version_without_it() -> None:
    dimensions = tuple(coarsening_dimensions(Level.ITEM, 0, (2, 4), (1, 32)))
    space = VariantSearchSpace(VariantSpace(dimensions))
    assert Parameters(space).choice((0, 1)) == (0, 0)
    # The stride is raised first, which is free, and then the factor with it.
    times: dict[Choice, float] = {(0, 0): 1.0, (1, 0): 2.0}
    found = climbed(space, lambda choice: times.get(choice, 3.0))
    assert steps(found) == [(0, 0), (1, 0), (1, 1), (2, 1)]
