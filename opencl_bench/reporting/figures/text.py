"""Text in lines: how wide it is, and where it has to be broken."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

LABEL_SIZE = 7.5
# Where a line may end: not in "dimension 1", nor in "95 %".
_SPACE = re.compile(r" +(?!%|\d+\b)")


def filled(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """The text in lines that fit a width in inches, set in points; numbers stay with what they are of."""
    lines: list[str] = []
    for word in filter(None, _SPACE.split(text.strip())):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def lines_of(label: str, length: float) -> str:
    """The label of an axis of a length in inches, on as many lines as it needs."""
    return "\n".join(filled(label, length, LABEL_SIZE))


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Return the width of a line of text, in inches."""
    font = FontProperties(family="DejaVu Sans", weight=weight, size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72


def wrapped(label: str, width: int) -> str:
    """A label on several lines of at most so many characters; longer words are left whole."""
    return textwrap.fill(label, width, break_long_words=False)


def listed(parts: Sequence[str]) -> str:
    """The parts as a sentence lists them: `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
