"""Judging choices by inputs that nothing was fitted to.

    for each group: stage one, portfolio, fixed best, trees … of the other groups ─▶ versions for its inputs
    the versions timed once more, in a process of their own ─▶ Outcome ─▶ scores

Versions are chosen, and the best one found, by the first times; all are judged by the second, so that none is
judged by the numbers that made it win. A choice that can't be launched counts as the default version, which a
dispatcher then runs; one that is launched and fails counts as four times as slow as the best version.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.entrants import Entrant, Fitted, Settings, StageOne, every_version, fitted
from coarsen.models.inputs.times import MOST_TIMES, Ending, InputPoint, VersionTimes
from coarsen.models.trees.arrays import Array

# The share of the inputs that extrapolation holds out together.
_LARGEST = 0.25


@dataclass(frozen=True, slots=True)
class Choices:
    """Versions chosen for inputs that were held out.

    Attributes:
        rows: the numbers of these inputs, (k,).
        versions: of each entrant, the version that is launched for each of them, (k,): the default one where the
            choice can't be launched.
        failed: of each entrant, True where that fails or has wrong results, (k,).
        unbuilt: for which the paper's trees answered a vector that was never built, (k,).
        leaves: how many versions the regret tree of each fold can answer.
    """

    rows: tuple[int, ...]
    versions: Mapping[Entrant, tuple[int, ...]]
    failed: Mapping[Entrant, tuple[bool, ...]]
    unbuilt: tuple[bool, ...]
    leaves: tuple[int, ...]

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the inputs and versions that must be timed once more, in ascending order: all that ran."""
        found = {
            (row, version)
            for entrant, own in self.versions.items()
            for row, version, has_failed in zip(self.rows, own, self.failed[entrant], strict=True)
            if not has_failed
        }
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the choices for one kernel.

    Attributes:
        kernel: its name.
        inputs: those that were held out, (k,).
        seconds: of each entrant's choices, by the second times, (k,).
        is_exact: True where an entrant chose the best version itself, (k,).
        unbuilt: see `Choices`.
        margin: what counts as noise.
    """

    kernel: str
    inputs: tuple[InputPoint, ...]
    seconds: Mapping[Entrant, Array]
    is_exact: Mapping[Entrant, tuple[bool, ...]]
    unbuilt: tuple[bool, ...]
    margin: float

    @property
    def families(self) -> list[str]:
        """Return what can't be told apart in a resample, (k,): the inputs of one group."""
        return [f"{self.kernel}/{point.group}" for point in self.inputs]

    def gain(self, entrant: Entrant, over: Entrant) -> Array:
        """Return ln(t of another entrant / t of one) on each input, (k,)."""
        return np.asarray(np.log(self.seconds[over] / self.seconds[entrant]))


def leave_groups_out(times: VersionTimes, settings: Settings, stage_one: StageOne = every_version) -> Choices:
    """Choose for each group of inputs by all the others.

    Args:
        times: of all versions on all inputs.
        settings: see `fitted`; `stage_one` as well.

    Raises:
        InvalidInputError: there are less than two groups.
    """
    if len(times.groups) < 2:
        raise InvalidInputError("holding inputs out takes at least two groups of them")
    return _choices(times, [(group,) for group in times.groups], settings, stage_one)


def hold_out_largest(
    times: VersionTimes,
    settings: Settings,
    size_of: Callable[[InputPoint], float],
    stage_one: StageOne = every_version,
) -> Choices:
    """Choose for the groups with the largest quarter of the inputs by all smaller ones.

    Args:
        times: of all versions on all inputs.
        settings: see `fitted`; `stage_one` as well.
        size_of: what inputs are ordered by.

    Raises:
        InvalidInputError: there are less than two groups.
    """
    if len(times.groups) < 2:
        raise InvalidInputError("holding inputs out takes at least two groups of them")
    largest = {
        group: max(size_of(times.inputs[row]) for row in times.in_groups([group])) for group in times.groups
    }
    ordered = sorted(times.groups, key=lambda group: -largest[group])
    held_out: list[str] = []
    while len(times.in_groups(held_out)) < math.ceil(_LARGEST * len(times.inputs)):
        held_out.append(ordered[len(held_out)])
    # Where one group is nearly everything, it alone is held out, but never all.
    return _choices(times, [held_out[: len(ordered) - 1]], settings, stage_one)


def outcome(kernel: str, times: VersionTimes, choices: Choices, again: Array, margin: float) -> Outcome:
    """Return what came of choices.

    Args:
        kernel: its name.
        times: the first ones, which chose.
        choices: for inputs that were held out.
        again: the second times, (n, m) as the first; NaN where nothing was timed again, infinity where it failed
            then. Where the best version did, the one that was the fastest by the first times of those that ran
            again takes its place.
        margin: what counts as noise.

    Raises:
        InvalidInputError: a choice was not timed again.
    """
    best = [
        _best_again(times, again, row, column)
        for row, column in zip(choices.rows, choices.versions[Entrant.BEST], strict=True)
    ]
    chosen = {**choices.versions, Entrant.BEST: tuple(best)}
    slowest = MOST_TIMES * again[list(choices.rows), best]
    seconds = {}
    for entrant, own in chosen.items():
        found = again[list(choices.rows), list(own)]
        found = np.where(np.array(choices.failed[entrant]) | np.isinf(found), slowest, found)
        if lacking := np.flatnonzero(np.isnan(found)).tolist():
            row, column = choices.rows[lacking[0]], own[lacking[0]]
            raise _not_timed(times, row, column)
        seconds[entrant] = found
    return Outcome(
        kernel=kernel,
        inputs=tuple(times.inputs[row] for row in choices.rows),
        seconds=seconds,
        is_exact={
            entrant: tuple(
                not has_failed and each == right
                for each, right, has_failed in zip(own, best, choices.failed[entrant], strict=True)
            )
            for entrant, own in chosen.items()
        },
        unbuilt=choices.unbuilt,
        margin=margin,
    )


def _best_again(times: VersionTimes, again: Array, row: int, best: int) -> int:
    """The best version of an input, or the best of those that ran when they were timed again."""
    if np.isnan(again[row, best]):
        raise _not_timed(times, row, best)
    return best if np.isfinite(again[row, best]) else _fastest(times, row, np.isfinite(again[row]))


def _fastest(times: VersionTimes, row: int, allowed: NDArray[np.bool_]) -> int:
    return int(np.nanargmin(np.where(allowed, times.seconds[row], np.nan)))


def _not_timed(times: VersionTimes, row: int, column: int) -> InvalidInputError:
    return InvalidInputError(f"time again on the input '{times.inputs[row].name}': {times.versions[column]}")


def fold(times: VersionTimes, held_out: Sequence[str], settings: Settings, stage_one: StageOne) -> Fitted:
    """Fit all entrants to the inputs outside some groups."""
    return fitted(times.of_inputs(times.outside(held_out)), settings, stage_one)


def _choices(
    times: VersionTimes, folds: Sequence[Sequence[str]], settings: Settings, stage_one: StageOne
) -> Choices:
    rows: list[int] = []
    versions: dict[Entrant, list[int]] = {entrant: [] for entrant in Entrant}
    failed: dict[Entrant, list[bool]] = {entrant: [] for entrant in Entrant}
    unbuilt, leaves = [], []
    for held_out in folds:
        entrants = fold(times, held_out, settings, stage_one)
        leaves.append(len(entrants.tree.versions))
        for row in times.in_groups(held_out):
            features = times.inputs[row].features
            chosen = {**entrants.chosen(features), Entrant.BEST: int(np.nanargmin(times.seconds[row]))}
            for entrant, version in chosen.items():
                ending = times.endings[row, version]
                versions[entrant].append(times.default if ending == Ending.FELL_BACK else version)
                failed[entrant].append(bool(ending in (Ending.FAILED, Ending.WRONG)))
            rows.append(row)
            unbuilt.append(not entrants.paper.is_built(features))
    return Choices(
        rows=tuple(rows),
        versions={entrant: tuple(own) for entrant, own in versions.items()},
        failed={entrant: tuple(own) for entrant, own in failed.items()},
        unbuilt=tuple(unbuilt),
        leaves=tuple(leaves),
    )
