"""The progress that a person sees while sweeps run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from coarsen.cli.messages import NowAndThen, note
from coarsen.cli.output import counted
from coarsen.errors import NOTE, printable, printable_in_line
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


class Tally(SweepsObserver):
    """Counts the rows of this run that no constraint rules out.

    Args:
        expected: how many rows each sweep will have.
        clock: seconds since any moment.

    Attributes:
        total: how many rows the run will have.
        rows: how many are there, found in the store or measured.
        measured: how many were measured.
        failed: how many failed.
        current: the kernel and the configuration that are being measured.
        best: the best configuration so far of the kernel that is being measured; None before there is one.
    """

    def __init__(self, expected: Mapping[SweepPlan, int], clock: Clock = time.monotonic) -> None:
        self.total = sum(expected.values())
        self.rows = self.measured = self.failed = 0
        self.current = ""
        self.best: BestRow | None = None
        self._rows: list[Measurement] = []
        self._trial = ""
        self._is_open = False
        self._clock = clock
        self._start = clock()
        self._expected = expected
        self._finished = 0

    @property
    def seconds(self) -> float:
        """Return the seconds that the run has taken so far."""
        return self._clock() - self._start

    @property
    def per_minute(self) -> float:
        """Rows measured per minute."""
        return 60 * self.measured / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Return the seconds that the rest takes at this pace, if all of it is measured; None where unknown."""
        if self._is_open:
            return None
        left = max(0, self.total - self.rows)
        return None if left and not self.per_minute else 60 * left / self.per_minute if left else 0.0

    def compiling(self, configurations: int) -> None:
        """See `SweepObserver`."""
        self.current = f"{self.current.partition(':')[0]}: compiling {configurations} configurations"

    def measuring(self, benchmark: str, candidate: Variant) -> None:
        """See `SweepObserver`."""
        self.current = f"{benchmark}: {self._trial}{candidate}"

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
        if measurement.role is not Role.SELECTION:
            self._rows.append(measurement)
            self._look_for_a_better_one(measurement)

    def _look_for_a_better_one(self, measurement: Measurement) -> None:
        gain = speedup_of(measurement, interval=False)
        known = self.best.speedup.ratio if self.best else 0.0
        # An interval takes milliseconds to compute, so slower configurations are skipped.
        if gain and (gain.ratio > known or measurement.role is Role.CONFIRMATION):
            self.best = best_row(self._rows)

    def counted(self, rows: int, measured: int) -> None:
        """See `SweepsObserver`."""
        self.rows, self.measured = rows, measured
        self.current = f"{self._finished} sweeps finished"

    def finished(self, result: SweepResult) -> None:
        """See `SweepsObserver`."""
        # A failed sweep does not measure its remaining rows any more.
        self.total -= max(0, self._expected[result.plan] - len(result.feasible_rows))
        self._is_open = False
        self._finished += 1


class PlainLines(Tally):
    """Prints a line about the progress now and then, and one for each sweep."""

    def __init__(self, expected: Mapping[SweepPlan, int], clock: Clock = time.monotonic) -> None:
        super().__init__(expected, clock)
        self._pace = NowAndThen(SECONDS_BETWEEN_LINES, clock)

    def measuring(self, benchmark: str, candidate: Variant) -> None:
        """See `SweepObserver`."""
        super().measuring(benchmark, candidate)
        self._say_now_and_then()

    def counted(self, rows: int, measured: int) -> None:
        """See `SweepsObserver`."""
        super().counted(rows, measured)
        self._say_now_and_then()

    def finished(self, result: SweepResult) -> None:
        """See `SweepsObserver`."""
        super().finished(result)
        note(result_line(result))

    def _say_now_and_then(self) -> None:
        if self._pace.is_due():
            note(progress_line(self))


def progress_line(tally: Tally) -> str:
    """Return the progress of a run, in one line."""
    left = tally.seconds_left
    parts = [
        f"{tally.rows} of {tally.total} rows",
        rows_per_minute(tally.per_minute),
        "" if left is None else f"about {duration(left)} left",
        f"{tally.failed} failed" if tally.failed else "",
        tally.current,
        best_so_far(tally),
    ]
    return ", ".join(filter(None, parts))


def best_so_far(tally: Tally) -> str:
    """Return the best known of the kernel that is being measured; nothing where none is faster yet."""
    best = tally.best
    return f"best so far {best.speedup.ratio:.2f}: {best.candidate}" if best and best.is_coarsened else ""


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


@contextmanager
def watching(expected: Mapping[SweepPlan, int]) -> Iterator[Tally]:
    """Show the progress of sweeps on standard error while the context lasts; `expected` are the rows of each."""
    quiet = not logging.getLogger("coarsen").isEnabledFor(NOTE)
    if quiet:
        yield Tally(expected)
    elif not sys.stderr.isatty():
        yield PlainLines(expected)
    else:
        # Imported late: only a terminal needs it.

        with bar(expected) as tally:
            yield tally


# The progress bar of `coarsen bench`, on standard error where that is a terminal.

REFRESHES_PER_SECOND = 4


class Bar(Tally):
    """A tally that is drawn: rows, pace, time left and failures beside the bar, what is measured below it.

    Args:
        expected: how many rows each sweep will have.
        console: where the line of a finished sweep is printed, above the bar.
        clock: seconds since any moment.
    """

    def __init__(self, expected: Mapping[SweepPlan, int], console: Console, clock: Clock = time.monotonic) -> None:
        super().__init__(expected, clock)
        self._console = console

    def finished(self, result: SweepResult) -> None:
        """See `SweepsObserver`."""
        super().finished(result)
        self._console.print(Text(printable(result_line(result)), style="" if not result.problem else "red"))

    def __rich__(self) -> Group:
        """The bar as it stands."""
        line = Table.grid(padding=(0, 2), expand=True)
        line.add_column(ratio=1)
        cells: list[ProgressBar | Text] = [ProgressBar(total=self.total, completed=self.rows), *self.figures()]
        for _ in cells[1:]:
            line.add_column(no_wrap=True, justify="right")
        line.add_row(*cells)
        below = map(printable_in_line, filter(None, (self.current, best_so_far(self))))
        return Group(line, *(Text(text, style="dim", no_wrap=True, overflow="ellipsis") for text in below))

    def figures(self) -> list[Text]:
        """Return the columns beside the bar."""
        left = self.seconds_left
        return [
            Text(f"{self.rows}/{self.total} rows"),
            Text(rows_per_minute(self.per_minute)),
            Text("time left unknown" if left is None else f"{duration(left)} left"),
            Text(f"{self.failed} failed", style="red" if self.failed else "dim"),
        ]


@contextmanager
def bar(expected: Mapping[SweepPlan, int]) -> Iterator[Bar]:
    """Draw a bar while the context lasts; it disappears after that, and the line of each sweep stays."""
    console = Console(stderr=True, highlight=False, emoji=False)
    drawn = Bar(expected, console)
    with Live(
        get_renderable=lambda: drawn.__rich__(),
        console=console,
        refresh_per_second=REFRESHES_PER_SECOND,
        transient=True,
        redirect_stdout=False,
    ):
        yield drawn
