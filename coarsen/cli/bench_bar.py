"""The progress bar of `coarsen bench`, on standard error where that is a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from coarsen.cli.bench_progress import Clock, Tally, best_so_far, duration, result_line, rows_per_minute
from coarsen.opencl_bench.sweep.plan import SweepPlan
from coarsen.opencl_bench.sweep.several import SweepResult
from coarsen.printable import printable, printable_in_line

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
