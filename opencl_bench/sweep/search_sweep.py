"""A sweep that a search leads: it measures what the search asks for, not every configuration.

    uncoarsened configurations ──▶ the best of them is the baseline
    choices of the search      ──▶ verified, timed against the baseline ──▶ store ──▶ the search asks for the next
    the best of these          ──▶ confirmed in several new processes: the numbers that are reported

A row that the store has already is not measured again, but counts as tried. The same seed asks for the same
configurations where the times are the same, so a search that was killed goes on where it was.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.search.evaluator import Budget
from coarsen.opencl_bench.search.spaces import ListedSpace, VariantSearchSpace, count_valid, listed
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.opencl_bench.sweep.confirmation import CANDIDATES, confirm, most_rows, to_confirm
from coarsen.opencl_bench.sweep.engine import name_of, opened_context
from coarsen.opencl_bench.sweep.live_evaluator import LiveEvaluator
from coarsen.opencl_bench.sweep.observer import (
    CollectingObserver,
    Remeasure,
    SearchProgress,
    SweepObserver,
    SweepSummary,
)
from coarsen.opencl_bench.sweep.out_of_bounds import explained
from coarsen.opencl_bench.sweep.plan import SweepPlan
from coarsen.opencl_bench.sweep.points import DeviceLimits, limits_of, uncoarsened_variants, variant_space
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.sweep.search_prior import with_prior
from coarsen.opencl_bench.sweep.search_request import Searched, SearchRequest
from coarsen.opencl_bench.sweep.selection import select_baseline
from coarsen.opencl_bench.sweep.sweep_context import SweepContext
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.transforms import DeviceKind, device_kind_of
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """A finished search: its rows, counted as those of a sweep, and what it found; None without a baseline."""

    sweep: SweepSummary
    searched: Searched | None


def search_sweep(
    plan: SweepPlan,
    request: SearchRequest,
    store: Store,
    observer: SweepObserver | None = None,
    again: Remeasure = Remeasure.NOTHING,
    pool: CompilePool | None = None,
) -> SearchSummary:
    """Search the space of a plan for its fastest configuration.

    Args:
        plan: what to measure, where and how; its space is not sampled.
        request: how to search.
        store: where the rows go, one committed transaction each.
        observer: sees trials and rows as they come.
        again: which stored rows are measured once more.
        pool: the processes that compile; some of its own if None.

    Raises:
        InvalidInputError: no such benchmark or preset, a kernel that doesn't compile, a space that is sampled, a
            budget that can't be kept in this space, a package is missing.
        RefusalError: the kernel can't be read at all.
        DeviceError: no such device; it can't be opened (any more).
    """
    start = time.perf_counter()
    benchmark = find_benchmark(name_of(plan))
    device = find_device(plan.device)
    space = search_space(benchmark, plan, limits_of(device), device_kind_of(device.device_types))
    collector = CollectingObserver(observer or SweepObserver())
    with opened_context(plan, benchmark, device, store, collector, again, pool) as context:
        problem, searched = _measured(context, benchmark, space, request)
    if isinstance(plan.benchmark, Path):
        problem = explained(problem, benchmark, Path(name_of(plan)), plan.preset, collector.rows)
    seconds = time.perf_counter() - start
    rows = tuple(collector.rows)
    summary = SweepSummary(benchmark.name, str(device), rows, collector.measured, seconds, problem)
    return SearchSummary(summary, searched)


def search_space(
    benchmark: Benchmark, plan: SweepPlan, limits: DeviceLimits, device_kind: DeviceKind = DeviceKind.ANY
) -> VariantSearchSpace:
    """Return the space of a plan as one to be searched.

    Raises:
        InvalidInputError: as `points` does; a space that is sampled.
    """
    if plan.space.sample is not None:
        raise InvalidInputError("a search draws from the whole space: leave the sample out, or give it a budget")
    variants = variant_space(benchmark, plan.preset, plan.space, limits, device_kind)
    return listed(VariantSearchSpace(variants))


def planned_search_rows(
    benchmark: Benchmark, plan: SweepPlan, limits: DeviceLimits, request: SearchRequest
) -> int:
    """Return how many rows a search will have, its trials apart where nothing limits their number.

    Raises:
        InvalidInputError: as `search_space` does; a budget that can't be kept in this space.
    """
    space = search_space(benchmark, plan, limits)
    most = _most_trials(space, request.budget)
    return _expected_rows(len(_launches(benchmark, space)), most, plan.confirms)


def _choices(space: VariantSearchSpace) -> int | None:
    """The number of valid choices; None of a space that does not list them."""
    return count_valid(space) if isinstance(space, ListedSpace) else None


def _most_trials(space: VariantSearchSpace, budget: Budget) -> int | None:
    limits = [budget.most_trials(space), _choices(space) if budget.seconds is None else None]
    return min((limit for limit in limits if limit is not None), default=None)


def _expected_rows(launches: int, most_trials: int | None, confirms: bool) -> int:
    confirmed = most_rows(most_trials or CANDIDATES, launches) if confirms else 0
    return launches + (most_trials or 0) + confirmed


def _launches(benchmark: Benchmark, space: VariantSearchSpace) -> list[Variant]:
    """The uncoarsened variants that may run."""
    every = uncoarsened_variants(benchmark, space.space)
    return [variant for variant in every if space.space.violation(variant) is None]


def _measured(
    context: SweepContext, benchmark: Benchmark, space: VariantSearchSpace, request: SearchRequest
) -> tuple[str, Searched | None]:
    """Select the baseline, search and confirm; why there is no baseline, and what was found where there is one."""
    launches = _launches(benchmark, space)
    measurer, observer, budget = RowMeasurer(context), context.observer, request.budget
    most = _most_trials(space, budget)
    observer.planned(benchmark.name, context.device, _expected_rows(len(launches), most, context.confirms))
    selected = select_baseline(measurer, launches)
    if selected.baseline is None:
        return selected.problem, None

    def trying(trial: int, seconds: float) -> None:
        observer.trying(SearchProgress(trial, most, seconds, budget.seconds))

    evaluator = LiveEvaluator(measurer, selected.baseline, space, trying)
    searcher = with_prior(request.searcher, request.prior, space, selected)
    found = searcher.search(evaluator, budget, request.seed)
    if context.confirms:
        confirm(measurer, to_confirm(evaluator.rows, selected.baseline), selected.baseline)
    best = space.variant(found.best.choice) if found.best is not None else None
    return "", Searched(searcher.name, found, best, _choices(space))
