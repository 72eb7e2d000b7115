"""A search that leads a sweep: it measures what the search asks for, not every configuration.

    choices of the search ──▶ verified, timed against the baseline ──▶ store ──▶ the search asks for the next

A row that the store has already is not measured again, but counts as tried. The same seed asks for the same
configurations where the times are the same, so a search that was killed goes on where it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.errors import InvalidInputError
from coarsen.tuning.engine.live_evaluator import LiveEvaluator
from coarsen.tuning.engine.observer import Searched, SearchProgress
from coarsen.tuning.engine.plan import DeviceLimits, SweepPlan, uncoarsened_variants, variant_space
from coarsen.tuning.engine.row_measurer import RowMeasurer, SweepContext
from coarsen.tuning.engine.rows import CANDIDATES, Selected, measure_best, most_rows
from coarsen.tuning.records.measurement import Measurement
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.search.exhaustive import ExhaustiveSearcher, RandomSearcher, StaircaseSearcher
from coarsen.tuning.search.guided import GuidedSearcher
from coarsen.tuning.search.searcher import Found, Searcher
from coarsen.tuning.search.spaces import Choice, VariantSearchSpace, count_valid
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant

SEARCHERS: Mapping[str, Searcher] = MappingProxyType(
    {
        searcher.name: searcher
        for searcher in (GuidedSearcher(), StaircaseSearcher(), RandomSearcher(), ExhaustiveSearcher())
    }
)
"""The searchers, by the names by which a user asks for them."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The way to search a space.

    Attributes:
        searcher: asks for configurations.
        budget: what it may try; what the baseline is selected from, and confirmations, count for nothing.
        seed: of the searcher.
        first: the choices that are tried before the searcher's own.
    """

    searcher: Searcher
    budget: Budget
    seed: int = 0
    first: Sequence[Choice] = ()


def search_points(
    context: SweepContext, benchmark: Benchmark, space: VariantSearchSpace, request: SearchRequest
) -> tuple[str, Searched | None]:
    """Search a space for its fastest configuration.

    Returns:
        Why there is no baseline, and what was found where there is one.

    Raises:
        DeviceError, InvalidInputError: as `measure_best`; also for a budget that can't be kept in this space.
    """
    launches, budget, found = _launches(benchmark, space), request.budget, list[Found]()
    most = _most_trials(space, budget)

    def trying(trial: int, seconds: float) -> None:
        context.observer.trying(SearchProgress(trial, most, seconds, budget.seconds))

    def propose(measurer: RowMeasurer, selected: Selected) -> Sequence[Measurement]:
        assert selected.baseline is not None
        evaluator = LiveEvaluator(measurer, selected.baseline, space, trying)
        found.append(request.searcher.search(evaluator, budget, request.seed, request.first))
        return evaluator.rows

    rows = _expected_rows(len(launches), most, context.confirms)
    problem = measure_best(context, benchmark.name, launches, rows, propose)
    if not found:
        return problem, None
    best = found[0].best
    chosen = space.variant(best.choice) if best is not None else None
    return problem, Searched(request.searcher.name, found[0], chosen, _choices(space))


def search_space(
    benchmark: Benchmark, plan: SweepPlan, limits: DeviceLimits, device_kind: DeviceKind = DeviceKind.ANY
) -> VariantSearchSpace:
    """Return the space of a plan as one to be searched.

    Raises:
        InvalidInputError: as `points` does; a space that is sampled, or lists its variants.
    """
    if plan.space.sample is not None:
        raise InvalidInputError("a search draws from the whole space: leave the sample out, or give it a budget")
    if plan.space.variants is not None:
        raise InvalidInputError("a search combines options, and a grid lists launches: leave one of them out")
    variants = variant_space(benchmark, plan.preset, plan.space, limits, device_kind)
    return VariantSearchSpace(variants)


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
    return None if space.listed is None else count_valid(space)


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
