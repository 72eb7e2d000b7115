"""Shows how a tuning goes on: a live line where standard error is a terminal, else a line when it begins and ends.

each variant ─▶ TuningProgress ─▶ tuning sgemm: 12 of 240 variants, best so far 1.66 (factor 4), 8 s left
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from coarsen.errors import NOTE, printable_in_line
from coarsen.tuning.progress import TuningProgress
from coarsen.tuning.settings import Tune

_log = logging.getLogger("coarsen")

_REFRESHES_PER_SECOND = 4


class _Line:
    """The line about a tuning: its seconds go on while nothing else is told."""

    def __init__(self, kernel: str, seconds: float) -> None:
        self._text = f"tuning {kernel}"
        self._end = time.monotonic() + seconds

    def told(self, progress: TuningProgress) -> None:
        """Take what is told."""
        self._text, self._end = f"tuning {progress}", time.monotonic() + progress.seconds_left

    def __str__(self) -> str:
        """Return the line as it stands."""
        return f"{self._text}, {max(0.0, self._end - time.monotonic()):.0f} s left"


@contextmanager
def tuning_is_shown(kernel: str, settings: Tune) -> Iterator[Tune]:
    """Show how a kernel's tuning goes on while the context lasts.

    Where the settings have a `progress` of their own, that is told and nothing is shown; `-q` silences the line.

    Args:
        kernel: its name.
        settings: how it is tuned.

    Returns:
        The settings to tune with.
    """
    if settings.progress is not None:
        yield settings
    elif is_live():
        line = _Line(kernel, settings.seconds)
        with live_line(lambda: str(line)):
            yield replace(settings, progress=line.told)
    else:
        _log.log(NOTE, "tuning %s for up to %.3g s", kernel, settings.seconds)
        yield settings


def say_ending(text: str, settings: Tune) -> None:
    """Say how a tuning ended, where its beginning was said; of a live line nothing stays."""
    if settings.progress is None and not is_live():
        _log.log(NOTE, "%s", text)


def is_live() -> bool:
    """Return True if standard error is a terminal, and warnings are shown."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal and _log.isEnabledFor(logging.WARNING)


@contextmanager
def live_line(text: Callable[[], str]) -> Iterator[Callable[[str], None]]:
    """Draw a line on standard error, some times a second, while the context lasts; nothing stays of it.

    Returns:
        What prints a line that stays, above it.
    """
    # Imported late: most processes never draw.
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def drawn() -> Text:
        return Text(printable_in_line(text()), style="dim", no_wrap=True, overflow="ellipsis")

    with Live(
        get_renderable=drawn,
        console=Console(stderr=True, highlight=False, emoji=False),
        refresh_per_second=_REFRESHES_PER_SECOND,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as live:
        yield lambda line: live.console.print(Text(printable_in_line(line)))
