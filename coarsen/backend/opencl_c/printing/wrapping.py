"""Breaks long lines of C between operands and arguments, outermost ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WIDTH = 110
_SHORTEST = 40
_INDENT = "    "
_COMMA = ", "
_OPERATORS = frozenset({" + ", " - ", " * ", " && ", " || ", " | ", " ^ ", " ? ", " : "})
_DEPTHS = {"(": 1, "[": 1, ")": -1, "]": -1}


@dataclass(frozen=True, slots=True)
class _Break:
    """A blank where a line may end: its place in the text, how deep in parentheses, and how wide."""

    place: int
    depth: int
    width: int


def wrapped(line: Sequence[str]) -> Iterator[str]:
    """Yield the text of a line's tokens, or several lines that C reads as the same; with a string literal, one."""
    text = "".join(line)
    if len(text) <= _WIDTH or '"' in text:
        yield text
        return
    breaks = list(_breaks(line))
    indent = text[: len(text) - len(text.lstrip())] + _INDENT
    start, before = 0, ""
    shortest = len(indent) - len(_INDENT) + _SHORTEST
    while len(before) + len(text) - start > _WIDTH:
        place = _best(breaks, start - len(before), shortest)
        if place is None:
            break
        yield before + text[start:place].rstrip()
        start, before = place + 1, indent
        shortest = len(indent) + _SHORTEST
    yield before + text[start:]


def _best(breaks: Sequence[_Break], left: int, shortest: int) -> int | None:
    """Return the last break at the outermost level of parentheses that lies within the width."""
    fitting = [one for one in breaks if shortest <= one.place - left and one.place + one.width - left <= _WIDTH]
    best = min(fitting, key=lambda one: (one.depth, -one.place), default=None)
    return best.place if best is not None else None


def _breaks(line: Sequence[str]) -> Iterator[_Break]:
    place = depth = 0
    for token in line:
        if token == _COMMA:
            yield _Break(place + 1, depth, 1)
        elif token in _OPERATORS:
            yield _Break(place, depth, len(token))
        depth += _DEPTHS.get(token, 0)
        place += len(token)
