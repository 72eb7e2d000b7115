"""The decision: which launch, given how its speed-up over the best uncoarsened launch may turn out.

    U = E d − λ · E max(0, −d)        d: log speed-up over the best uncoarsened launch, λ: aversion to loss

The launch of the largest U is taken if it is an uncoarsened one, or beats the best of those by the margin and the
kernel is not too unlike all that the model learned from. Otherwise the uncoarsened launch of the largest U: no
launch is safe, the own one neither. A launch that is expected to be slower than the own one is not considered.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.models.flat_forest import Array
from coarsen.models.launch.case import LaunchInputs


@dataclass(frozen=True, slots=True)
class Rule:
    """The numbers of a decision.

    Attributes:
        aversion: λ; a loss counts 1 + λ times as much as a gain of the same size.
        margin: by which a coarsened launch's utility must beat the best uncoarsened one's.
        limit: the distance to the nearest training kernel beyond which no coarsened launch is taken.
    """

    aversion: float = 1.0
    margin: float = 0.0
    limit: float = float("inf")


@dataclass(frozen=True)
class Decision:
    """The chosen launch as a place among them, the uncoarsened one to fall back on, and each one's utility."""

    chosen: int
    fallback: int
    utilities: Array
    abstained: bool


def utilities(samples: Array, aversion: float) -> Array:
    """Return the utility of each launch, (n,).

    Args:
        samples: equally likely log speed-ups over the best uncoarsened launch, (n, s).
        aversion: to loss.
    """
    return np.asarray(samples.mean(axis=1) - aversion * np.maximum(0.0, -samples).mean(axis=1))


def decide(
    samples: Array,
    is_coarsened: NDArray[np.bool_],
    distance: float,
    rule: Rule,
    allowed: NDArray[np.bool_] | None = None,
) -> Decision:
    """Choose a launch.

    Args:
        samples: as above.
        is_coarsened: (n,); at least one launch is not.
        distance: of the kernel to the nearest training kernel.
        rule: by which is chosen.
        allowed: the launches that may be chosen, (n,), at least one of them uncoarsened; None for all.
    """
    worth = utilities(samples, rule.aversion)
    considered = np.ones_like(is_coarsened) if allowed is None else allowed
    fallback = _largest(worth, ~is_coarsened & considered)
    if not (is_coarsened & considered).any():
        return Decision(fallback, fallback, worth, False)
    best = _largest(worth, is_coarsened & considered)
    pays = bool(worth[best] > worth[fallback] + rule.margin)
    abstains = pays and distance > rule.limit
    return Decision(best if pays and not abstains else fallback, fallback, worth, abstains)


def _largest(worth: Array, allowed: NDArray[np.bool_]) -> int:
    """The place of the largest utility among those that are allowed, the first of equals."""
    return int(np.argmax(np.where(allowed, worth, -np.inf)))


# Errors of predictions, by quantiles of what was seen: no shape of the errors is taken for granted.
#
#     speed-up over the best uncoarsened launch (or over the own one): true less predicted, as natural logarithms
#     by device (where it has enough cases), by kind and place of the launch, by the size of what is predicted
#
# The best uncoarsened launch is that of the truth on one side, of the prediction on the other: the errors hold
# that nobody knows which one it is. The launch that is predicted fastest has errors of its own, since the largest
# of many predictions is too large.

LEVELS = np.linspace(0.02, 0.98, 25)
# A device has a table of its own from so many cases on; a bin has at least so many launches.
LEAST_CASES = 40
LEAST_IN_BIN = 24
MOST_BINS = 4
# Of all devices, and of those of a kind.
EVERY, CPUS, GPUS = "every device", "CPUs", "GPUs"


class Place(enum.IntEnum):
    """The part of a launch among those that are compared."""

    FASTEST_UNCOARSENED = 0
    OTHER_UNCOARSENED = 1
    FASTEST_COARSENED = 2
    NEAR_COARSENED = 3
    OTHER_COARSENED = 4


# So many coarsened launches after the fastest one are near it.
_NEAR = 4


@dataclass(frozen=True)
class Binned:
    """Quantiles of errors by the size of what is predicted: `edges` (b − 1,), `quantiles` (b, levels)."""

    edges: Array
    quantiles: Array

    def of(self, predicted: Array) -> Array:
        """Return the quantiles for some predictions, (n, levels)."""
        return np.asarray(self.quantiles[np.searchsorted(self.edges, predicted, side="right")])


@dataclass(frozen=True)
class ErrorTable:
    """The quantiles of each device, or kind of device, and place."""

    binned: Mapping[str, Mapping[Place, Binned]]

    def samples(self, seen: Seen) -> Array:
        """Return equally likely values of what was predicted, (n, levels)."""
        names = (seen.device, GPUS if seen.is_gpu else CPUS, EVERY)
        table = next((self.binned[name] for name in names if name in self.binned), {})
        found = np.repeat(seen.predicted[:, None], len(LEVELS), axis=1)
        for place in set(seen.places) & table.keys():
            chosen = np.array([each is place for each in seen.places])
            found[chosen] += table[place].of(seen.predicted[chosen])
        return np.asarray(found)


@dataclass(frozen=True)
class Seen:
    """Predictions of the launches of a case, and what came of them; all (n,), NaN where it isn't known.

    `is_gpu` is the device's kind, which counts where nothing is known of it.
    """

    device: str
    is_gpu: bool
    predicted: Array
    places: tuple[Place, ...]
    true: Array


def places_of(speeds: Array, inputs: LaunchInputs) -> tuple[Place, ...]:
    """Return the place of each launch, by the predicted log speeds, (n,)."""
    coarsened = inputs.is_coarsened
    found = [Place.OTHER_COARSENED if each else Place.OTHER_UNCOARSENED for each in coarsened]
    for rank, number in enumerate(_ranked(speeds, ~coarsened)[:1]):
        found[number] = Place(rank)
    for rank, number in enumerate(_ranked(speeds, coarsened)[: 1 + _NEAR]):
        found[number] = Place.NEAR_COARSENED if rank else Place.FASTEST_COARSENED
    return tuple(found)


def _ranked(speeds: Array, chosen: np.ndarray) -> list[int]:
    numbers = np.flatnonzero(chosen)
    return [int(number) for number in numbers[np.argsort(-speeds[numbers], kind="stable")]]


def fit_errors(seen: Sequence[Seen]) -> ErrorTable:
    """Return the table of errors of these cases: of all, of each kind, and of each device that has enough."""
    groups: dict[str, list[Seen]] = {}
    for case in seen:
        for name in (EVERY, GPUS if case.is_gpu else CPUS, case.device):
            groups.setdefault(name, []).append(case)
    own = {case.device for case in seen}
    return ErrorTable(
        {
            name: _by_place(cases)
            for name, cases in groups.items()
            if name == EVERY or len(cases) >= LEAST_CASES or name not in own
        }
    )


def _by_place(cases: Sequence[Seen]) -> Mapping[Place, Binned]:
    predicted = np.concatenate([case.predicted for case in cases])
    errors = np.concatenate([case.true for case in cases]) - predicted
    places = np.array([int(place) for case in cases for place in case.places])
    found = {}
    for place in Place:
        chosen = (places == int(place)) & np.isfinite(errors)
        if chosen.any():
            found[place] = _binned(predicted[chosen], errors[chosen])
    return found


def _binned(predicted: Array, errors: Array) -> Binned:
    count = max(1, min(MOST_BINS, len(errors) // LEAST_IN_BIN))
    edges = np.unique(np.quantile(predicted, np.arange(1, count) / count)) if count > 1 else np.zeros(0)
    bins = np.searchsorted(edges, predicted, side="right")
    # Of equal predictions a bin may be empty: it has the errors of all.
    quantiles = [
        np.quantile(errors[bins == number] if (bins == number).any() else errors, LEVELS)
        for number in range(len(edges) + 1)
    ]
    return Binned(np.asarray(edges, dtype=np.float64), np.array(quantiles))
