"""The moment at which tuning has to be over."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


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

    def earlier(self, share: float) -> Deadline:
        """Return the moment when a share of the seconds has passed."""
        return Deadline(self.seconds * share, self.begun)
