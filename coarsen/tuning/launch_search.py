"""The search of one launch's variants in little time.

    starting points ─▶ model of log times ─▶ of the fastest ones' neighbours, those that it expects most of ──┐
                             ▲────────────────────── fitted again on everything measured ─────────────────────┘

As guided search (`search/guided.py`), with a start and a model that know what the axes of such a space mean, and
with an end in seconds. What is measured next is compiled together, on all cores.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import DeviceError
from coarsen.tuning.engine.live_evaluator import relative_time
from coarsen.tuning.engine.row_measurer import RowMeasurer
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.search.evaluator import (
    Budget,
    BudgetedEvaluator,
    BudgetSpentError,
    Evaluator,
    Trial,
)
from coarsen.tuning.search.exhaustive import SPENT
from coarsen.tuning.search.searcher import fastest, time_of
from coarsen.tuning.search.spaces import Choice, VariantSearchSpace, neighbours
from coarsen.tuning.search.surrogate import Candidates, weight_of
from coarsen.variant.coarsening import DIMENSIONS, Coarsening, Level
from coarsen.variant.variant import LocalSize, Variant

# So many are compiled and measured before the model is fitted again: twice the cores of a small machine.
ROUND_SIZE = 4
# Rounds without gain that end a search.
PATIENCE = 6
# A gain that counts as one: less is what a clock finds in the same code.
_LEAST_GAIN = 0.99
_DEVIATIONS = 0.7
# The model ranks the neighbours of so many, and of so many others: a whole space would take it seconds.
_FASTEST = 5
_OTHERS = 3
TIME_OVER = "the time was over"
NOTHING_LEFT = "nothing was left to try"

# Makes choices ready to be measured.
Prepare = Callable[[Sequence[Choice]], None]


class Model(Protocol):
    """Learns what was measured."""

    def lower_bounds(
        self, trials: Sequence[Trial], choices: Sequence[Choice], deviations: float
    ) -> NDArray[np.float64]:
        """Return, of the log times of choices, what they hardly are below, given what was tried."""
        ...


@dataclass(frozen=True, slots=True)
class LaunchSearch:
    """The search of one launch.

    Attributes:
        evaluator: the only way to a time.
        model: learns what was measured.
        prepare: compiles choices that will be tried next.
        is_over: tells that no time is left.
        seed: of the draws.
        most_trials: the most that may be tried; None for no limit but the time.
    """

    evaluator: Evaluator
    model: Model
    prepare: Prepare
    is_over: Callable[[], bool]
    seed: int = 0
    most_trials: int | None = None

    def run(self, starts: Iterable[Choice]) -> str:
        """Search from some choices; return why it ended, in a few words.

        Raises:
            DeviceError: nothing can be measured any more.
        """
        budgeted = BudgetedEvaluator(self.evaluator, Budget(trials=self.most_trials))
        try:
            return self._try(budgeted, list(starts)) or self._rounds(budgeted)
        except BudgetSpentError:
            return SPENT

    def _rounds(self, evaluator: BudgetedEvaluator) -> str:
        draw = random.Random(self.seed)
        vain = 0
        while vain < PATIENCE:
            before = _best(evaluator)
            proposed = self._proposed(evaluator, _fresh(evaluator, draw), draw)
            if not proposed:
                return NOTHING_LEFT
            if ending := self._try(evaluator, proposed):
                return ending
            vain = vain + 1 if _best(evaluator) > before * _LEAST_GAIN else 0
        return f"{PATIENCE} rounds brought no gain"

    def _proposed(
        self, evaluator: BudgetedEvaluator, fresh: Sequence[Choice], draw: random.Random
    ) -> list[Choice]:
        if not fresh or fastest(evaluator.trace) is None:
            return list(fresh[:ROUND_SIZE])
        bounds = self.model.lower_bounds(evaluator.trace, fresh, _DEVIATIONS)
        return [fresh[number] for number in np.argsort(bounds, kind="stable")[:ROUND_SIZE]]

    def _try(self, evaluator: BudgetedEvaluator, choices: Sequence[Choice]) -> str:
        """Try choices, some at a time; return why the search is over, empty where it is not."""
        for first in range(0, len(choices), ROUND_SIZE):
            batch = choices[first : first + ROUND_SIZE]
            if self.is_over():
                return TIME_OVER
            self.prepare(batch)
            for choice in batch:
                if self.is_over():
                    return TIME_OVER
                evaluator.evaluate(choice)
        return ""


def _best(evaluator: BudgetedEvaluator) -> float:
    best = fastest(evaluator.trace)
    return best.time if best is not None and best.time is not None else float("inf")


def _fresh(evaluator: BudgetedEvaluator, draw: random.Random) -> list[Choice]:
    """Return choices that were not tried, near the fastest and near some others, in random order.

    Where nothing ran yet, and where all of these were tried, any choices.
    """
    ran = sorted((trial for trial in evaluator.trace if trial.time is not None), key=time_of)
    others = ran[_FASTEST:]
    around = (*ran[:_FASTEST], *draw.sample(others, min(_OTHERS, len(others))))
    near = dict.fromkeys(choice for trial in around for choice in neighbours(evaluator.space, trial.choice))
    found = [choice for choice in near if not evaluator.has_tried(choice)]
    if not found:
        return Candidates(evaluator).fresh(draw)
    draw.shuffle(found)
    return found


# A model of the log times of a launch's variants, for the few trials that there is time for.
#
# A Gaussian process: main effects of the coarsenings and of the local size, whose curves are parabolas, and what
# is left, which is alike for variants alike. The scales of all are set beforehand: so few numbers can't tell them.

# Standard deviations, of log times.
_NOISE = 0.08
_LOCAL = 0.6
# Doublings after which what is left is another: of items and groups merged, of extents of the local size.
_DOUBLINGS = 1.5
_LONG_DOUBLINGS = 2.0


@dataclass(frozen=True, slots=True)
class _Facts:
    """Logarithms to base 2, for each dimension: factors of work-items and of work-groups, the local size over the
    launch's own, and the local size itself; then whether strides and wide accesses are used, arguments are
    taken as distinct, and how many arrays lie otherwise."""

    items: tuple[float, ...]
    groups: tuple[float, ...]
    shape: tuple[float, ...]
    extents: tuple[float, ...]
    strided: float
    wide: float
    distinct: float
    arrays: float

    @property
    def merged(self) -> float:
        """The logarithm of the number of work-items merged into one."""
        return sum(self.items) + sum(self.groups)


class LaunchModel:
    """Predicts log times from what was tried.

    Args:
        variant_of: returns the variant that a choice stands for.
        own: the launch's local size; empty where it is left open.
        expected: the log time that is expected of a variant; it counts as far as what was measured confirms it.
    """

    def __init__(
        self, variant_of: Callable[[Choice], Variant], own: LocalSize, expected: Callable[[Variant], float]
    ) -> None:
        self._variant_of = variant_of
        self._own = own
        self._expected = expected

    def lower_bounds(
        self, trials: Sequence[Trial], choices: Sequence[Choice], deviations: float
    ) -> NDArray[np.float64]:
        """Return mean − `deviations` · σ of the log times of choices, given what was tried.

        What failed counts as slow as the slowest that ran, so that the search keeps away from it.

        Args:
            trials: at least one with a time.
            choices: what to predict.
            deviations: of how many standard deviations the bound is below the mean.
        """
        slowest = max(trial.time for trial in trials if trial.time is not None)
        times = np.array([math.log(slowest if trial.time is None else trial.time) for trial in trials])
        tried, asked = ([self._variant_of(c) for c in some] for some in ((t.choice for t in trials), choices))
        expected, expected_of_asked = (np.array([self._expected(v) for v in some]) for some in (tried, asked))
        ran = [trial.time is not None for trial in trials]
        weight = weight_of(expected[ran], times[ran])
        known, wanted = self._columns(tried), self._columns(asked)
        covariance = _covariance(known, known) + _NOISE**2 * np.eye(len(tried))
        crossed = _covariance(wanted, known)
        solved = np.linalg.solve(covariance, np.column_stack([times - weight * expected, crossed.T]))
        own_variance = np.sum(wanted[0] ** 2, axis=1) + _LOCAL**2
        variance = np.maximum(own_variance - np.sum(crossed * solved[:, 1:].T, axis=1), 0.0)
        mean = crossed @ solved[:, 0] + weight * expected_of_asked
        bounds: NDArray[np.float64] = mean - deviations * np.sqrt(variance)
        return bounds

    def _columns(self, variants: Sequence[Variant]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The effects of variants, each by its standard deviation; and where they lie, to tell which are alike."""
        facts = [self._facts(variant) for variant in variants]
        return np.array([list(_effects(each)) for each in facts]), np.array([_place(each) for each in facts])

    def _facts(self, variant: Variant) -> _Facts:
        items, groups = [0.0] * DIMENSIONS, [0.0] * DIMENSIONS
        for coarsening in variant.coarsenings:
            factors = groups if coarsening.level is Level.GROUP else items
            factors[coarsening.dimension] += math.log2(coarsening.factor)
        extents = _logarithms(variant.local_size or self._own)
        own = _logarithms(self._own or variant.local_size)
        return _Facts(
            tuple(items),
            tuple(groups),
            tuple(extent - usual for extent, usual in zip(extents, own, strict=True)),
            extents,
            float(any(coarsening.stride > 1 for coarsening in variant.coarsenings)),
            float(variant.is_coarsened and variant.transforms.wide_accesses),
            float(variant.is_coarsened and variant.transforms.distinct),
            float(len(variant.arrays)),
        )


def _logarithms(sizes: LocalSize) -> tuple[float, ...]:
    """One for each dimension that a launch may have, so that those of variants with an open local size compare."""
    return tuple(math.log2(size) for size in (*sizes, *[1] * (DIMENSIONS - len(sizes))))


def _effects(facts: _Facts) -> Iterator[float]:
    merged, whole = facts.merged, sum(facts.shape)
    yield 1.0
    yield 0.5 * (merged > 0)
    yield 0.3 * merged
    yield 0.1 * merged**2
    yield 0.3 * facts.wide
    yield 0.1 * facts.wide * merged
    yield 0.5 * facts.distinct
    yield 0.1 * facts.distinct * merged
    yield 0.5 * facts.arrays
    yield 0.1 * facts.arrays * merged
    yield 0.3 * facts.strided
    yield 0.3 * whole
    yield 0.1 * whole**2
    for place, (items, groups, shape) in enumerate(zip(facts.items, facts.groups, facts.shape, strict=True)):
        yield from (0.5 * items, 0.15 * items**2, 0.3 * groups, 0.1 * groups**2, 0.5 * shape, 0.2 * shape**2)
        yield from (0.1 * items * groups, 0.15 * items * shape, 0.1 * groups * shape)
        for other in range(place):
            yield 0.15 * items * facts.items[other]
            yield 0.15 * groups * facts.items[other]
            yield 0.15 * items * facts.groups[other]
            yield 0.2 * shape * facts.shape[other]


def _place(facts: _Facts) -> list[float]:
    left = (extent - items for extent, items in zip(facts.extents, facts.items, strict=True))
    return [
        *(items / _DOUBLINGS for items in facts.items),
        *(groups / _LONG_DOUBLINGS for groups in facts.groups),
        *(shape / _DOUBLINGS for shape in facts.shape),
        *(extent / _LONG_DOUBLINGS for extent in left),
        facts.strided,
        facts.wide / _DOUBLINGS,
        facts.distinct / _DOUBLINGS,
        facts.arrays / _DOUBLINGS,
    ]


def _covariance(
    one: tuple[NDArray[np.float64], NDArray[np.float64]], other: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> NDArray[np.float64]:
    apart = np.sqrt(np.sum((one[1][:, None] - other[1][None]) ** 2, axis=2))
    found: NDArray[np.float64] = one[0] @ other[0].T + _LOCAL**2 * np.exp(-apart)
    return found


# An evaluator that times variants of a launch against the fastest of them so far.
#
#     choice ──▶ variant ──▶ row, timed in turns with the reference ──▶ its time, times that of the reference
#
# In turns with a launch that is ten times as slow, nearly all the time would go to that. So a variant that is much
# faster takes its place as the reference; a trial's time stays relative to the launch as it is.
#
# What is not compiled, since it is refused or takes too long, is not asked for again in kind: of variants made
# alike, one that merges as much or more fails in the same way, after as much time.

# A variant becomes the reference if it takes at most so much of the reference's time: each change adds its noise.
_MUCH_FASTER = 0.7


class RacingEvaluator(Evaluator):
    """Measures variants of a launch; trials' times are relative to the launch as it is, whose time is 1.

    Args:
        measurer: gives the rows.
        own: the launch as it is, which was measured before.
        space: the choices that may be tried.
        time_left: the seconds that are left for trying.
        told: is called before each that is tried.
    """

    def __init__(
        self,
        measurer: RowMeasurer,
        own: Variant,
        space: VariantSearchSpace,
        time_left: Callable[[], float],
        told: Callable[[RacingEvaluator], None] | None = None,
    ) -> None:
        super().__init__(space)
        self._measurer = measurer
        self._own = own
        self._variants = space
        self._time_left = time_left
        self._told = told
        self._reference = own
        self._is_fixed = False
        self._times = {own: 1.0}
        self._uncompiled: list[Variant] = []

    @property
    def gains(self) -> Mapping[Variant, float]:
        """Return how many times as fast as the launch as it is each variant was that ran correctly."""
        return {variant: 1 / time for variant, time in self._times.items()}

    def prepare(self, choices: Sequence[Choice]) -> None:
        """Compile choices on all processors, and wait for that as long as there is time."""
        codes = self._measurer.context.codes
        variants = [self._variants.variant(choice) for choice in choices]
        wanted = [variant for variant in variants if self._failed_alike(variant) is None]
        wait([codes.ahead(variant) for variant in wanted], timeout=self._time_left())

    def _measure(self, choice: Choice) -> Trial:
        variant = self._variants.variant(choice)
        if self._told is not None:
            self._told(self)
        if variant == self._own:
            return Trial(choice, 1.0)
        failed = self._failed_alike(variant)
        if failed is not None:
            return Trial(choice, None, 0.0, f"not tried, since this was not compiled: {failed}")
        try:
            return self._raced(choice, variant)
        except DeviceError:
            if self._reference == self._own:
                raise
            # What ran before does not run any more; the launch as it is may.
            self._reference, self._is_fixed = self._own, True
            return self._raced(choice, variant)

    def _raced(self, choice: Choice, variant: Variant) -> Trial:
        row = self._measurer.compared(variant, self._reference)
        ratio = relative_time(row)
        if ratio is None:
            if not row.code_hash and row.invalidity in (Invalidity.COMPILE, Invalidity.TIMEOUT):
                self._uncompiled.append(variant)
            return Trial(choice, None, row.measure_seconds, row.reason)
        time = self._times[variant] = ratio * self._times[self._reference]
        if ratio <= _MUCH_FASTER and not self._is_fixed:
            self._reference = variant
        return Trial(choice, time, row.measure_seconds)

    def _failed_alike(self, variant: Variant) -> Variant | None:
        """Return a variant that could not be compiled, where another merges as much or more in the same way."""
        return next((failed for failed in self._uncompiled if merges_as_much(variant, failed)), None)


def merges_as_much(variant: Variant, other: Variant) -> bool:
    """Return True if a variant's code is made as another's, and merges at least as many along each dimension."""
    factors = {_kind_of(each): each.factor for each in variant.coarsenings}
    is_made_alike = (variant.transforms, variant.any_size, variant.arrays, variant.definitions) == (
        other.transforms,
        other.any_size,
        other.arrays,
        other.definitions,
    )
    return is_made_alike and all(factors.get(_kind_of(each), 1) >= each.factor for each in other.coarsenings)


def _kind_of(coarsening: Coarsening) -> tuple[int, Level, bool]:
    return coarsening.dimension, coarsening.level, coarsening.stride > 1
