"""A search that measures: rows of the store, none measured twice, the same choices for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.search_sweep import SEARCHERS, SearchRequest, planned_search_rows, search_space
from coarsen.opencl_bench.sweep.several import SweepResult, sweep
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.tuning.engine.observer import SearchProgress, SweepObserver
from coarsen.tuning.engine.plan import Space, SweepPlan, limits_of
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.records.measurement import Invalidity, Role
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.store.database import Store, open_store
from coarsen.variant.space import TransformChoices
from coarsen.variant.variant import Variant
from tests.opencl_bench.sweep.small_sweep import small_plan

DEVICE = "intel"
SPACE = Space(
    factors=(1, 2, 4),
    strides=(1,),
    dimensions=(0, 1),
    local_sizes=((8, 8),),
    at_once=2,
    transforms=TransformChoices(wide_accesses=(False, True)),
)
CHOICES = 1 + 2 * (9 - 1)


def plan(confirms: bool = False) -> SweepPlan:
    return small_plan(DEVICE, space=SPACE, confirms=confirms)


def at_random(trials: int, seed: int = 1) -> SearchRequest:
    return SearchRequest(SEARCHERS["random"], Budget(trials=trials), seed)


class Watcher(SweepObserver):
    def __init__(self) -> None:
        self.trials: list[str] = []
        self.compiled: list[int] = []

    def trying(self, progress: SearchProgress) -> None:
        self.trials.append(str(progress))

    def compiling(self, configurations: int) -> None:
        self.compiled.append(configurations)


def search_sweep(
    wanted: SweepPlan,
    request: SearchRequest,
    store: Store,
    observer: SweepObserver | None = None,
    pool: CompilePool | None = None,
) -> SweepResult:
    return sweep(wanted, store, observer, pool=pool, request=request)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "results.sqlite")) as opened:
        yield opened


def test_a_search_goes_on_from_the_store_and_measures_nothing_twice(store: Store, pool: CompilePool) -> None:
    first, watcher = search_sweep(plan(), at_random(3), store, pool=pool), Watcher()
    again = search_sweep(plan(), at_random(5), store, watcher, pool=pool)
    assert first.searched is not None and again.searched is not None
    before, after = first.searched.found.trace, again.searched.found.trace
    assert [len(before), len(after)] == [3, 5]
    assert [(trial.choice, trial.time) for trial in after[:3]] == [(trial.choice, trial.time) for trial in before]
    assert [trial.seconds > 0 for trial in (*before, *after)] == [True] * 3 + [False] * 3 + [True] * 2
    assert (len(first.measured), len(again.measured), store.count()) == (1 + 3, 2, 1 + 5)
    assert watcher.trials == [f"trial {number} of 5" for number in range(1, 6)]
    assert watcher.compiled == [2], "a round is compiled before it is measured, without what the store has"


def test_trials_are_rows_over_the_baseline(store: Store, pool: CompilePool) -> None:
    request = SearchRequest(SEARCHERS["exhaustive"], Budget(trials=4))
    summary = search_sweep(plan(), request, store, pool=pool)
    space = search_space(SUITE["mt"], plan(), limits_of(find_device(DEVICE)))
    rows = [row for row in summary.rows if row.role is Role.COMPARISON]
    assert summary.searched is not None and len(rows) == 4
    for trial, row in zip(summary.searched.found.trace, rows, strict=True):
        expected = space.variant(trial.choice)
        assert (row.candidate.coarsenings, row.candidate.local_size) == (expected.coarsenings, expected.local_size)
        assert trial.time == median(row.nanoseconds) / median(row.baseline_nanoseconds)
    assert summary.searched.best in {row.candidate for row in rows}
    assert (summary.searched.tried, summary.searched.failed, summary.searched.choices) == (4, 0, CHOICES)
    assert summary.searched.share == 4 / CHOICES


def test_the_best_is_confirmed(store: Store, pool: CompilePool) -> None:
    summary = search_sweep(plan(confirms=True), at_random(2, seed=3), store, pool=pool)
    roles = Counter(row.role for row in summary.rows)
    expected = planned_search_rows(SUITE["mt"], plan(confirms=True), limits_of(find_device(DEVICE)), at_random(2))
    assert roles == {Role.SELECTION: 1, Role.COMPARISON: 2, Role.CONFIRMATION: 3 * (2 + 1)}
    assert sum(roles.values()) == expected


def test_rows_of_searches_are_rows_of_sweeps(store: Store, pool: CompilePool) -> None:
    searched = search_sweep(plan(), at_random(3), store, pool=pool).rows
    swept = search_sweep(plan(), SearchRequest(SEARCHERS["exhaustive"], Budget()), store, pool=pool)
    assert {row.key for row in searched} <= {row.key for row in swept.rows}
    assert swept.searched is not None and swept.searched.tried == CHOICES
    assert {row.invalidity for row in swept.rows} == {Invalidity.CORRECT}


def test_a_space_that_is_sampled_is_not_searched(store: Store) -> None:
    sampled = replace(plan(), space=replace(SPACE, sample=3))
    with pytest.raises(InvalidInputError, match="a search draws from the whole space"):
        search_sweep(sampled, at_random(3), store)


def test_a_space_that_lists_its_variants_is_not_searched(store: Store) -> None:
    listed = replace(plan(), space=Space(variants=(Variant((8, 8)),)))
    with pytest.raises(InvalidInputError, match="a grid lists launches"):
        search_sweep(listed, at_random(3), store)
    assert not list(store.measurements())
