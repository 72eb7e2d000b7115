"""Show the progress of tuning over inputs on standard error: live on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

from coarsen.cli.bench_progress import SECONDS_BETWEEN_LINES, rows_per_minute
from coarsen.cli.messages import NowAndThen, note
from coarsen.cli.output import counted
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement
from coarsen.opencl_bench.sweep.observer import SweepObserver
from coarsen.variant.variant import Variant


class InputsProgress(SweepObserver):
    """Counts rows, and prints a line about them now and then. How many there will be, a search doesn't know.

    Args:
        clock: seconds since any moment.
        is_live: whether the line is drawn all the time, by somebody else, and not printed.

    Attributes:
        measured: how many rows were measured.
        found: how many the store had.
        failed: how many of both failed.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, is_live: bool = False) -> None:
        self.measured = self.found = self.failed = 0
        self._input = ""
        self._clock = clock
        self._is_live = is_live
        self._current = ""
        self._pace = NowAndThen(SECONDS_BETWEEN_LINES, clock)

    def measuring(self, benchmark: str, candidate: Variant) -> None:
        """See `SweepObserver`."""
        self._current = str(candidate)
        if not self._is_live and self._pace.is_due():
            note(self.line)

    def stored(self, measurement: Measurement, measured: bool) -> None:
        """See `SweepObserver`."""
        if measurement.invalidity is Invalidity.CONSTRAINTS:
            return
        self._input = measurement.subject.preset
        self.measured += measured
        self.found += not measured
        self.failed += measurement.invalidity is not Invalidity.CORRECT

    @property
    def line(self) -> str:
        """Return the progress and what is measured now, in one line."""
        return f"{self}; now {self._current}" if self._current else str(self)

    def __str__(self) -> str:
        """Return the progress in one line."""
        seconds = self._clock() - self._pace.start
        parts = [
            f"{counted(self.measured, 'row')} measured",
            rows_per_minute(60 * self.measured / seconds) if seconds > 0 else "",
            f"{self.found} found in the store" if self.found else "",
            f"{self.failed} failed" if self.failed else "",
            f"the last at {self._input}" if self._input else "",
        ]
        return ", ".join(filter(None, parts))
