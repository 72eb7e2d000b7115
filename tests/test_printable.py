"""Names of other people's files reach a terminal as text, never as something that it obeys."""

from __future__ import annotations

import logging

import pytest

from coarsen.errors import InvalidInputError, printable, printable_in_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("over\rwritten\b", r"over\rwritten\x08"),
        ("left\u202eright", r"left\u202eright"),
        ("\udc80", r"\udc80"),
        ("two\n\tlines", "two\n\tlines"),
        ("8×8, 1\u202f000 µs, Größe, 矩陣", "8×8, 1\u202f000 µs, Größe, 矩陣"),
        ("", ""),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_name_in_a_line_is_one_line() -> None:
    assert printable_in_line("two\n\tlines\x1b") == r"two\n\tlines\x1b"


def test_errors_and_the_log_show_escapes_and_leave_out_the_middle_of_long_lines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = InvalidInputError(f"x.toml: n: it must be a number, not '\x1b[31m{'a' * 100_000}'\nline\x07 2")
    first, second = str(error).splitlines()
    assert len(first) == 1000 and first.startswith(r"x.toml: n: it must be a number, not '\x1b[31maaa")
    assert "…" in first and first.endswith("aaa'") and second == r"line\x07 2"
    logging.getLogger("coarsen").warning("%s was tuned on %s", "a\x1b[2J", "b")
    logging.getLogger("coarsen").warning("it was tuned on %s, not here", "x" * 100_000)
    escaped, long = [record.getMessage() for record in caplog.records]
    assert escaped == r"a\x1b[2J was tuned on b"
    assert len(long) == 1000 and long.startswith("it was tuned on xxx") and long.endswith("xxx, not here")
