"""Names of other people's files reach a terminal as text, never as something that it obeys."""

from __future__ import annotations

import pytest

from coarsen.printable import printable, printable_in_line


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
