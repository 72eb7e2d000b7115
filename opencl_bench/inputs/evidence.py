"""What a tuned file keeps of its tuning: the times that its versions were chosen by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coarsen.dispatch.tuned_file import JSON, TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.cold_times import ColdTimes
from coarsen.opencl_bench.inputs.kept_seconds import seconds_from_json, seconds_to_json
from coarsen.opencl_bench.inputs.left_open_times import LeftOpenTimes
from coarsen.variant.variant_json import variant_from_json, variant_to_json


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
        cold: times of the file's versions with flushed caches at a few inputs; None where that was not looked
            at.
    """

    description: str
    margin: float
    times: VersionTimes
    left_open: LeftOpenTimes | None = None
    is_cold: bool = False
    cold: ColdTimes | None = None

    def to_json(self) -> dict[str, JSON]:
        """Return it as a tuned file keeps it; a version that failed has no time, and `endings` say how it did."""
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
            "seconds": [seconds_to_json(row) for row in times.seconds.tolist()],
            **({} if self.left_open is None else {"left_open": self.left_open.to_json()}),
            **_caches(self.is_cold, self.cold),
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
        seconds = np.array([seconds_from_json(row) for row in kept["seconds"]])
        versions = tuple(variant_from_json(each) for each in kept["versions"])
        # Files of older releases don't tell endings.
        endings = np.array(kept.get("endings", np.zeros((0, 0))), dtype=np.int8)
        times = VersionTimes(inputs, versions, seconds, int(kept["default"]), endings)
        # Files of older releases have no such baseline either.
        left_open = LeftOpenTimes.from_json(kept["left_open"], len(inputs)) if "left_open" in kept else None
        cold = ColdTimes.from_json(kept["cold_check"]) if "cold_check" in kept else None
        is_cold = bool(kept.get("cold_cache", False))
        return Evidence(str(kept["description"]), float(kept["margin"]), times, left_open, is_cold, cold)
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


def with_caches(file: TunedFile, *, is_cold: bool = False, cold: ColdTimes | None = None) -> TunedFile:
    """Return a tuned file that also says how its caches were.

    Args:
        file: as it was made.
        is_cold: True if they were flushed before every timed run.
        cold: times of its versions with flushed caches at a few inputs.
    """
    return replace(file, evidence={**file.evidence, **_caches(is_cold, cold)})


def _caches(is_cold: bool, cold: ColdTimes | None) -> dict[str, JSON]:
    """Return what a tuned file keeps of the caches: nothing where they were warm throughout."""
    return {
        **({"cold_cache": True} if is_cold else {}),
        **({} if cold is None else {"cold_check": cold.to_json()}),
    }
