"""How a tuning goes on: what it says meanwhile, when it has to be over, what of it is measured again."""

from __future__ import annotations

import enum
import time
from dataclasses import dataclass, field

from coarsen.errors import DeviceError
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class TuningProgress:
    """The progress of a tuning.

    Attributes:
        kernel: its name.
        tried: how many variants were tried.
        variants: how many there are to try; None where that is not known.
        best: the fastest so far; None while nothing is faster than the launch as it is.
        gain: how many times as fast that is as the launch as it is, timed once.
        seconds_left: until all is over.
        is_confirming: whether the best are timed again.
    """

    kernel: str
    tried: int
    variants: int | None
    best: Variant | None
    gain: float
    seconds_left: float
    is_confirming: bool = False

    def __str__(self) -> str:
        """Return the progress in one line, without the seconds."""
        total = "" if self.variants is None else f" of {self.variants}"
        best = "nothing faster yet" if self.best is None else f"best so far {self.gain:.2f} ({self.best})"
        again = ", timed again" if self.is_confirming else ""
        return f"{self.kernel}: {self.tried}{total} variants, {best}{again}"


class Remeasure(enum.StrEnum):
    """The stored rows that are measured again.

    None, those that failed (not by constraints), those whose interval is too wide to say anything, all.
    """

    NOTHING = "nothing"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    EVERYTHING = "everything"


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
