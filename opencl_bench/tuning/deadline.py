"""The moment at which tuning has to be over."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from coarsen.errors import DeviceError


class TimeOverError(DeviceError):
    """The time was over before a tuning had any result."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """So many seconds from when it was made."""

    seconds: float
    begun: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """The seconds that have passed."""
        return time.monotonic() - self.begun

    @property
    def left(self) -> float:
        """The seconds that are left; 0 once it is over."""
        return max(0.0, self.seconds - self.spent)

    @property
    def is_over(self) -> bool:
        """Return True once no time is left."""
        return self.left <= 0

    def earlier(self, seconds: float) -> Deadline:
        """Return the moment that is so many seconds before."""
        return Deadline(self.seconds - seconds, self.begun)
