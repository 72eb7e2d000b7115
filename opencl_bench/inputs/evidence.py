"""What a tuned file keeps of its tuning, the times that its versions were chosen by, and what these are worth.

JSON has no NaN, so what failed has no time; `endings` say how it failed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.base.codec import encoded
from coarsen.dispatch.tree import answer
from coarsen.dispatch.tuned_file import JSON, TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import Array
from coarsen.models.inputs.times import InputPoint, VersionTimes, fixed_best
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a tuning found.

    Attributes:
        description: the name of the TOML file.
        margin: what counted as noise, as a share of the time.
        times: of the versions that were tried on every input.
        is_cold: True if the caches were flushed before every timed run.
    """

    description: str
    margin: float
    times: VersionTimes
    is_cold: bool = False

    def to_json(self) -> dict[str, JSON]:
        """Return it as a tuned file keeps it."""
        times = self.times
        return {
            "description": self.description,
            "margin": self.margin,
            "inputs": encoded(times.inputs),
            "versions": [variant_to_json(version) for version in times.versions],
            "default": times.default,
            "endings": times.endings.tolist(),
            "seconds": [[None if math.isnan(each) else each for each in row] for row in times.seconds.tolist()],
            **({"cold_cache": True} if self.is_cold else {}),
        }


def evidence_of(file: TunedFile) -> Evidence:
    """Return what a tuned file keeps of its tuning. Raises InvalidInputError where it keeps none."""
    kept: Mapping[str, Any] = file.evidence
    try:
        inputs = tuple(
            InputPoint(
                str(each["name"]), str(each["group"]), {str(n): float(v) for n, v in each["features"].items()}
            )
            for each in kept["inputs"]
        )
        seconds = np.array(
            [[math.nan if each is None else float(each) for each in row] for row in kept["seconds"]]
        )
        versions = tuple(variant_from_json(each) for each in kept["versions"])
        endings = np.array(kept["endings"], dtype=np.int8)
        times = VersionTimes(inputs, versions, seconds, int(kept["default"]), endings)
        return Evidence(
            str(kept["description"]), float(kept["margin"]), times, bool(kept.get("cold_cache", False))
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        missing = f" (there is no {error})" if isinstance(error, KeyError) else ""
        raise InvalidInputError(f"the tuned file keeps no times of its tuning that can be read{missing}") from None


def shipped_times(file: TunedFile, kept: Evidence) -> VersionTimes:
    """Return the times of a file's versions alone, in its order.

    Args:
        file: has the versions.
        kept: the file's evidence.

    Raises:
        InvalidInputError: there are no times of one, or another version than the file's is the default.
    """
    versions = kept.times.versions
    try:
        columns = [versions.index(version.variant) for version in file.versions]
    except ValueError:
        raise InvalidInputError("the tuned file keeps no times of one of its versions") from None
    if columns[file.default] != kept.times.default:
        raise InvalidInputError("the tuned file's default version isn't the one that its times are compared with")
    return kept.times.of_versions(columns)


# What the versions of a tuned file are worth, by the times that they were chosen by.


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
    """

    over_default: float
    over_fixed: float
    share: float


def worth_of_choice(file: TunedFile) -> ChoiceWorth:
    """Return what choosing is worth. Raises InvalidInputError where the file keeps no times."""
    kept = evidence_of(file)
    times = shipped_times(file, kept)
    seconds = times.played
    chosen = [answer(file.tree, point.features) for point in times.inputs]
    own = np.log(seconds[np.arange(len(chosen)), chosen])

    def over(other: Array) -> float:
        return float(np.exp((np.log(other) - own).mean()))

    return ChoiceWorth(over(seconds[:, file.default]), over(seconds[:, fixed_best(times)]), over(kept.times.best))


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
