"""The clock by which the launches of a workload are timed as one job."""

from __future__ import annotations

import enum


class Clock(enum.StrEnum):
    """How the time of several launches is told.

    `sum`: the durations of the launches, added up. `span`: from the start of the first launch to the end of the
    last one, with whatever lies between two of them: so a version of two launches can be compared with one of one.
    """

    SUM = "sum"
    SPAN = "span"
