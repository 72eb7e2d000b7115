"""Settling of slope, aversion, margin and limit, by what models say of kernels that they never saw.

    views: what models that never saw the family, or the mechanism, say of the kernels
    for each slope: errors by quantiles ─▶ for each rule: what would have come of it ─▶ the worst view

The error quantiles that a kernel is judged with are of the other families. `bold` is the rule of the largest mean
log speed-up over the best uncoarsened launch; `neutral` and `cautious` have the largest mean among the rules that
lose more than 5 % in at most 5 % and 1 % of cases, or else in the fewest. `neutral` may lose as often as who
chooses the local size alone: nobody who predicts that loses less.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import Array
from coarsen.models.launch import Risk
from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.decision import ErrorTable, Rule, Seen, decide, fit_errors, places_of

SLOPES = (0.8, 1.0, 1.25, 1.5, 2.0)
AVERSIONS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MARGINS = (0.0, 0.02, 0.05)
# Quantiles of the kernels' distances; 1 for no limit.
LIMITS = (0.9, 0.97, 1.0)
LOSS = 0.95
# The share of cases that may lose; `neutral` may lose as many as the choice of the local size alone.
MOST_LOSSES = {Risk.CAUTIOUS: 0.01, Risk.NEUTRAL: 0.05, Risk.BOLD: 1.0}
_FOLDS = 5


@dataclass(frozen=True)
class Judged:
    """A case, its predicted log speeds, (n,), and its distance to what was learned from."""

    case: LaunchCase
    speeds: Array
    distance: float
    is_gpu: bool

    @property
    def family(self) -> str:
        """The case's."""
        return self.case.family

    def over_best(self, slope: float) -> Seen:
        """Return predictions over the best uncoarsened launch, stretched by a slope, and what came of them."""
        speeds, times = slope * self.speeds, self.case.mean_log_times()
        plain = ~self.case.inputs.is_coarsened
        return self._seen(speeds - speeds[plain].max(), np.nanmin(times[plain]) - times)

    def over_own(self, slope: float) -> Seen:
        """Return predictions over the own launch, stretched by a slope, and what came of them."""
        speeds, times, own = slope * self.speeds, self.case.mean_log_times(), self.case.own_place
        return self._seen(speeds - speeds[own], times[own] - times)

    def _seen(self, predicted: Array, true: Array) -> Seen:
        places = places_of(self.speeds, self.case.inputs)
        return Seen(self.case.device, self.is_gpu, predicted, places, true)

    def only(self, case: LaunchCase) -> Judged:
        """Return the same of some of the case's launches."""
        places = {variant: place for place, variant in enumerate(self.case.inputs.variants)}
        kept = [places[variant] for variant in case.inputs.variants]
        return replace(self, case=case, speeds=self.speeds[kept])


@dataclass(frozen=True)
class Settled:
    """The settings of the decision: the slope, the errors at it, and the rule of each risk.

    `scores` are the mean log speed-up and the share of losses of each, in the worst view.
    """

    slope: float
    errors: ErrorTable
    rules: Mapping[Risk, Rule]
    scores: Mapping[Risk, tuple[float, float]]


def settle(views: Sequence[Sequence[Judged]]) -> Settled:
    """Choose slope and rules.

    Args:
        views: the kernels, as models say that never saw their families, or their mechanisms.

    Raises:
        InvalidInputError: there are too few kernels.
    """
    known = [view for view in views if view]
    if not known or len({judged.case.family for judged in known[0]}) < 2:
        raise InvalidInputError(
            "the decision is settled on cases of at least two unrelated kernels with several local sizes"
        )
    options = [_of_slope(known, slope) for slope in SLOPES]
    # Of equals, the first slope.
    best = max(options, key=lambda option: option.scores[Risk.NEUTRAL][0])
    everything = [judged.over_best(best.slope) for view in known for judged in view]
    return Settled(best.slope, fit_errors(everything), best.rules, best.scores)


def _of_slope(views: Sequence[Sequence[Judged]], slope: float) -> Settled:
    drawn = [list(_with_samples(view, slope)) for view in views]
    distances = np.array([judged.distance for view in views for judged in view])
    limits = [float(np.quantile(distances, level)) if level < 1.0 else float("inf") for level in LIMITS]
    scores: dict[Rule, tuple[float, float]] = {}
    most_losses = dict(MOST_LOSSES)
    for aversion in AVERSIONS:
        options = [_Options.of(view, aversion) for view in drawn]
        if not aversion:
            _, of_local_size = _score(options, np.inf, np.inf)
            most_losses[Risk.NEUTRAL] = max(MOST_LOSSES[Risk.NEUTRAL], of_local_size)
        for margin, limit in itertools.product(MARGINS, limits):
            scores[Rule(aversion, margin, limit)] = _score(options, margin, limit)
    chosen = {risk: _chosen(scores, most) for risk, most in most_losses.items()}
    return Settled(slope, ErrorTable({}), chosen, {risk: scores[rule] for risk, rule in chosen.items()})


def _chosen(scores: Mapping[Rule, tuple[float, float]], most: float) -> Rule:
    """The rule of the largest mean among those with so few losses; of the fewest losses if there are none."""
    least = max(most, min(losses for _, losses in scores.values()))
    # Of equals, the one that is first in the grids.
    return max((rule for rule in scores if scores[rule][1] <= least), key=lambda rule: scores[rule][0])


@dataclass(frozen=True)
class _Drawn:
    judged: Judged
    samples: Array
    true: Array


def _with_samples(view: Sequence[Judged], slope: float) -> Iterator[_Drawn]:
    """Each case with samples from the errors of other families."""
    for fold in family_folds(view, view, _FOLDS):
        table = fit_errors([each.over_best(slope) for each in fold.training])
        for judged in fold.held_out:
            seen = judged.over_best(slope)
            yield _Drawn(judged, table.samples(seen), seen.true)


@dataclass(frozen=True)
class _Options:
    """What a view's cases leave to margin and limit, each (cases,).

    Attributes:
        better: by how much the best coarsened launch's utility is above that of the fallback.
        coarsened: what the former gains, `fallback` what the latter does.
        distances: to what was learned from.
    """

    better: Array
    coarsened: Array
    fallback: Array
    distances: Array

    @classmethod
    def of(cls, view: Sequence[_Drawn], aversion: float) -> _Options:
        return cls(*np.array([_option(drawn, aversion) for drawn in view]).T)


def _score(views: Sequence[_Options], margin: float, limit: float) -> tuple[float, float]:
    """The smallest mean log speed-up over views, and the largest share of losses."""
    means, losses = [], []
    for view in views:
        gains = np.where((view.better > margin) & (view.distances <= limit), view.coarsened, view.fallback)
        means.append(float(gains.mean()))
        losses.append(float((gains < np.log(LOSS)).mean()))
    return min(means), max(losses)


def _option(drawn: _Drawn, aversion: float) -> tuple[float, float, float, float]:
    """Return what a decision of this aversion is between; launches that did not run are not chosen."""
    ran = np.isfinite(drawn.true)
    coarsened, true = drawn.judged.case.inputs.is_coarsened[ran], drawn.true[ran]
    open_rule = Rule(aversion, margin=-np.inf)
    made = decide(drawn.samples[ran], coarsened, 0.0, open_rule)
    better = made.utilities[made.chosen] - made.utilities[made.fallback] if coarsened.any() else -np.inf
    return float(better), float(true[made.chosen]), float(true[made.fallback]), drawn.judged.distance


# Kernels that are held out together, and what may then be learned from.
#
# families     a fifth of the families each, on all devices
# mechanisms   all kernels that have one of some mechanisms, such as broadcasts or guards: none is learned from

FAMILY_FOLDS = 5
MECHANISM_FOLDS = 6


T = TypeVar("T", LaunchCase, Judged)


@dataclass(frozen=True)
class LaunchFold(Generic[T]):
    """A set to learn from, and one that is held out meanwhile; `name` says what."""

    name: str
    training: tuple[T, ...]
    held_out: tuple[T, ...]


def family_folds(training: Sequence[T], judged: Sequence[T], folds: int = FAMILY_FOLDS) -> Iterator[LaunchFold[T]]:
    """Yield folds in which no family that is held out is learned from. Every judged case is held out once.

    Args:
        training: what may be learned from.
        judged: what is held out; may be the same.
        folds: how many.
    """
    families = sorted({each.family for each in judged}, key=_shuffled)
    for number in range(folds):
        chosen = frozenset(families[number::folds])
        held_out = tuple(each for each in judged if each.family in chosen)
        if held_out:
            left = tuple(each for each in training if each.family not in chosen)
            yield LaunchFold(f"families {number + 1} of {folds}", left, held_out)


def mechanism_folds(
    training: Sequence[LaunchCase], judged: Sequence[LaunchCase], folds: int = MECHANISM_FOLDS
) -> Iterator[LaunchFold[LaunchCase]]:
    """Yield folds in which no mechanism that is held out is learned from.

    A judged case is held out once, with the rarest of its mechanisms; one that has none, never.

    Args:
        training: what may be learned from.
        judged: what is held out; may be the same.
        folds: how many.
    """
    ordered = _mechanisms_of(judged)
    # The rarest mechanism of each case.
    firsts = [next((name for name in ordered if name in case.mechanisms), None) for case in judged]
    for number in range(folds):
        chosen = frozenset(sorted(ordered, key=_shuffled)[number::folds])
        held_out = tuple(case for case, first in zip(judged, firsts, strict=True) if first in chosen)
        left = tuple(case for case in training if not chosen & case.mechanisms)
        if held_out and left:
            yield LaunchFold(f"mechanisms {', '.join(sorted(chosen))}", left, held_out)


def _mechanisms_of(cases: Iterable[LaunchCase]) -> tuple[str, ...]:
    """The mechanisms that cases have, the rarest first: so each is held out with some kernels."""
    counts = Counter(mechanism for case in cases for mechanism in case.mechanisms)
    return tuple(sorted(counts, key=lambda mechanism: (counts[mechanism], mechanism)))


def _shuffled(name: str) -> str:
    """A key that puts names in an order that has nothing to do with what they mean, the same everywhere."""
    return hashlib.sha256(name.encode()).hexdigest()
