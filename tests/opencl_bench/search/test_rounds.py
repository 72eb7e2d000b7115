"""Searchers announce what they try next, and what they try does not depend on whether anybody listens."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest

from coarsen.opencl_bench.sweep.search_sweep import SEARCHERS
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.search.guided import GuidedSearcher
from coarsen.tuning.search.searcher import Searcher
from coarsen.tuning.search.spaces import Choice, SearchSpace, valid_choices
from tests.opencl_bench.search.tables import FunctionEvaluator, additive_times, space_of

SPACE = space_of((3, 2, 4, 3, 3), lambda choice: sum(choice) % 4 != 3)
TIMES = additive_times(SPACE, 7, 0.1)
QUICK = GuidedSearcher(trees=10)
ALL = [*(searcher for searcher in SEARCHERS.values() if searcher.name != "guided"), QUICK]


class Listener(FunctionEvaluator):
    """Keeps what it was asked to prepare, and what of that had been tried by then."""

    def __init__(self, space: SearchSpace, time_of: Callable[[Choice], float | None]) -> None:
        super().__init__(space, time_of)
        self.prepared: list[Choice] = []
        self.too_late: set[Choice] = set()

    def _prepare(self, choices: Sequence[Choice]) -> None:
        self.prepared += choices
        self.too_late |= {trial.choice for trial in self.trace} & set(choices)


@pytest.mark.parametrize("searcher", ALL, ids=lambda searcher: searcher.name)
def test_what_is_prepared_is_tried_later_and_changes_nothing(searcher: Searcher) -> None:
    listener = Listener(SPACE, TIMES.__getitem__)
    found = searcher.search(listener, Budget(trials=40), 3)
    assert found.trace == searcher.search(FunctionEvaluator(SPACE, TIMES.__getitem__), Budget(trials=40), 3).trace
    tried = {trial.choice for trial in found.trace}
    # All but bases, of which there are six, which are tried one by one.
    assert len(tried - set(listener.prepared)) <= 6
    assert not listener.too_late
    assert all(SPACE.is_valid(choice) for choice in listener.prepared)


def test_no_more_is_prepared_than_the_budget_allows() -> None:
    listener = Listener(SPACE, TIMES.__getitem__)
    SEARCHERS["random"].search(listener, Budget(trials=7), 0)
    assert listener.prepared == [trial.choice for trial in listener.trace]


def test_what_was_tried_is_not_prepared_again() -> None:
    listener = Listener(SPACE, TIMES.__getitem__)
    first, second, *_ = valid_choices(SPACE)
    budgeted = listener.keep_to(Budget())
    budgeted.evaluate(first)
    budgeted.prepare([first, second, second])
    listener.keep_to(Budget()).prepare([first])
    assert listener.prepared == [second]


def test_rounds_are_prepared_one_at_a_time() -> None:
    seen: list[tuple[Choice, int]] = []

    def time_of(choice: Choice) -> float:
        seen.append((choice, len(listener.prepared)))
        return 1.0

    listener = Listener(SPACE, time_of)
    choices = list(itertools.islice(valid_choices(SPACE), 5))
    trials = listener.keep_to(Budget()).try_all(choices, size=2)
    assert [trial.choice for trial in trials] == choices
    assert seen == list(zip(choices, (2, 2, 4, 4, 5), strict=True))
