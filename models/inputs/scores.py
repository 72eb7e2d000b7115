"""How good choices of versions are, of one kernel and over several.

    share of the best    exp(mean over inputs of ln(t of the best version / t of the choice)), by the second times
    hit                  a choice within noise of the best version; exact: the best version itself
    part of the gain     ln(t of the fixed best / t of the choice) summed, over the same of the best version

Intervals are 95 %, by bootstrap over inputs; those of one group are drawn together, and two entrants' difference
has the same inputs of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.evaluation.bootstrap import Interval, mean_interval, quantile_interval, ratio_interval
from coarsen.models.inputs.entrants import Entrant
from coarsen.models.inputs.evaluation import Outcome
from coarsen.models.trees.arrays import Array

# A kernel whose best versions are faster than the fixed best by so much, surely by that much, is sensitive.
SENSITIVE = 1.10
SURELY_SENSITIVE = 1.05
_LOW_INPUTS = 0.05
# Gains as small as this can't be divided by.
_NO_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class Score:
    """A ratio of times, as a geometric mean over inputs, and its interval."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class EntrantScore:
    """The score of an entrant over the inputs of one or more kernels.

    Attributes:
        share: of the best version.
        low_share: the share on an input that only 5 % of the inputs are below.
        hits: the share of the inputs within noise of the best version; `exact_hits` with the best version itself.
        over_default: speed-up over the default version; `over_fixed` over the fixed best.
    """

    share: Score
    low_share: float
    hits: Score
    exact_hits: Score
    over_default: Score
    over_fixed: Score

    @property
    def regret(self) -> float:
        """Return the mean of ln(t of the choice / t of the best version)."""
        return -math.log(self.share.value)


def entrant_score(outcomes: Sequence[Outcome], entrant: Entrant) -> EntrantScore:
    """Return the score of an entrant.

    Args:
        outcomes: of one or more kernels, each with the entrant.
        entrant: whose choices are judged.
    """
    lost = np.concatenate([each.gain(entrant, Entrant.BEST) for each in outcomes])
    return EntrantScore(
        share=speed_up(outcomes, entrant, Entrant.BEST),
        low_share=float(np.exp(np.quantile(lost, _LOW_INPUTS))),
        hits=mean(outcomes, lambda each: hits(each, entrant)),
        exact_hits=mean(outcomes, lambda each: np.array(each.is_exact[entrant], dtype=np.float64)),
        over_default=speed_up(outcomes, entrant, Entrant.DEFAULT),
        over_fixed=speed_up(outcomes, entrant, Entrant.FIXED),
    )


def low_share(outcomes: Sequence[Outcome], entrant: Entrant) -> Score:
    """Return the share of the best version on an input that only 5 % of the inputs are below."""
    lost = np.concatenate([each.gain(entrant, Entrant.BEST) for each in outcomes])
    interval = quantile_interval(lost, _families(outcomes), _LOW_INPUTS)
    return Score(float(np.exp(np.quantile(lost, _LOW_INPUTS))), interval.exponential())


def speed_up(outcomes: Sequence[Outcome], entrant: Entrant, over: Entrant) -> Score:
    """Return an entrant's speed-up over another one, with a paired interval."""
    return geometric_mean(outcomes, lambda each: each.gain(entrant, over))


def sensitivity(outcomes: Sequence[Outcome]) -> Score:
    """Return the speed-up of the best versions over the fixed best of all versions."""
    return speed_up(outcomes, Entrant.BEST, Entrant.FIXED_OF_ALL)


def is_sensitive(outcome: Outcome) -> bool:
    """Return True if the best version truly depends on the input."""
    found = sensitivity([outcome])
    return found.value >= SENSITIVE and found.interval.low > SURELY_SENSITIVE


def part_of_gain(outcomes: Sequence[Outcome], entrant: Entrant) -> Score | None:
    """Return the part of the best versions' gain over the fixed best that an entrant has; None without a gain."""
    won = np.concatenate([each.gain(entrant, Entrant.FIXED) for each in outcomes] or [np.zeros(0)])
    there_is = np.concatenate([each.gain(Entrant.BEST, Entrant.FIXED) for each in outcomes] or [np.zeros(0)])
    if there_is.sum() <= _NO_GAIN:
        return None
    return Score(float(won.sum() / there_is.sum()), ratio_interval(won, there_is, _families(outcomes)))


def hits(outcome: Outcome, entrant: Entrant) -> Array:
    """Return 1 for each input where an entrant's choice is within noise of the best version, else 0, (k,)."""
    is_hit = outcome.seconds[entrant] <= outcome.seconds[Entrant.BEST] * (1 + outcome.margin)
    return np.asarray(is_hit, dtype=np.float64)


def mean(outcomes: Sequence[Outcome], values: Callable[[Outcome], Array]) -> Score:
    """Return the mean over all inputs."""
    found = np.concatenate([values(each) for each in outcomes])
    return Score(float(found.mean()), mean_interval(found.tolist(), _families(outcomes)))


def kernel_mean(outcomes: Sequence[Outcome], values: Callable[[Outcome], Array]) -> Score:
    """Return the mean over kernels of their means over inputs; the interval is over inputs."""
    found = [values(each) for each in outcomes]
    weights = np.concatenate([np.full(len(each), 1 / len(each)) for each in found])
    weighted = np.concatenate(found) * weights
    interval = ratio_interval(weighted, weights, _families(outcomes))
    return Score(float(weighted.sum() / weights.sum()), interval)


def geometric_mean(outcomes: Sequence[Outcome], values: Callable[[Outcome], Array]) -> Score:
    """Return the exponential of the mean of logarithms over all inputs."""
    logarithms = mean(outcomes, values)
    return Score(math.exp(logarithms.value), logarithms.interval.exponential())


def _families(outcomes: Sequence[Outcome]) -> list[str]:
    return [family for each in outcomes for family in each.families]
