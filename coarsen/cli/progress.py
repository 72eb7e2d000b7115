"""The progress of long work, in one line: drawn all the time on a terminal, noted now and then elsewhere.

sweeps, searches, inputs ─▶ Tally ─┐
fits of a model          ─▶ Fits ──┴▶ watching: 12 of 240 rows, 31 rows/min, about 8 min left, mt: factor 4
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from coarsen.cli.messages import note
from coarsen.cli.output import counted
from coarsen.drop_in.live_line import is_live, live_line
from coarsen.opencl_bench.results.best import BestRow, best_row
from coarsen.opencl_bench.sweep.several import SweepResult, SweepsObserver
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.records.measurement import Invalidity, Role

if TYPE_CHECKING:
    from coarsen.tuning.engine.observer import SearchProgress
    from coarsen.tuning.records.measurement import Measurement
    from coarsen.variant.variant import Variant

SECONDS_BETWEEN_LINES = 30.0

Clock = Callable[[], float]


class Line:
    """A line about work that goes on, its text by `str`.

    Args:
        clock: seconds since any moment.

    Attributes:
        is_drawn: whether it is on a terminal, and not to be noted.
        say: prints a line that stays.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.is_drawn = False
        self.say: Callable[[str], None] = note
        self._clock = clock
        self._start = self._noted = clock()

    def moved(self) -> None:
        """Note the line where it is not drawn, and was not noted for half a minute."""
        if not self.is_drawn and self._clock() - self._noted >= SECONDS_BETWEEN_LINES:
            self._noted = self._clock()
            note(str(self))


L = TypeVar("L", bound=Line)


@contextmanager
def watching(line: L) -> Iterator[L]:
    """Show a line on standard error while the context lasts, unless -q was given."""
    if not is_live():
        yield line
        return
    with live_line(line.__str__) as line.say:
        line.is_drawn = True
        yield line


class Fits(Line):
    """Tells how many fits of a model, or steps of one, are done."""

    _text = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take what is told."""
        self._text = f"{what}: {done} of {total}"
        self.moved()

    def __str__(self) -> str:
        """Return the progress in one line."""
        return self._text


class Tally(Line, SweepsObserver):
    """Counts the rows of this run that no constraint rules out.

    Args:
        expected: how many rows each sweep will have; nothing where that isn't known.
        clock: seconds since any moment.

    Attributes:
        total: how many rows the run will have.
        rows: how many are there, found in the store or measured.
        measured: how many were measured.
        failed: how many failed.
        current: the kernel and the configuration that are being measured.
        best: the best configuration so far of the kernel that is being measured; None before there is one.
    """

    def __init__(
        self, expected: Mapping[SweepPlan, int] = MappingProxyType({}), clock: Clock = time.monotonic
    ) -> None:
        super().__init__(clock)
        self.total = sum(expected.values())
        self.rows = self.measured = self.failed = 0
        self.current = ""
        self.best: BestRow | None = None
        self._rows: list[Measurement] = []
        self._trial = ""
        self._is_open = False
        self._expected = expected

    @property
    def per_minute(self) -> float:
        """Rows measured per minute."""
        seconds = self._clock() - self._start
        return 60 * self.measured / seconds if seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds that the rest takes at this pace, if all of it is measured; None where unknown."""
        if self._is_open or not self._expected:
            return None
        left = max(0, self.total - self.rows)
        return None if left and not self.per_minute else 60 * left / self.per_minute if left else 0.0

    def compiling(self, configurations: int) -> None:
        """See `SweepObserver`."""
        self.current = f"{self.current.partition(':')[0]}: compiling {configurations} configurations"

    def measuring(self, benchmark: str, candidate: Variant) -> None:
        """See `SweepObserver`."""
        self.current = f"{benchmark}: {self._trial}{candidate}"
        self.moved()

    def trying(self, progress: SearchProgress) -> None:
        """See `SweepObserver`."""
        self._trial = f"{progress}, "
        self._is_open = progress.most_trials is None
        # How many trials there will be is not known, so each counts when it comes.
        self.total += self._is_open

    def planned(self, benchmark: str, device: str, configurations: int) -> None:
        """See `SweepObserver`."""
        self.current = f"{benchmark}: {device}"
        self.best, self._rows, self._trial, self._is_open = None, [], "", False

    def stored(self, measurement: Measurement, measured: bool) -> None:
        """See `SweepObserver`."""
        self._trial = ""
        if measurement.invalidity is Invalidity.CONSTRAINTS:
            return
        self.rows += 1
        self.measured += measured
        self.failed += measurement.invalidity is not Invalidity.CORRECT
        if self._expected and measurement.role is not Role.SELECTION:
            self._rows.append(measurement)
            self._look_for_a_better_one(measurement)

    def _look_for_a_better_one(self, measurement: Measurement) -> None:
        gain = speedup_of(measurement, interval=False)
        known = self.best.speedup.ratio if self.best else 0.0
        # An interval takes milliseconds to compute, so slower configurations are skipped.
        if gain and (gain.ratio > known or measurement.role is Role.CONFIRMATION):
            self.best = best_row(self._rows)

    def finished(self, result: SweepResult) -> None:
        """See `SweepsObserver`."""
        # A failed sweep does not measure its remaining rows any more.
        self.total -= max(0, self._expected[result.plan] - len(result.feasible_rows))
        self._is_open = False
        self.say(result_line(result))

    def __str__(self) -> str:
        """Return the progress in one line."""
        left, best = self.seconds_left, self.best
        parts = [
            f"{self.rows} of {self.total} rows" if self._expected else counted(self.rows, "row"),
            rows_per_minute(self.per_minute),
            "" if left is None else f"about {duration(left)} left",
            f"{self.failed} failed" if self.failed else "",
            self.current,
            f"best so far {best.speedup.ratio:.2f}: {best.candidate}" if best and best.is_coarsened else "",
        ]
        return ", ".join(filter(None, parts))


def result_line(result: SweepResult) -> str:
    """Return the result of a sweep, in one line."""
    feasible = result.feasible_rows
    failed = sum(row.invalidity is not Invalidity.CORRECT for row in feasible)
    constrained = len(result.rows) - len(feasible)
    parts = [
        f"{counted(len(feasible), 'row')}, {len(result.measured)} of them measured in {duration(result.seconds)}",
        f"{failed} failed" if failed else "",
        f"{constrained} broke a constraint" if constrained else "",
        # Why comes with the other errors, at the end.
        "ended with an error" if result.problem else "",
    ]
    return f"{result.benchmark} on {result.plan.device}: {', '.join(filter(None, parts))}"


def rows_per_minute(number: float) -> str:
    """Return a rate to read, two digits of it where it is slow: `0.71 rows/min`, `3 rows/min`, `120 rows/min`."""
    return f"{number:.0f} rows/min" if number >= 10 else f"{number:.2g} rows/min"


def duration(seconds: float) -> str:
    """Return a duration to read: `8 s`, `12 min`, `1 h 05 min`."""
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
