"""The progress of `coarsen search replay`: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coarsen.cli.messages import note
from coarsen.cli.output import counted
from coarsen.opencl_bench.search.replay import Progress
from coarsen.printable import NOTE

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

SECONDS_BETWEEN_LINES = 30.0

Clock = Callable[[], float]


class Watch:
    """Keeps how far a replay is, and says it now and then.

    Args:
        clock: seconds since any moment.
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._start = self._said = clock()
        self._progress = Progress(0, 0, 0)

    def update(self, progress: Progress) -> None:
        """Take note of the progress."""
        self._progress = progress
        self._show()

    @property
    def kept(self) -> str:
        """Say how many runs there are to go on with."""
        return f"{self._progress.kept + self._progress.done} of {counted(self._progress.runs, 'run')}"

    def _show(self) -> None:
        own = self._progress
        if own.kept and not own.done:
            note(f"{self.kept} had been done before")
        now = self._clock()
        if now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            note(f"{self.kept}, {now - self._start:.0f} s")


class WatchOnTerminal(Watch):
    """The same as a bar.

    Args:
        bar: that it is drawn by.
    """

    def __init__(self, bar: Bar) -> None:
        super().__init__()
        self.bar = bar
        self._task = bar.add_task("runs", total=None)

    def _show(self) -> None:
        own = self._progress
        # The pace is that of this replay: what was kept took no time.
        words = f"runs beside {own.kept} done before" if own.kept else "runs"
        self.bar.update(self._task, description=words, total=own.runs - own.kept, completed=own.done)


@contextmanager
def watching() -> Iterator[Watch]:
    """Show the progress of a replay on standard error while the context lasts, unless notes are off."""
    if not sys.stderr.isatty() or not logging.getLogger("coarsen").isEnabledFor(NOTE):
        yield Watch()
        return
    # Imported late: only a terminal needs it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        yield WatchOnTerminal(bar)
