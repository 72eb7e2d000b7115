"""The search of one launch's variants in little time.

    starting points ─▶ model of log times ─▶ of the fastest ones' neighbours, those that it expects most of ──┐
                             ▲────────────────────── fitted again on everything measured ─────────────────────┘

As guided search (`search/guided.py`), with a start and a model that know what the axes of such a space mean, and
with an end in seconds. What is measured next is compiled together, on all cores.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coarsen.tuning.search.evaluator import Evaluator, Trial
from coarsen.tuning.search.searcher import Searcher, fastest, run_rounds, time_of
from coarsen.tuning.search.spaces import Choice, neighbours
from coarsen.tuning.search.surrogate import Candidates, log_times, weight_of
from coarsen.variant.coarsening import DIMENSIONS, Level
from coarsen.variant.variant import LocalSize, Variant

# So many are compiled and measured before the model is fitted again: twice the cores of a small machine.
ROUND_SIZE = 4
# Rounds without gain that end a search.
PATIENCE = 6
# A gain that counts as one: less is what a clock finds in the same code.
_LEAST_GAIN = 1.01
_DEVIATIONS = 0.7
# The model ranks the neighbours of so many, and of so many others: a whole space would take it seconds.
_FASTEST = 5
_OTHERS = 3


@dataclass(frozen=True, slots=True)
class LaunchSearcher(Searcher):
    """Searches the variants of one launch.

    Attributes:
        model: learns what was measured.
        starts: what is tried first.
    """

    model: LaunchModel
    starts: tuple[Choice, ...]
    name: ClassVar[str] = "launch"

    def run(self, evaluator: Evaluator, draw: random.Random) -> str:
        """See `Searcher.run`."""
        evaluator.try_all(self.starts, ROUND_SIZE)
        return run_rounds(evaluator, lambda: self._proposed(evaluator, draw), PATIENCE, _LEAST_GAIN)

    def _proposed(self, evaluator: Evaluator, draw: random.Random) -> list[Choice]:
        fresh = _fresh(evaluator, draw)
        if not fresh or fastest(evaluator.trace) is None:
            return fresh[:ROUND_SIZE]
        bounds = self.model.lower_bounds(evaluator.trace, fresh, _DEVIATIONS)
        return [fresh[number] for number in np.argsort(bounds, kind="stable")[:ROUND_SIZE]]


def _fresh(evaluator: Evaluator, draw: random.Random) -> list[Choice]:
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
    taken as distinct, indices are long, how many trips of loops are copied at once, how many arrays lie otherwise,
    and which are the only ones that are copied."""

    items: tuple[float, ...]
    groups: tuple[float, ...]
    shape: tuple[float, ...]
    extents: tuple[float, ...]
    strided: float
    wide: float
    distinct: float
    long: float
    tile: float
    arrays: float
    copied: tuple[str, ...]

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
        times = log_times(trials)
        tried, asked = ([self._variant_of(c) for c in some] for some in ((t.choice for t in trials), choices))
        expected, expected_of_asked = (np.array([self._expected(v) for v in some]) for some in (tried, asked))
        ran = [trial.time is not None for trial in trials]
        weight = weight_of(expected[ran], times[ran])
        copied = sorted({name for each in (*tried, *asked) for name in each.transforms.tile.arrays})
        known, wanted = self._columns(tried, copied), self._columns(asked, copied)
        covariance = _covariance(known, known) + _NOISE**2 * np.eye(len(tried))
        crossed = _covariance(wanted, known)
        solved = np.linalg.solve(covariance, np.column_stack([times - weight * expected, crossed.T]))
        own_variance = np.sum(wanted[0] ** 2, axis=1) + _LOCAL**2
        variance = np.maximum(own_variance - np.sum(crossed * solved[:, 1:].T, axis=1), 0.0)
        mean = crossed @ solved[:, 0] + weight * expected_of_asked
        bounds: NDArray[np.float64] = mean - deviations * np.sqrt(variance)
        return bounds

    def _columns(
        self, variants: Sequence[Variant], copied: Sequence[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The effects of variants, each by its standard deviation; and where they lie, to tell which are alike."""
        facts = [self._facts(variant) for variant in variants]
        return np.array([list(_effects(each)) for each in facts]), np.array(
            [_place(each, copied) for each in facts]
        )

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
            float(variant.transforms.long_indices),
            math.log2(max(variant.transforms.tile.trips, 1)),
            float(len(variant.arrays)),
            variant.transforms.tile.arrays,
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
    yield 0.5 * facts.long
    yield 0.1 * facts.long * merged
    yield 0.5 * (facts.tile > 0)
    yield 0.1 * facts.tile
    yield 0.15 * (facts.tile > 0) * merged
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


def _place(facts: _Facts, copied: Sequence[str]) -> list[float]:
    left = (extent - items for extent, items in zip(facts.extents, facts.items, strict=True))
    return [
        *(items / _DOUBLINGS for items in facts.items),
        *(groups / _LONG_DOUBLINGS for groups in facts.groups),
        *(shape / _DOUBLINGS for shape in facts.shape),
        *(extent / _LONG_DOUBLINGS for extent in left),
        facts.strided,
        facts.wide / _DOUBLINGS,
        facts.distinct / _DOUBLINGS,
        facts.long / _DOUBLINGS,
        facts.tile / _LONG_DOUBLINGS,
        facts.arrays / _DOUBLINGS,
        *((name in facts.copied) / _DOUBLINGS for name in copied),
    ]


def _covariance(
    one: tuple[NDArray[np.float64], NDArray[np.float64]], other: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> NDArray[np.float64]:
    apart = np.sqrt(np.sum((one[1][:, None] - other[1][None]) ** 2, axis=2))
    found: NDArray[np.float64] = one[0] @ other[0].T + _LOCAL**2 * np.exp(-apart)
    return found
