"""The first stage of tuning over inputs: which versions are worth measuring on all of them.

    inputs ─▶ 8 that fill the space of features ─▶ a search on each ─▶ what was best on the others, tried on each
           ─▶ winners and their neighbours

A search starts from what was best on the nearest inputs that were searched before; what was found later is tried
on the earlier ones in the end. On a device every trial is a row of a version against the default one, which the
store keeps like all others: a search that was killed goes on where it was, and nothing is measured again when all
inputs have their turn.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs.drawing import farthest, places_of
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, opened_inputs, sweep_plan
from coarsen.opencl_bench.sweep.search_sweep import SearchRequest, search_points, search_space
from coarsen.tuning.engine.observer import SweepObserver
from coarsen.tuning.engine.plan import Space, limits_of
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.search.exhaustive import Parameters
from coarsen.tuning.search.guided import GuidedSearcher
from coarsen.tuning.search.searcher import Found, Searcher
from coarsen.tuning.search.spaces import Choice, SearchSpace, VariantSearchSpace, count_valid
from coarsen.tuning.store.database import Store
from coarsen.variant.transforms import device_kind_of
from coarsen.variant.variant import Variant

SEARCHED_INPUTS = 8
# Spaces of at most so many versions are measured whole: a search would hardly save anything.
SMALL_SPACE = 40
SHARE = 0.3
TRIALS = 200
# What was the fastest on the nearest so many inputs is tried first, and so many runs are kept for the end.
_WARM = 4


@dataclass(frozen=True, slots=True)
class StageOneSettings:
    """How the first stage searches.

    Attributes:
        searcher: searches on each input.
        seed: of the searches; each input has its own, whatever other inputs there are.
        limit: what a search may try on each input. One that says neither trials nor a share, and None: a share of
            the space's versions, all of a small space, and 200 of a space that is too large to be counted.
    """

    searcher: Searcher = field(default_factory=GuidedSearcher)
    seed: int = 0
    limit: Budget | None = None

    def budget(self, space: SearchSpace) -> Budget:
        """Return what a search of a space may try.

        Raises:
            InvalidInputError: the limit is a share of a space that is too large to be counted.
        """
        limit = self.limit or Budget()
        trials = limit.most_trials(space)
        if trials is None:
            count = count_valid(space)
            if count is None:
                trials = TRIALS
            elif count > SMALL_SPACE:
                trials = max(1, math.floor(SHARE * count))
        return replace(limit, trials=trials, share=None)


@dataclass(frozen=True, slots=True)
class StageOne:
    """What the first stage found.

    Attributes:
        found: the result of each search, by the number of the input, in the order of the searches.
        choices: winners, then those a step from a winner; in the order of the searches.
    """

    found: Mapping[int, Found]
    choices: tuple[Choice, ...]


def stage_one(
    inputs: Sequence[InputPoint],
    space_of: Callable[[int], SearchSpace],
    search: Callable[[int, SearchRequest], Found | None],
    settings: StageOneSettings | None = None,
    first: Sequence[Choice] = (),
) -> StageOne:
    """Search on some inputs for the versions to measure on all.

    Args:
        inputs: all that may be looked at; at least one.
        space_of: returns the space of an input, by its number. All spaces have the same axes.
        search: searches the space of an input; None where the default version does not run there.
        settings: how to search.
        first: what each search tries after what was best on the nearest inputs, before its own choices.

    Raises:
        InvalidInputError: there are no inputs, or a package is missing.
        DeviceError: nothing can be measured any more.
    """
    settings = settings or StageOneSettings()
    searched, places = spread(inputs, SEARCHED_INPUTS), places_of([each.features for each in inputs])
    spaces = {number: space_of(number) for number in searched}
    found: dict[int, Found] = {}

    def best_of_others(number: int) -> list[Choice]:
        """Return the fastest choices of the other inputs that were searched, the nearest input's first."""
        apart = ((places - places[number]) ** 2).sum(axis=1)
        others = sorted((each for each in found if each != number), key=apart.__getitem__)
        return [best.choice for other in others if (best := found[other].best) is not None]

    for number in searched:
        budget = _without_last(settings.budget(spaces[number]))
        seed = settings.seed ^ zlib.crc32(inputs[number].name.encode())
        warm = (*best_of_others(number)[:_WARM], *first)
        request = SearchRequest(settings.searcher, budget, seed, first=warm)
        if (result := search(number, request)) is not None:
            found[number] = result
    winners = {number: best_of_others(number) for number in found}
    for number, own in found.items():
        fresh = _fresh(own, winners[number], settings.budget(spaces[number]).trials, spaces[number])
        request = SearchRequest(settings.searcher, Budget(trials=max(1, len(fresh))), settings.seed, first=fresh)
        if fresh and (again := search(number, request)) is not None:
            found[number] = own.with_trials((*own.trace, *again.trace))
    best = [(number, each.best.choice) for number, each in found.items() if each.best is not None]
    near = (step for number, choice in best for step in Parameters(spaces[number]).steps(choice))
    return StageOne(found, tuple(dict.fromkeys((*(choice for _, choice in best), *near))))


def _fresh(own: Found, best: Sequence[Choice], most: int | None, space: SearchSpace) -> list[Choice]:
    """The choices that a search did not try, as many as its budget leaves; none where everything was tried."""
    tried = {trial.choice for trial in own.trace}
    fresh = [choice for choice in dict.fromkeys(best) if choice not in tried and space.is_valid(choice)]
    return [] if most is None else fresh[: most - len(tried)]


def spread(inputs: Sequence[InputPoint], count: int) -> tuple[int, ...]:
    """Return the numbers of inputs that fill the space of features, the most central one first.

    Raises:
        InvalidInputError: there are no inputs.
    """
    if not inputs:
        raise InvalidInputError("there are no inputs to search on")
    places = places_of([point.features for point in inputs])
    return farthest(places, int(((places - np.median(places, axis=0)) ** 2).sum(axis=1).argmin()), count)


def _without_last(budget: Budget) -> Budget:
    """Keep the runs back that are made in the end: a fifth at most."""
    if budget.trials is None:
        return budget
    return replace(budget, trials=budget.trials - min(_WARM, budget.trials // 5))


def search_versions(
    plan: VersionsPlan,
    inputs: Sequence[InputPoint],
    space: Space,
    store: Store,
    settings: StageOneSettings | None = None,
    observer: SweepObserver | None = None,
    pool: CompilePool | None = None,
) -> tuple[Variant, ...]:
    """Search on some inputs for the versions that are worth measuring at all of them.

    Args:
        plan: where and how; each search tries its `versions` first. `presets` are not looked at.
        inputs: all that there are; the name of each is its preset.
        space: what to search.
        store: where the rows go, one committed transaction each.
        settings: how to search.
        observer: sees rows as they come.
        pool: the processes that compile and measure; some of its own if None.

    Returns:
        The versions, the default first.

    Raises:
        InvalidInputError: no such benchmark or preset, no inputs, a space that is sampled or lists its variants, a
            package is missing.
        DeviceError: no such device; it can't be opened (any more).
    """
    if not inputs:
        raise InvalidInputError("there are no inputs to search on")
    presets = tuple(point.name for point in inputs)
    with opened_inputs(replace(plan, presets=presets), store, pool) as (benchmark, device, opened):
        limits, kind = limits_of(device), device_kind_of(device.device_types)

        def space_at(preset: str) -> VariantSearchSpace:
            return search_space(benchmark, replace(sweep_plan(plan, preset), space=space), limits, kind)

        first = space_at(presets[0])

        def space_of(number: int) -> VariantSearchSpace:
            # The axes are those of the first input: presets differ in which local size comes first.
            variants = space_at(presets[number]).space
            return VariantSearchSpace(replace(variants, dimensions=first.space.dimensions))

        def search(number: int, request: SearchRequest) -> Found | None:
            with opened(presets[number], observer or SweepObserver(), Remeasure.NOTHING) as context:
                _, searched = search_points(context, benchmark, space_of(number), request)
            return None if searched is None else searched.found

        known = []
        for version in plan.versions:
            # Those that can't run at the first input may be the best at others.
            with suppress(InvalidInputError):
                known.append(first.choice_of(version))
        result = stage_one(inputs, space_of, search, settings, known)
    return tuple(dict.fromkeys((plan.default, *map(first.variant, result.choices))))
