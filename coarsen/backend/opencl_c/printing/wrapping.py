"""Breaks long lines of C between operands and arguments, outermost ones first."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WIDTH = 110
_SHORTEST = 40
_INDENT = "    "
_BREAK = re.compile(r"(?<=,) |(?= (?:\+|-|\*|&&|\|\||\||\^|\?|:) )")


def wrapped(line: str) -> Iterator[str]:
    """The line, or several that C reads as the same; one with a string literal stays whole."""
    indent = line[: len(line) - len(line.lstrip())] + _INDENT
    while len(line) > _WIDTH and '"' not in line:
        place = _best_break(line)
        if place is None:
            break
        yield line[:place].rstrip()
        line = indent + line[place:].lstrip()
    yield line


def _best_break(line: str) -> int | None:
    """The last break at the outermost level of parentheses that lies within the width."""
    depths = list(_depths(line))
    shortest = max(_SHORTEST, len(line) - len(line.lstrip()) + _SHORTEST)
    places = [match.start() for match in _BREAK.finditer(line, shortest, _WIDTH)]
    return min(places, key=lambda place: (depths[place], -place), default=None)


def _depths(line: str) -> Iterator[int]:
    depth = 0
    for character in line:
        yield depth
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
