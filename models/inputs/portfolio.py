"""The few versions that are worth building: together near the best on every input, and none of them idle.

    fixed best ──▶ + the version that lowers the mean regret most ──▶ … ──▶ − what others make superfluous

The fixed best is the one version for all inputs that loses least. Another has its place only where it is faster
than all others of the portfolio by more than noise, on two inputs at least.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coarsen.models.inputs.times import VersionTimes

# By how much one version must be faster than another not to be noise.
CPU_MARGIN = 0.05
GPU_MARGIN = 0.01
MOST_VERSIONS = 8
_LEAST_INPUTS = 2


def margin_of(is_gpu: bool) -> float:
    """Return what counts as noise on a kind of device, as a share of the time."""
    return GPU_MARGIN if is_gpu else CPU_MARGIN


def fixed_best(times: VersionTimes) -> int:
    """Return the number of the version of the least mean regret; of equal ones the first."""
    return int(times.regret.mean(axis=0).argmin())


def portfolio(times: VersionTimes, margin: float, most: int = MOST_VERSIONS) -> tuple[int, ...]:
    """Return the numbers of the versions to build, beside the default one.

    Args:
        times: of the inputs that may be learned from.
        margin: by what share of its time a version must be faster than the others.
        most: how many versions there may be, with the default one.
    """
    fixed = fixed_best(times)
    found = _without_idle(times, _greedy(times, fixed, margin, most), margin)
    return found if len(found) > 1 else (fixed,)


def wins(times: VersionTimes, version: int, others: Sequence[int], margin: float) -> int:
    """Return on how many inputs a version is faster than all of some others by more than the margin."""
    own = times.seconds[:, version]
    # What failed is never chosen: it loses against anything that ran, and wins nothing.
    rest = np.nan_to_num(times.seconds[:, list(others)], nan=np.inf).min(axis=1)
    return int((own * (1 + margin) < rest).sum())


def _greedy(times: VersionTimes, fixed: int, margin: float, most: int) -> tuple[int, ...]:
    regret = times.regret
    chosen = [fixed]
    while True:
        covered = regret[:, chosen].min(axis=1)
        means = np.minimum(covered[:, None], regret).mean(axis=0)
        allowed = [
            version
            for version in np.argsort(means, kind="stable").tolist()
            if version not in chosen and len({*chosen, version, times.default}) <= most
        ]
        worth = (version for version in allowed if wins(times, version, chosen, margin) >= _LEAST_INPUTS)
        added = next(worth, None)
        if added is None:
            return tuple(chosen)
        chosen.append(added)


def _without_idle(times: VersionTimes, chosen: tuple[int, ...], margin: float) -> tuple[int, ...]:
    """Drop versions that the others make superfluous, first the one whose loss costs least."""
    regret = times.regret
    while len(chosen) > 1:
        rests = {version: tuple(each for each in chosen if each != version) for version in chosen}
        idle = [each for each in chosen if wins(times, each, rests[each], margin) < _LEAST_INPUTS]
        if not idle:
            break
        chosen = min((rests[each] for each in idle), key=lambda rest: regret[:, list(rest)].min(axis=1).mean())
    return chosen
