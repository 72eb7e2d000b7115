"""Guided profiling: the paper's own numbers, additive tables, and what an interaction, a failure, a gap does."""

from __future__ import annotations

import itertools
import random

import pytest

from coarsen.tuning.search.additive import NOT_ADDITIVE, AdditiveSearcher
from coarsen.tuning.search.additive_design import (
    base_count,
    few_combinations,
    fitted,
    measure_design,
    ranked,
    supports_of,
)
from coarsen.tuning.search.evaluator import Budget, FunctionEvaluator
from coarsen.tuning.search.searcher import Found, Searcher
from coarsen.tuning.search.spaces import (
    Axis,
    Choice,
    ConstrainedSpace,
    SearchSpace,
    independent_places,
    size,
)
from tests.opencl_bench.search.tables import GuardedTimes, additive_times, space_of

# Every combination of the shared options is a base here, as in the paper: there are no more than four.
PAPER = AdditiveSearcher(held_out=0)

LAYOUT = Axis("layout", ("AoS", "SoA", "AoSoA"), shared=False)
MEMORY = Axis("memory", ("global", "texture"), shared=False)
ORDER = Axis("transposition", (1, 2), shared=False)
CACHE = Axis("L1 cache", ("SM", "L1", "EQ"), shared=True)


def searched(
    searcher: Searcher, space: SearchSpace, times: dict[Choice, float], budget: Budget | None = None, seed: int = 0
) -> Found:
    """The result of a search that can see nothing but what it tries."""
    guarded = GuardedTimes(times)
    evaluator = FunctionEvaluator(space, guarded.__getitem__)
    found = searcher.search(evaluator, budget or Budget(), seed)
    assert [trial.choice for trial in found.trace] == guarded.looked_up
    assert found.trace == evaluator.trace
    return found


def bank_cycles(choice: Choice) -> float:
    """Cycles of the inner loop of listing 2: `array[0][x].a` for five x, of 5 × 5 structures of two ints.

    A bank of four items takes ten cycles, and one more where it does not adjoin the one before (section 5).
    """
    layout, order = choice
    elements = [x if order else 5 * x for x in range(5)]
    items = [element if layout else 2 * element for element in elements]
    banks = sorted({item // 4 for item in items})
    return 10 * len(banks) + sum(after - before > 1 for before, after in itertools.pairwise(banks))


def support_count(space: SearchSpace) -> int:
    """Return |C_S|, the number of supports of all bases (equation 9)."""
    return base_count(space) * sum(len(space.axes[place].values) - 1 for place in independent_places(space))


def test_listing_2() -> None:
    space = ConstrainedSpace((Axis("layout", ("AoS", "SoA"), shared=False), ORDER))
    aos, transposed_aos, soa, transposed_soa = (0, 0), (0, 1), (1, 0), (1, 1)
    times: dict[Choice, float] = {choice: bank_cycles(choice) for choice in (aos, transposed_aos, soa)}
    assert times == {aos: 54, transposed_aos: 30, soa: 51}
    model = fitted(aos, supports_of(space, aos), times)
    assert model.predicted(transposed_soa) == 27
    assert next(ranked([model])) == (27, transposed_soa)
    assert bank_cycles(transposed_soa) == 20


def test_figure_1() -> None:
    space = ConstrainedSpace((CACHE, LAYOUT, MEMORY))
    bases = sorted(few_combinations(space, (0, 0, 0), random.Random(0)))
    assert bases == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    supports = {support.after for base in bases for support in supports_of(space, base)}
    assert (base_count(space), support_count(space), size(space)) == (3, 9, 18)
    assert len(supports) == 9
    evaluator = FunctionEvaluator(space, lambda choice: 1.0 + sum(choice)).keep_to(Budget())
    models = measure_design(evaluator, bases)
    assert evaluator.tried == 12
    assert len(dict.fromkeys(choice for _, choice in ranked(models))) == 18


def test_the_binning_kernel() -> None:
    one = (LAYOUT,)
    two = (LAYOUT, ORDER, MEMORY)
    macro = Axis("macro", (0, 1), shared=False)
    axes = (CACHE, *one, *two, *two, macro, macro)
    space = ConstrainedSpace(
        tuple(Axis(f"{axis.name} {n}", axis.values, axis.shared) for n, axis in enumerate(axes))
    )
    assert size(space) == 5184
    assert (base_count(space), support_count(space)) == (3, 36)
    assert len(searched(PAPER, space, additive_times(space, 0)).trace) == 44


SPACE = space_of((3,), (3, 2, 2, 3))
RUNS = 3 * (1 + 2 + 1 + 1 + 2) + 5


@pytest.mark.parametrize("seed", range(100))
def test_an_additive_table_is_solved_by_exactly_so_many_runs(seed: int) -> None:
    # The terms differ from one combination of shared values to the next: an interaction that bases are there for.
    times = additive_times(SPACE, seed)
    found = searched(PAPER, SPACE, times)
    assert base_count(SPACE) + support_count(SPACE) + 5 == RUNS
    assert len(found.trace) == RUNS
    assert found.best is not None
    assert found.best.time == min(times.values())
    assert found.notes[-1].startswith("these options are additive: R² ")


def test_noise_of_two_percent_costs_little() -> None:
    close = 0
    for seed in range(100):
        times, noisy = additive_times(SPACE, seed), additive_times(SPACE, seed, noise=0.02)
        found = searched(PAPER, SPACE, noisy)
        assert found.best is not None
        close += times[found.best.choice] <= 1.02 * min(times.values())
    assert close >= 95


@pytest.mark.parametrize("seed", range(20))
def test_an_interaction_of_independent_options_is_reported(seed: int) -> None:
    space = space_of((2,), (5, 5, 5))
    draw = random.Random(seed)
    pairs = {(i, j): draw.uniform(0, 60) for i in range(5) for j in range(5)}
    plain = additive_times(space, seed)
    times = {choice: time + pairs[choice[1], choice[2]] for choice, time in plain.items()}
    found = searched(AdditiveSearcher(), space, times, seed=seed)
    assert any(NOT_ADDITIVE in note for note in found.notes)
    assert not any(NOT_ADDITIVE in note for note in searched(AdditiveSearcher(), space, plain, seed=seed).notes)


def test_few_bases_are_said_and_that_of_the_default_comes_first() -> None:
    space = space_of((4, 5), (4, 4))
    times = additive_times(space, 0)
    found = searched(AdditiveSearcher(), space, times)
    # By the defaults' independent values, and only in the design: checks and held-out points may be anything.
    bases = [trial.choice for trial in found.trace if trial.choice[2:] == (0, 0)][:4]
    assert bases[0] == (0, 0, 0, 0)
    assert len({base[:2] for base in bases}) == 4
    assert "4 of 20 combinations of the shared options have a base" in found.notes
    assert len(found.trace) == 4 * (1 + 3 + 3) + 5 + 10
    assert len({trial.choice[:2] for trial in found.trace}) == 4


def is_tied(choice: Choice) -> bool:
    """The first two independent axes: 1 of one needs at least 1 of the other."""
    return (choice[1] == 0) == (choice[2] == 0)


def test_relay_supports_rank_what_invalid_supports_leave_out() -> None:
    def constraint(choice: Choice) -> bool:
        return choice[2] != 2 or choice[1] >= 1

    space = space_of((2,), (3, 3, 4), constraint)
    times = additive_times(space, 3)
    relayed = searched(PAPER, space, times)
    assert "the predictions cover 100.0% of the valid choices" in relayed.notes
    assert "2 values were measured by relay supports" in relayed.notes
    assert relayed.best is not None
    assert relayed.best.time == min(times.values())
    # The partner of each pair was measured as a support anyway: one run more for each base.
    assert len(relayed.trace) == 2 * (1 + 2 + 2 + 3) + 5


def test_a_value_that_no_valid_pair_isolates_is_said() -> None:
    space = space_of((2,), (2, 2, 5, 5), is_tied)
    found = searched(PAPER, space, additive_times(space, 0))
    assert any(note.startswith("4 values could not be ranked") for note in found.notes)
    assert "the predictions cover 50.0% of the valid choices" in found.notes


def test_an_invalid_default_is_replaced_by_the_nearest_valid_choice() -> None:
    space = space_of((), (3, 3, 3, 3), lambda choice: choice[1] != 0)
    times = additive_times(space, 0)
    found = searched(PAPER, space, times)
    assert found.trace[0].choice == (0, 1, 0, 0)
    assert found.best is not None
    assert found.best.time == min(times.values())


def test_failed_runs_count_and_leave_the_ranking() -> None:
    space = space_of((2,), (3, 3, 3))
    times = additive_times(space, 0)
    failing = {choice: time for choice, time in times.items() if choice[1] != 1}
    evaluator = FunctionEvaluator(space, failing.get)
    found = PAPER.search(evaluator, Budget(), 0)
    assert len(found.trace) == evaluator.tried == 2 * (1 + 2 + 2 + 2) + 5
    assert [trial.choice[1] for trial in found.trace if trial.time is None] == [1, 1]
    assert found.best is not None
    assert found.best.time == min(failing.values())


def test_a_base_that_fails_is_replaced_by_the_next() -> None:
    space = space_of((2,), (3, 3, 3))
    times = additive_times(space, 0)
    first = (1, 0, 0, 0)
    evaluator = FunctionEvaluator(space, lambda choice: None if choice == first else times[choice])
    found = PAPER.search(evaluator, Budget(), 0)
    assert first in [trial.choice for trial in found.trace if trial.time is None]
    assert {trial.choice[0] for trial in found.trace if trial.time is not None} == {0, 1}
    assert not any("bases could not run" in note for note in found.notes)


def test_where_nothing_runs_that_is_said() -> None:
    found = AdditiveSearcher().search(FunctionEvaluator(space_of((3,), (4, 4, 4)), lambda _: None), Budget(), 0)
    assert (found.best, found.ending) == (None, "no base could run")
    assert "3 bases could not run, nor others near them" in found.notes
    assert len(found.trace) == 9


@pytest.mark.parametrize("searcher", [PAPER, AdditiveSearcher()])
def test_a_small_space_is_searched_exhaustively(searcher: AdditiveSearcher) -> None:
    space = space_of((3,), (2, 2), lambda choice: choice != (2, 1, 1))
    times = additive_times(space, 0)
    found = searched(searcher, space, times)
    assert sorted(trial.choice for trial in found.trace) == sorted(times)
    assert found.best is not None
    assert found.best.time == min(times.values())
    assert any("exhaustive search" in note for note in found.notes)


def test_the_budget_leaves_room_for_the_checks() -> None:
    times = additive_times(SPACE, 0)
    found = searched(PAPER, SPACE, times, Budget(trials=14))
    assert len(found.trace) == 14
    # Nine runs of the design: one base with all its supports, and a second one that begins.
    assert {trial.choice[0] for trial in found.trace[:7]} == {0}
    assert found.notes[-1].endswith(" on 5 held-out points")
    assert "bases that the budget did not allow: 1" in found.notes
    assert not any("could not run" in note for note in found.notes)


@pytest.mark.parametrize("trials", [1, 2, 3, 4, 6])
def test_a_tiny_budget_is_used(trials: int) -> None:
    found = searched(PAPER, SPACE, additive_times(SPACE, 0), Budget(trials=trials))
    assert len(found.trace) >= (trials + 1) // 2
    assert found.best is not None


def test_a_space_of_a_billion_choices_is_searched() -> None:
    space = space_of((), (10,) * 9)
    draw = random.Random(0)
    terms = [[draw.uniform(1, 10) for _ in range(10)] for _ in range(9)]
    evaluator = FunctionEvaluator(space, lambda choice: sum(t[i] for t, i in zip(terms, choice, strict=True)))
    found = AdditiveSearcher().search(evaluator, Budget(), 0)
    assert evaluator.tried == 1 + 9 * 9 + 5 + 10
    assert found.best is not None
    assert found.best.time == pytest.approx(sum(map(min, terms)))
