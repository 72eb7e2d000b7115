"""The fixed best: one version for all inputs, that of the least mean regret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.models.inputs.times import VersionTimes


@dataclass(frozen=True, slots=True)
class FixedVersion:
    """Always the same version."""

    number: int

    def version(self, features: Mapping[str, float]) -> int:
        """Return the version, whatever the input."""
        return self.number


def fixed_best(times: VersionTimes) -> FixedVersion:
    """Return the version of the least mean regret; of equal ones the first."""
    return FixedVersion(int(times.regret.mean(axis=0).argmin()))
