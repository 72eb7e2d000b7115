"""Quality of a search: the optimum's time over the best time so far, 1 at the optimum and 0 before anything ran.

    trace of a search ──▶ qualities after 1, 2, 3, … trials
    times of a space  ──▶ the same of random draws, exactly: no sampling

Random search is the yardstick, so that its noise would become everybody's. Of N choices drawn without replacement,
none of the k best is among the first n with the probability C(N − k, n) / C(N, n). The distribution of the best of
n follows from that, with failures as the slowest of all, of quality 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coarsen.errors import InvalidInputError

Floats = npt.NDArray[np.float64]
# Of the cumulated probability, which is a sum of many roundings.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RandomQuality:
    """The quality of the best of some random draws over all ways to draw them.

    Attributes:
        mean: the expectation.
        lower: the largest quality that is reached with a probability of at least 3/4.
        median: of at least 1/2.
        upper: of at least 1/4.
    """

    mean: float
    lower: float
    median: float
    upper: float


def qualities(times: Iterable[float | None], optimum: float) -> list[float]:
    """Return the quality after each trial.

    Args:
        times: of distinct trials in their order; None where one failed.
        optimum: the shortest time of the space, in the same unit.
    """
    best, found = float("inf"), []
    for time in times:
        best = best if time is None else min(best, time)
        found.append(optimum / best)
    return found


def random_quality(times: Sequence[float], choices: int, draws: int) -> RandomQuality:
    """Return the quality of the best of random draws without replacement.

    Args:
        times: of the choices that did not fail.
        choices: how many there are, failed ones too.
        draws: from 1 to `choices`.

    Raises:
        InvalidInputError: there is no time, or another number of draws.
    """
    reached = _reached(len(times), choices, draws)
    levels = min(times) / np.sort(np.asarray(times))
    # What a failure adds, and what the next best would have added, is 0.
    steps = levels - np.append(levels[1:], 0.0)
    quantiles = (_quantile(reached, levels, probability) for probability in (0.75, 0.5, 0.25))
    return RandomQuality(float(min(1.0, reached @ steps)), *quantiles)


def expected_best(times: Sequence[float], choices: int, draws: int) -> float:
    """Return the expected shortest time of random draws without replacement, given that one of them did not fail.

    Arguments and errors as for `random_quality`; the unit is that of `times`.
    """
    reached = _reached(len(times), choices, draws)
    ordered = np.sort(np.asarray(times))
    return float(np.diff(reached, prepend=0.0) @ ordered / reached[-1])


def _reached(good: int, choices: int, draws: int) -> Floats:
    """The probability that one of the k best is among the draws, for k from 1 to `good`, which have a time."""
    if not 0 < good <= choices or not 1 <= draws <= choices:
        raise InvalidInputError(
            f"{draws} draws from {choices} choices, of which {good} have a time, are not possible"
        )
    places = np.arange(good, dtype=np.float64)
    # C(N − k, n) / C(N, n) is the product of (N − n − i) / (N − i) over i < k.
    missed = np.maximum(choices - draws - places, 0.0) / (choices - places)
    reached: Floats = 1.0 - np.cumprod(missed, dtype=np.float64)
    return reached


def _quantile(reached: Floats, levels: Floats, probability: float) -> float:
    """The largest quality that is reached with a probability; 0 where too many draws fail."""
    place = int(np.searchsorted(reached, probability - _ROUNDING))
    return float(levels[place]) if place < len(levels) else 0.0
