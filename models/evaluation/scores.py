"""How good a method's choices are, on one device or over several.

Notation: a case k is a kernel on a device. L(k, s) is the logarithm of the speed-up that the choice gave it at
seed s, over the uncoarsened kernel; O(k) that of the best factor, 0 at the least. L(k) is the mean of L(k, s)
over seeds.

    geometric mean          exp(mean over k of L(k)): over cases and seeds alike
    share of the oracle     the geometric mean over the oracle's
    share of its gain       mean of L(k) over mean of O(k): 0 is never coarsening, 1 the oracle
    spread over seeds       of the geometric means exp(mean over k of L(k, s)), one per seed
    worst case              the smallest exp L(k, s), over cases and seeds
    counts                  cases per seed, the mean over seeds

Intervals are over kernels and of L(k): they say how much another choice of kernels might have changed the mean,
the choices being what they are. A family is drawn with all its kernels, on all devices. Where speed-ups are
noisy the oracle is a little too good: it takes the largest of several noisy numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coarsen.errors import InternalError
from coarsen.models.examples import Example

# A kernel and a device.
Case = tuple[str, str]
# A speed-up below this is a loss that can't be noise.
LOSS = 0.95


@dataclass(frozen=True)
class SeedSpread:
    """A number over several seeds."""

    seeds: int
    low: float
    high: float
    standard_deviation: float


@dataclass(frozen=True)
class Ratio:
    """The ratio of two methods' geometric means, with the paired bootstrap interval."""

    value: float
    interval: Interval


@dataclass(frozen=True)
class HitScore:
    """How near to the best factors the choices are.

    `exact` and `within_one_doubling` are cases per seed, `mean_error` is the mean |log₂ error|, `spread` that of
    the mean error over seeds, None with one seed.
    """

    cases: int
    exact: float
    within_one_doubling: float
    mean_error: float
    interval: Interval
    spread: SeedSpread | None


@dataclass(frozen=True)
class SpeedupScore:
    """What the choices gain, over the uncoarsened kernel. A case is a kernel on a device.

    Args:
        cases: how many there are.
        geometric_mean: of the speed-ups, over cases and seeds alike.
        interval: of it, 95 %, by bootstrap over families of kernels.
        spread: of the geometric means of the seeds; None with one seed.
        share_of_oracle: the geometric mean over the oracle's.
        share_of_gain: mean logarithm over the oracle's, 0 for never coarsening; None where the oracle gains
            nothing.
        worst: the smallest speed-up, over cases and seeds.
        worst_case: where that was.
        losses: cases that the choice makes slower than 0.95, the mean over seeds.
        fallbacks: cases where the chosen factor can't run, the mean over seeds.
        given_up: cases where it was given up when it was measured, the mean over seeds.
        over: the ratio to other methods, by name.
    """

    cases: int
    geometric_mean: float
    interval: Interval
    spread: SeedSpread | None
    share_of_oracle: float
    share_of_gain: float | None
    worst: float
    worst_case: Case
    losses: float
    fallbacks: float
    given_up: float
    over: Mapping[str, Ratio] = field(default_factory=dict)


def speedup_score(outcomes: Sequence[Outcome], others: Mapping[str, Sequence[Outcome]]) -> SpeedupScore:
    """Return the score of a method's choices along one dimension.

    Args:
        outcomes: the same cases at each seed, with their curves.
        others: the outcomes of other methods in the same cases, to compare with, by their names.
    """
    logs = log_speedups(outcomes)
    families = families_of(outcomes)
    mean = _mean(logs.values())
    oracle = _mean({case_of(o): oracle_log_speedup(o.example) for o in outcomes}.values())
    worst = min(outcomes, key=lambda outcome: outcome.log_speedup)
    return SpeedupScore(
        cases=len(logs),
        geometric_mean=math.exp(mean),
        interval=mean_interval(list(logs.values()), families).exponential(),
        spread=_spread(outcomes, lambda outcome: outcome.log_speedup, math.exp),
        share_of_oracle=math.exp(mean - oracle),
        share_of_gain=mean / oracle if oracle > 0 else None,
        worst=math.exp(worst.log_speedup),
        worst_case=case_of(worst),
        losses=per_seed(outcomes, lambda outcome: outcome.log_speedup < math.log(LOSS)),
        fallbacks=per_seed(outcomes, lambda outcome: outcome.fell_back),
        given_up=per_seed(outcomes, lambda outcome: outcome.was_given_up),
        over={name: _ratio(logs, log_speedups(other), families) for name, other in others.items()},
    )


def hit_score(outcomes: Sequence[Outcome]) -> HitScore:
    """Return the score against the best factors alone, of one method along one dimension."""
    errors = _by_case(outcomes, lambda outcome: abs(outcome.log2_error))
    return HitScore(
        cases=len(errors),
        exact=per_seed(outcomes, lambda outcome: outcome.log2_error == 0),
        within_one_doubling=per_seed(outcomes, lambda outcome: abs(outcome.log2_error) <= 1),
        mean_error=_mean(errors.values()),
        interval=mean_interval(list(errors.values()), families_of(outcomes)),
        spread=_spread(outcomes, lambda outcome: abs(outcome.log2_error), float),
    )


def case_of(outcome: Outcome) -> Case:
    """Return the kernel and the device that an outcome is of."""
    return outcome.example.kernel, outcome.example.device


def log_speedups(outcomes: Sequence[Outcome]) -> dict[Case, float]:
    """Return the logarithm of each case's speed-up, the mean over seeds."""
    return _by_case(outcomes, lambda outcome: outcome.log_speedup)


def families_of(outcomes: Sequence[Outcome]) -> list[str]:
    """Return each case's family, in the order of `log_speedups`."""
    return list({case_of(outcome): outcome.example.family for outcome in outcomes}.values())


def per_seed(outcomes: Sequence[Outcome], counts: Callable[[Outcome], bool]) -> float:
    """In how many cases something is true: the mean over seeds."""
    return sum(map(counts, outcomes)) / len({outcome.seed for outcome in outcomes})


def _ratio(logs: Mapping[Case, float], others: Mapping[Case, float], families: Sequence[str]) -> Ratio:
    if logs.keys() != others.keys():
        raise InternalError("methods were evaluated on different cases")
    differences = [logs[case] - others[case] for case in logs]
    return Ratio(math.exp(_mean(differences)), mean_interval(differences, families).exponential())


def _spread(
    outcomes: Sequence[Outcome], value: Callable[[Outcome], float], shown: Callable[[float], float]
) -> SeedSpread | None:
    seeds: dict[int, list[float]] = {}
    for outcome in outcomes:
        seeds.setdefault(outcome.seed, []).append(value(outcome))
    if len(seeds) < 2:
        return None
    means = [shown(_mean(values)) for values in seeds.values()]
    return SeedSpread(len(means), min(means), max(means), float(np.std(means, ddof=1)))


def _by_case(outcomes: Sequence[Outcome], value: Callable[[Outcome], float]) -> dict[Case, float]:
    values: dict[Case, list[float]] = {}
    for outcome in outcomes:
        values.setdefault(case_of(outcome), []).append(value(outcome))
    return {case: _mean(found) for case, found in values.items()}


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


# Percentile bootstrap intervals of means over kernels (Efron, "Bootstrap Methods", Annals of Statistics 1979).
#
# Families are drawn with replacement, each with all its kernels, since two versions of one algorithm aren't two
# independent observations. With some sixteen families such intervals are too narrow: simulated, 92 % of those
# called 95 % hold the true mean where values are normal, 88 % where they are as skewed as an exponential
# distribution.

RESAMPLES = 10_000
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`."""

    low: float
    high: float

    def exponential(self) -> Interval:
        """Of the exponential of what this is an interval of."""
        return Interval(float(np.exp(self.low)), float(np.exp(self.high)))


def mean_interval(
    values: Sequence[float], families: Sequence[str], seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """Return the interval of the mean over kernels.

    Of two methods' differences it is a paired interval: each resample has the same kernels of both.

    Args:
        values: one per kernel, shape (n,).
        families: those of the kernels, as many.
        seed: of the resampling.
        resamples: how often the families are drawn.
    """
    _, index = np.unique(np.asarray(families), return_inverse=True)
    sums, counts = np.bincount(index, np.asarray(values, dtype=np.float64)), np.bincount(index).astype(np.float64)
    drawn = np.random.default_rng(seed).integers(len(sums), size=(resamples, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))


# What came of a choice: the factor that ran, and the speed-up that it gave.
#
# A launcher never fails on a factor that can't run: it takes the largest smaller one that can, 1 at the least. So
# does the evaluation. A configuration that the measuring gave up, because it took more than ten times the best so
# far, has no duration; it counts as `GIVEN_UP_SPEEDUP`, a loss as large as what is known of it. An oracle never
# chooses it.

GIVEN_UP_SPEEDUP = 0.1


@dataclass(frozen=True)
class Outcome:
    """The factor chosen for a held-out kernel; `example` has the answer, `seed` is that of the fit."""

    example: Example
    seed: int
    factor: int

    @property
    def ran(self) -> int:
        """The factor that ran."""
        return factor_that_runs(self.example, self.factor)

    @property
    def fell_back(self) -> bool:
        """Return True if the chosen factor can't run."""
        return self.is_measured and self.ran != self.factor

    @property
    def was_given_up(self) -> bool:
        """Return True if what ran was given up when it was measured."""
        return self.example.speedup.get(self.ran, 1.0) == GIVEN_UP_SPEEDUP

    @property
    def is_measured(self) -> bool:
        """Return True if more than the best factor is known."""
        return bool(self.example.speedup)

    @property
    def log_speedup(self) -> float:
        """The natural logarithm of the speed-up of what ran over the uncoarsened kernel."""
        return self.example.log_speedup(self.ran)

    @property
    def log2_error(self) -> float:
        """By how many doublings the choice is off the best factor; above 0 where it is too large."""
        return math.log2(self.factor / self.example.best_factor)


def factor_that_runs(example: Example, factor: int) -> int:
    """Return the largest factor up to this one that was measured, 1 at the least."""
    return max((known for known in example.speedup if known <= factor), default=1)


def log_speedup_of(example: Example, factor: int) -> float:
    """Return the natural logarithm of the speed-up that asking for a factor gives."""
    return example.log_speedup(factor_that_runs(example, factor))


def oracle_log_speedup(example: Example) -> float:
    """Return the natural logarithm of the largest speed-up that any factor gives, 0 at the least."""
    return max((0.0, *map(example.log_speedup, example.speedup)))
