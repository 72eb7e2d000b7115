"""The decision: which launch, given how its speed-up over the best uncoarsened launch may turn out.

    U = E d − λ · E max(0, −d)        d: log speed-up over the best uncoarsened launch, λ: aversion to loss

The launch of the largest U is taken if it is an uncoarsened one, or beats the best of those by the margin and the
kernel is not too unlike all that the model learned from. Otherwise the uncoarsened launch of the largest U: no
launch is safe, the own one neither. A launch that is expected to be slower than the own one is not considered.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.models.trees.arrays import Array


class Risk(enum.StrEnum):
    """A rule for how much may be lost for what may be gained."""

    CAUTIOUS = "cautious"
    NEUTRAL = "neutral"
    BOLD = "bold"


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
