"""Lines of OpenCL C: indentation and blocks."""

from __future__ import annotations

from collections.abc import Iterable

INDENTATION = "    "
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"


def indented(lines: Iterable[str]) -> list[str]:
    """Lines one level further in; empty ones stay empty."""
    return [INDENTATION + line if line else line for line in lines]


def block(head: str, lines: list[str]) -> list[str]:
    """A statement with a body, in braces where that has several lines."""
    if len(lines) == 1 and not lines[0].startswith("barrier"):
        return [head, *indented(lines)]
    return [f"{head} {{", *indented(lines), "}"]
