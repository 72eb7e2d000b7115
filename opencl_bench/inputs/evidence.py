"""What a tuned file keeps of its tuning: the times that its versions were chosen by.

JSON has no NaN, so what failed has no time; `endings` say how it failed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from coarsen.dispatch.tuned_file import JSON, TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import Ending, InputPoint, VersionTimes
from coarsen.models.trees.arrays import Array
from coarsen.variant.variant_json import variant_from_json, variant_to_json

# What tables and sentences call it.
LEFT_OPEN = "the default version, its local size left to the driver"


@dataclass(frozen=True, slots=True)
class LeftOpenTimes:
    """Times of the default version with a local size that the driver chooses, or why there are none.

    Attributes:
        seconds: one for each input of the tuning, NaN where it failed; empty where nothing was measured.
        endings: how it ended at each, numbers of `Ending`.
        reason: why nothing was measured; empty where something was.
    """

    seconds: tuple[float, ...] = ()
    endings: tuple[int, ...] = ()
    reason: str = ""

    def played(self, times: VersionTimes) -> Array | None:
        """Return the seconds that a launch counts as at each input, as `VersionTimes.played` has them of versions.

        Args:
            times: of the versions at the same inputs.

        Returns:
            (n,); None where nothing was measured.
        """
        if self.reason:
            return None
        together = VersionTimes(
            times.inputs,
            (*times.versions, replace(times.versions[times.default], local_size=())),
            np.column_stack([times.seconds, self.seconds]),
            times.default,
            np.column_stack([times.endings, np.array(self.endings, dtype=np.int8)]),
        )
        return np.asarray(together.played[:, -1])

    def to_json(self) -> dict[str, JSON]:
        """Return it as a tuned file keeps it."""
        if self.reason:
            return {"reason": self.reason}
        return {"seconds": _seconds_to_json(self.seconds), "endings": list(map(int, self.endings))}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], inputs: int) -> Self:
        """Return what `to_json` gave.

        Args:
            value: as the file has it.
            inputs: how many the tuning had.

        Raises:
            KeyError, TypeError, ValueError: it is none of that.
        """
        if "reason" in value:
            return cls(reason=str(value["reason"]))
        seconds = tuple(_seconds_from_json(value["seconds"]))
        endings = tuple(int(Ending(ending)) for ending in value["endings"])
        if not len(seconds) == len(endings) == inputs:
            raise ValueError("another number of inputs")
        return cls(seconds, endings)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a tuning found.

    Attributes:
        description: the name of the TOML file.
        margin: what counted as noise, as a share of the time.
        times: of the versions that were tried on every input.
        left_open: of the default version with a local size that the driver chooses; None where that was not looked
            at.
        is_cold: True if the caches were flushed before every timed run.
    """

    description: str
    margin: float
    times: VersionTimes
    left_open: LeftOpenTimes | None = None
    is_cold: bool = False

    def to_json(self) -> dict[str, JSON]:
        """Return it as a tuned file keeps it."""
        times = self.times
        return {
            "description": self.description,
            "margin": self.margin,
            "inputs": [
                {"name": point.name, "group": point.group, "features": dict(point.features)}
                for point in times.inputs
            ],
            "versions": [variant_to_json(version) for version in times.versions],
            "default": times.default,
            "endings": times.endings.tolist(),
            "seconds": [_seconds_to_json(row) for row in times.seconds.tolist()],
            **({} if self.left_open is None else {"left_open": self.left_open.to_json()}),
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
        seconds = np.array([_seconds_from_json(row) for row in kept["seconds"]])
        versions = tuple(variant_from_json(each) for each in kept["versions"])
        # Files of older releases tell neither endings nor the baseline.
        endings = np.array(kept.get("endings", np.zeros((0, 0))), dtype=np.int8)
        times = VersionTimes(inputs, versions, seconds, int(kept["default"]), endings)
        return Evidence(
            str(kept["description"]),
            float(kept["margin"]),
            times,
            LeftOpenTimes.from_json(kept["left_open"], len(inputs)) if "left_open" in kept else None,
            bool(kept.get("cold_cache", False)),
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


def _seconds_to_json(seconds: Iterable[float]) -> list[JSON]:
    return [None if math.isnan(each) else each for each in seconds]


def _seconds_from_json(kept: Iterable[float | None]) -> list[float]:
    return [math.nan if each is None else float(each) for each in kept]
