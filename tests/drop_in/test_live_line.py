"""What a person sees while a kernel is tuned: a live line on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from coarsen.drop_in import live_line
from coarsen.drop_in.live_line import say_ending, tuning_is_shown
from coarsen.errors import NOTE
from coarsen.tuning.progress import TuningProgress
from coarsen.tuning.settings import Tune
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

PROGRESS = TuningProgress("sgemm", 12, 240, Variant((), (Coarsening(4),)), 1.66, 8.2)


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines as they stood when their drawing ended."""
    lines: list[str] = []
    draw = live_line.live_line

    @contextmanager
    def noted(text: Callable[[], str]) -> Iterator[None]:
        with draw(text):
            yield
        lines.append(text())

    monkeypatch.setattr(live_line, "live_line", noted)
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    return lines


def test_on_a_terminal_a_line_says_how_far_it_is_and_nothing_stays(
    drawn: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    caplog.set_level(NOTE, "coarsen")
    for told in (
        None,
        replace(PROGRESS, best=None, variants=None),
        PROGRESS,
        replace(PROGRESS, is_confirming=True),
    ):
        with tuning_is_shown("sgemm", Tune(seconds=20)) as settings:
            assert settings.progress is not None
            if told is not None:
                settings.progress(told)
        say_ending("what was found", Tune())
    best = "best so far 1.66 (factor 4 along dimension 0)"
    assert drawn == [
        "tuning sgemm, 20 s left",
        "tuning sgemm: 12 variants, nothing faster yet, 8 s left",
        f"tuning sgemm: 12 of 240 variants, {best}, 8 s left",
        f"tuning sgemm: 12 of 240 variants, {best}, timed again, 8 s left",
    ]
    assert terminal.getvalue().endswith("\x1b[2K"), "the line is wiped away"
    assert caplog.messages == []


def test_elsewhere_a_line_says_that_it_begins_and_one_that_it_has_ended(
    drawn: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    caplog.set_level(NOTE, "coarsen")
    with tuning_is_shown("sgemm", Tune(seconds=20)) as settings:
        assert settings.progress is None
    say_ending("what was found", settings)
    assert caplog.messages == ["tuning sgemm for up to 20 s", "what was found"]
    assert drawn == []


def test_whoever_wants_to_be_told_is_shown_nothing(
    drawn: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    caplog.set_level(NOTE, "coarsen")
    told: list[TuningProgress] = []
    with tuning_is_shown("sgemm", Tune(progress=told.append)) as settings:
        assert settings.progress is not None
        settings.progress(PROGRESS)
    say_ending("what was found", settings)
    assert (told, drawn, caplog.messages) == ([PROGRESS], [], [])


def test_quiet_silences_the_line(
    drawn: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    caplog.set_level(logging.ERROR, "coarsen")
    with tuning_is_shown("sgemm", Tune()):
        pass
    assert (drawn, terminal.getvalue(), caplog.messages) == ([], "", [])
