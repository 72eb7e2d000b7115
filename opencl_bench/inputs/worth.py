"""What the versions of a tuned file are worth, by the times that they were chosen by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.dispatch.tree import answer
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.models.inputs.portfolio import fixed_best
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.inputs.evidence import evidence_of, shipped_times
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class VersionWorth:
    """What one version is worth.

    Attributes:
        number: its own, in the tuned file.
        variant: what it is.
        chosen: at how many of the inputs the tree chooses it.
        best: at how many it is the fastest of the file's versions.
        over_default: the geometric mean, over the inputs at which it is chosen, of how many times as fast as the
            default version it is; None where it is chosen at none.
        without: how many times as long all inputs would take without it, in the geometric mean, each with the best
            of the others; None where it is the only one.
    """

    number: int
    variant: Variant
    chosen: int
    best: int
    over_default: float | None
    without: float | None


@dataclass(frozen=True, slots=True)
class ChoiceWorth:
    """What choosing by input is worth at the inputs of the tuning, each number a geometric mean over them.

    By the times that the versions were chosen by, so the numbers are too good for others.

    Attributes:
        over_default: how many times as fast as the default version the chosen one is.
        over_fixed: how many times as fast as the fixed best, of the file's versions.
        share: of the speed of the fastest that was tried, whether it is in the file or not.
        over_left_open: how many times as fast as the default version with a local size that the driver chooses;
            None where that was not measured.
        not_left_open: why it was not; empty where it was, or the file doesn't say.
    """

    over_default: float
    over_fixed: float
    share: float
    over_left_open: float | None = None
    not_left_open: str = ""


def worth_of_choice(file: TunedFile) -> ChoiceWorth:
    """Return what choosing is worth. Raises InvalidInputError where the file keeps no times."""
    kept = evidence_of(file)
    times = shipped_times(file, kept)
    seconds = times.played
    chosen = [answer(file.tree, point.features) for point in times.inputs]
    own = np.log(seconds[np.arange(len(chosen)), chosen])
    baseline = None if kept.left_open is None else kept.left_open.played(kept.times)

    def over(other: Array) -> float:
        return float(np.exp((np.log(other) - own).mean()))

    return ChoiceWorth(
        over(seconds[:, file.default]),
        over(seconds[:, fixed_best(times)]),
        over(kept.times.best),
        None if baseline is None else over(baseline),
        "" if kept.left_open is None else kept.left_open.reason,
    )


def worth_of_versions(file: TunedFile) -> tuple[VersionWorth, ...]:
    """Return what each version of a tuned file is worth. Raises InvalidInputError where it keeps no times."""
    times = shipped_times(file, evidence_of(file))
    seconds = times.played
    chosen = np.array([answer(file.tree, point.features) for point in times.inputs])
    return tuple(_worths(file, seconds, chosen))


def _worths(file: TunedFile, seconds: Array, chosen: NDArray[np.int64]) -> Iterator[VersionWorth]:
    best = seconds.min(axis=1)
    for number, version in enumerate(file.versions):
        own = chosen == number
        over = np.log(seconds[own, file.default] / seconds[own, number])
        others = np.delete(seconds, number, axis=1)
        yield VersionWorth(
            number,
            version.variant,
            int(own.sum()),
            int((seconds.argmin(axis=1) == number).sum()),
            float(np.exp(over.mean())) if own.any() else None,
            float(np.exp(np.log(others.min(axis=1) / best).mean())) if others.size else None,
        )


@dataclass(frozen=True, slots=True)
class FoundOverInputs:
    """What a tuning over inputs found.

    Attributes:
        worth: of each version.
        choice: what choosing between them is worth.
        is_cold: True if the caches were flushed before every timed run.
    """

    worth: tuple[VersionWorth, ...]
    choice: ChoiceWorth
    is_cold: bool


def found_over_inputs(file: TunedFile) -> FoundOverInputs:
    """Return what a tuned file keeps of its tuning. Raises InvalidInputError where it keeps no times."""
    return FoundOverInputs(worth_of_versions(file), worth_of_choice(file), evidence_of(file).is_cold)
