"""How good entrants' choices of launches are, over the best uncoarsened local size.

share of the oracle   exp(mean log speed-up − that of the oracle's choices), every kernel with the same weight;
                      intervals are over families of kernels, by bootstrap
calibration error     of the probability that the most promising coarsened launch beats every uncoarsened one:
                      mean distance, over bins by their weight, from the share that did; beside it the one that
                      perfectly calibrated probabilities would have in as many cases, which is far from 0 in few
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.evaluation.bootstrap import Interval, mean_interval
from coarsen.models.launch.evaluation import ENTRANTS, LaunchOutcome, Promise
from coarsen.models.trees.arrays import Array

LOSS = 0.95
BINS = 5
_DRAWS = 1000


@dataclass(frozen=True)
class LaunchScore:
    """The score of an entrant on a device.

    Attributes:
        cases: kernels at sizes.
        geometric_mean: of the speed-ups over the best uncoarsened launch; `over_own` over the own one.
        share_of_oracle: the geometric mean over the oracle's; `interval` of it, 95 %.
        worst: the least speed-up over the best uncoarsened launch; `worst_case` whose.
        losses: the share of cases below 0.95.
    """

    cases: int
    geometric_mean: float
    over_own: float
    share_of_oracle: float
    interval: Interval
    worst: float
    worst_case: str
    losses: float


@dataclass(frozen=True)
class PromiseScore:
    """How far probabilities can be taken at their word.

    Attributes:
        promises: how many there are.
        calibration_error: expected calibration error.
        least_error: what it would be on average if each probability were right.
        brier: Brier score.
    """

    promises: int
    calibration_error: float
    least_error: float
    brier: float


def launch_scores(outcomes: Iterable[LaunchOutcome]) -> Mapping[str, LaunchScore]:
    """Return the score of each entrant, in the order of tables."""
    found: defaultdict[str, list[LaunchOutcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.entrant].append(outcome)
    return {name: _score(found[name]) for name in ENTRANTS if name in found}


def promise_score(promises: Sequence[Promise]) -> PromiseScore | None:
    """Return the score of promises; None where there are none."""
    if not promises:
        return None
    probabilities = np.array([promise.probability for promise in promises])
    helped = np.array([promise.came_true for promise in promises], dtype=np.float64)
    error = float(_calibration_errors(probabilities, helped[None])[0])
    draws = np.random.default_rng(0).random((_DRAWS, len(promises))) < probabilities
    least = float(_calibration_errors(probabilities, draws.astype(np.float64)).mean())
    return PromiseScore(len(promises), error, least, float(((probabilities - helped) ** 2).mean()))


def _calibration_errors(probabilities: Array, helped: Array) -> Array:
    """The calibration error of probabilities, (n,), for each row of what came true, (rows, n): (rows,)."""
    # Bins of as many promises each: few are near 0 or 1.
    order = np.argsort(probabilities, kind="stable")
    bins = [part for part in np.array_split(order, BINS) if len(part)]
    errors = [len(part) * np.abs(probabilities[part].mean() - helped[:, part].mean(axis=1)) for part in bins]
    return np.asarray(np.sum(errors, axis=0) / len(probabilities))


def _score(outcomes: Sequence[LaunchOutcome]) -> LaunchScore:
    gains, lacking = _by_kernel(outcomes, lambda each: each.gain), _by_kernel(outcomes, _lacking)
    families = {outcome.kernel: outcome.family for outcome in outcomes}
    worst = min(outcomes, key=lambda outcome: outcome.gain)
    interval = mean_interval(list(lacking.values()), [families[kernel] for kernel in lacking])
    return LaunchScore(
        cases=len(outcomes),
        geometric_mean=math.exp(_mean(gains.values())),
        over_own=math.exp(_mean(_by_kernel(outcomes, lambda each: each.over_own).values())),
        share_of_oracle=math.exp(_mean(lacking.values())),
        interval=interval.exponential(),
        worst=math.exp(worst.gain),
        worst_case=f"{worst.kernel} ({worst.size})",
        losses=sum(outcome.gain < math.log(LOSS) for outcome in outcomes) / len(outcomes),
    )


def _lacking(outcome: LaunchOutcome) -> float:
    return outcome.gain - outcome.oracle


def _by_kernel(outcomes: Sequence[LaunchOutcome], value: Callable[[LaunchOutcome], float]) -> dict[str, float]:
    """The mean of each kernel's cases, so that every kernel counts the same."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.kernel].append(value(outcome))
    return {kernel: _mean(values) for kernel, values in found.items()}


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
