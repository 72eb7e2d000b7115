"""Times of the default version with a local size that the driver chooses, as a tuned file keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from coarsen.dispatch.tuned_file import JSON
from coarsen.models.inputs.times import Ending, VersionTimes
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.inputs.kept_seconds import seconds_from_json, seconds_to_json

# What tables and sentences call it.
LEFT_OPEN = "the default version, its local size left to the driver"


@dataclass(frozen=True, slots=True)
class LeftOpenTimes:
    """Times of the baseline, or why there are none.

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
        own = replace(times.versions[times.default], local_size=())
        together = VersionTimes(
            times.inputs,
            (*times.versions, own),
            np.column_stack([times.seconds, self.seconds]),
            times.default,
            np.column_stack([times.endings, np.array(self.endings, dtype=np.int8)]),
        )
        return np.asarray(together.played[:, -1])

    def to_json(self) -> dict[str, JSON]:
        """Return it as a tuned file keeps it."""
        if self.reason:
            return {"reason": self.reason}
        return {"seconds": seconds_to_json(self.seconds), "endings": list(map(int, self.endings))}

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
        seconds = tuple(seconds_from_json(value["seconds"]))
        endings = tuple(int(Ending(ending)) for ending in value["endings"])
        if not len(seconds) == len(endings) == inputs:
            raise ValueError("another number of inputs")
        return cls(seconds, endings)
