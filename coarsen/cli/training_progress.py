"""The progress of `coarsen train`: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from coarsen.cli.messages import note
from coarsen.printable import NOTE

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def training_progress() -> Iterator[Callable[[int, int], None]]:
    """Give what is to be told the iterations that are done and their total, while the context lasts."""
    if not logging.getLogger("coarsen").isEnabledFor(NOTE) or not sys.stderr.isatty():
        yield plain_lines()
        return
    # Imported late: only a terminal needs it.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("training"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("training", total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)


def plain_lines(clock: Callable[[], float] = time.monotonic) -> Callable[[int, int], None]:
    """Return what notes how much of a training is done, every ten seconds; `clock` gives seconds."""
    said: float | None = None

    def progress(done: int, total: int) -> None:
        nonlocal said
        now = clock()
        if said is None:
            said = now
        elif now - said >= SECONDS_BETWEEN_LINES and done < total:
            said = now
            note(f"training: {done / total:.0%} done")

    return progress
