"""The first stage of tuning over inputs: which versions are worth measuring on all of them.

    inputs ─▶ 8 that fill the space of features ─▶ a search on each ─▶ what was best on the others, tried on each
           ─▶ winners and their neighbours, the default

A search starts from what was best on the nearest inputs that were searched before; what was found later is tried
on the earlier ones in the end. The same code runs on a device and on stored times (`live_stage_one.py`,
`stage_one_replay.py`); evaluators are all that it sees of either.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.nearest import coordinates, scales_of
from coarsen.models.inputs.times import InputPoint
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.search.evaluator import Budget, BudgetedEvaluator, BudgetSpentError, Evaluator
from coarsen.opencl_bench.search.guided import GuidedSearcher
from coarsen.opencl_bench.search.parameters import Parameters
from coarsen.opencl_bench.search.searcher import Found, Searcher
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace, count_valid

SEARCHED_INPUTS = 8
# Spaces of at most so many versions are measured whole: a search would hardly save anything.
SMALL_SPACE = 40
SHARE = 0.3
# What was the fastest on the nearest so many inputs is tried first, and so many runs are kept for the end.
_WARM = 4


@dataclass(frozen=True, slots=True)
class StageOneSettings:
    """How the first stage searches.

    Attributes:
        searcher: searches on each input.
        inputs: on how many; on all where there are no more.
        share: the share of a space's versions that a search may try; a small space is tried whole.
        trials: the most that a search may try where a space is too large to be counted.
        is_warm: whether searches start from what was best on the nearest inputs, and what was best on others is
            tried in the end. Not for the staircase, which has a start of its own.
        seed: of the searches; each input has its own, whatever other inputs there are.
        limit: what a search may try on each input, in place of `share` and `trials`; what it leaves open has no
            limit. None: these two say it.
    """

    searcher: Searcher = field(default_factory=GuidedSearcher)
    inputs: int = SEARCHED_INPUTS
    share: float = SHARE
    trials: int = 200
    is_warm: bool = True
    seed: int = 0
    limit: Budget | None = None

    def __post_init__(self) -> None:
        if self.inputs < 1:
            raise InvalidInputError(f"the first stage searches on at least one input, not on {self.inputs}")

    def budget(self, space: SearchSpace) -> Budget:
        """Return what a search of a space may try.

        Raises:
            InvalidInputError: the limit is a share of a space that is too large to be counted.
        """
        if self.limit is not None:
            return replace(self.limit, trials=self.limit.most_trials(space), share=None)
        count = count_valid(space)
        if count is None:
            return Budget(trials=self.trials)
        return Budget() if count <= SMALL_SPACE else Budget(trials=max(1, math.floor(self.share * count)))


@dataclass(frozen=True, slots=True)
class StageOne:
    """What the first stage found.

    Attributes:
        searched: the numbers of the inputs that were searched on, in their order.
        found: the result of each search.
        choices: winners, those a step from a winner, and the default one; in the order of the searches.
    """

    searched: tuple[int, ...]
    found: tuple[Found, ...]
    choices: tuple[Choice, ...]

    @property
    def trials(self) -> int:
        """Return how many versions were tried, over all searches."""
        return sum(len(found.trace) for found in self.found)


def stage_one(
    inputs: Sequence[InputPoint],
    evaluator_of: Callable[[int], Evaluator],
    default: Choice | None,
    settings: StageOneSettings | None = None,
) -> StageOne:
    """Search on some inputs for the versions to measure on all.

    Args:
        inputs: all that may be looked at; at least one.
        evaluator_of: tries versions on an input, by its number. All evaluators' spaces have the same axes.
        default: the choice of the default version; None where the space hasn't got it.
        settings: how to search.

    Raises:
        InvalidInputError: there are no inputs, or a package is missing.
        DeviceError: nothing can be measured any more.
    """
    settings = settings or StageOneSettings()
    searches = _Searches(inputs, evaluator_of, settings)
    searched = spread(inputs, settings.inputs)
    for number in searched:
        searches.search(number)
    if settings.is_warm:
        winners = dict(searches.found)
        for number in searched:
            searches.try_others(number, winners)
    union: dict[Choice, None] = {} if default is None else {default: None}
    for number, found in searches.found.items():
        union |= dict.fromkeys(_worth_measuring(searches.spaces[number], found))
    return StageOne(tuple(searched), tuple(searches.found.values()), tuple(union))


class _Searches:
    """The searches of some inputs, one after the other.

    Args:
        inputs: all that may be looked at.
        evaluator_of: tries versions on an input, by its number.
        settings: how to search.
    """

    def __init__(
        self, inputs: Sequence[InputPoint], evaluator_of: Callable[[int], Evaluator], settings: StageOneSettings
    ) -> None:
        self._inputs = inputs
        self._evaluator_of = evaluator_of
        self._settings = settings
        self._places = _places(inputs)
        self.found: dict[int, Found] = {}
        self.spaces: dict[int, SearchSpace] = {}

    def search(self, number: int) -> None:
        """Search on an input; a warm search starts from what was found on others."""
        evaluator = self._evaluator_of(number)
        budget = self._settings.budget(evaluator.space)
        if self._settings.is_warm:
            budget = _without_last(budget)
            _try_first(BudgetedEvaluator(evaluator, budget), self._nearest(number, self.found)[:_WARM])
        seed = self._settings.seed ^ zlib.crc32(self._inputs[number].name.encode())
        self.spaces[number] = evaluator.space
        self.found[number] = self._settings.searcher.search(evaluator, budget, seed)

    def try_others(self, number: int, winners: Mapping[int, Found]) -> None:
        """Try on an input what was best on the others, the nearest first, as far as its budget goes."""
        own, space = self.found[number], self.spaces[number]
        most = self._settings.budget(space).trials
        tried = {trial.choice for trial in own.trace}
        best = [found.best.choice for found in self._nearest(number, winners) if found.best is not None]
        fresh = [choice for choice in dict.fromkeys(best) if choice not in tried and space.is_valid(choice)]
        if most is None or not fresh[: most - len(tried)]:
            return
        evaluator = self._evaluator_of(number)
        trials = [evaluator.evaluate(choice) for choice in fresh[: most - len(tried)]]
        self.found[number] = own.with_trials((*own.trace, *trials))

    def _nearest(self, number: int, found: Mapping[int, Found]) -> list[Found]:
        """The searches of other inputs, the nearest first."""
        here = self._places[number]
        others = sorted((each for each in found if each != number), key=lambda n: _distance(self._places[n], here))
        return [found[other] for other in others]


def spread(inputs: Sequence[InputPoint], count: int) -> tuple[int, ...]:
    """Return the numbers of inputs that fill the space of features, the most central one first.

    Each further one is the farthest from those before (Gonzalez 1985); of equally far ones the first.

    Raises:
        InvalidInputError: there are no inputs.
    """
    if not inputs:
        raise InvalidInputError("there are no inputs to search on")
    places = _places(inputs)
    middle = np.median(places, axis=0)
    chosen = [int(((places - middle) ** 2).sum(axis=1).argmin())]
    while len(chosen) < min(count, len(inputs)):
        gaps = ((places[:, None] - places[None, chosen]) ** 2).sum(axis=2).min(axis=1)
        # What is chosen is never the farthest, even from inputs with the same features.
        gaps[chosen] = -1.0
        chosen.append(int(gaps.argmax()))
    return tuple(chosen)


def _places(inputs: Sequence[InputPoint]) -> Array:
    """The places of inputs, (n, features): in octaves where these are above 0, each over its range."""
    names = sorted(inputs[0].features)
    values = np.array([[point.features[name] for name in names] for point in inputs], dtype=np.float64)
    values = values.reshape(len(inputs), len(names))
    scales = scales_of(names, values)
    return np.array([coordinates(scales, row) for row in values], dtype=np.float64).reshape(values.shape)


def _distance(one: Array, other: Array) -> float:
    return float(((one - other) ** 2).sum())


def _without_last(budget: Budget) -> Budget:
    """Keep the runs back that are made in the end: a fifth at most."""
    if budget.trials is None:
        return budget
    return replace(budget, trials=budget.trials - min(_WARM, budget.trials // 5))


def _try_first(evaluator: BudgetedEvaluator, searches: Sequence[Found]) -> None:
    """Try what other inputs' searches found, as far as it is valid here and the budget goes."""
    try:
        for found in searches:
            if found.best is not None and evaluator.space.is_valid(found.best.choice):
                evaluator.evaluate(found.best.choice)
    except BudgetSpentError:
        return


def _worth_measuring(space: SearchSpace, found: Found) -> list[Choice]:
    if found.best is None:
        return []
    return [found.best.choice, *Parameters(space).steps(found.best.choice)]
