"""Times of a tuned file's versions with flushed caches at a few inputs, as the file keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from coarsen.dispatch.tuned_file import JSON
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import Ending, VersionTimes
from coarsen.opencl_bench.inputs.kept_seconds import seconds_from_json, seconds_to_json


@dataclass(frozen=True, slots=True)
class ColdTimes:
    """What a check with cold caches measured.

    Attributes:
        inputs: the names of those that were looked at, (k,).
        seconds: of each input and version, in the order of the file's, NaN where it failed, (k, m).
        endings: how each ended, numbers of `Ending`, (k, m).
        left_out: inputs at which the default version does not run with cold caches, each with why.
    """

    inputs: tuple[str, ...]
    seconds: tuple[tuple[float, ...], ...]
    endings: tuple[tuple[int, ...], ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, times: VersionTimes, left_out: Mapping[str, str]) -> Self:
        """Return a matrix of times as it is kept.

        Args:
            times: with cold caches.
            left_out: inputs that are not in it, each with why.
        """
        names = tuple(point.name for point in times.inputs)
        return cls(
            names,
            tuple(map(tuple, times.seconds.tolist())),
            tuple(map(tuple, times.endings.tolist())),
            dict(left_out),
        )

    def matrix(self, warm: VersionTimes) -> VersionTimes:
        """Return the times as a matrix of the same inputs and versions.

        Args:
            warm: of the file's versions, at all inputs of the tuning.

        Raises:
            InvalidInputError: they are of other inputs or versions.
        """
        names = [point.name for point in warm.inputs]
        try:
            own = warm.of_inputs([names.index(name) for name in self.inputs])
            seconds, endings = np.array(self.seconds), np.array(self.endings, dtype=np.int8)
        except ValueError:
            raise _of_others() from None
        if seconds.shape != own.seconds.shape or endings.shape != seconds.shape:
            raise _of_others()
        return VersionTimes(own.inputs, own.versions, seconds, own.default, endings)

    def to_json(self) -> dict[str, JSON]:
        """Return it as a tuned file keeps it."""
        seconds: list[JSON] = [seconds_to_json(row) for row in self.seconds]
        endings: list[JSON] = [list(map(int, row)) for row in self.endings]
        return {
            "inputs": list(self.inputs),
            "seconds": seconds,
            "endings": endings,
            "left_out": dict(self.left_out),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return what `to_json` gave.

        Args:
            value: as the file has it.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: it is none of that.
        """
        return cls(
            tuple(str(name) for name in value["inputs"]),
            tuple(tuple(seconds_from_json(row)) for row in value["seconds"]),
            tuple(tuple(int(Ending(ending)) for ending in row) for row in value["endings"]),
            {str(name): str(reason) for name, reason in value["left_out"].items()},
        )


def _of_others() -> InvalidInputError:
    return InvalidInputError("the tuned file's times with flushed caches are of other inputs or versions")
