"""What is written in a figure."""

from __future__ import annotations

from collections.abc import Iterator

from matplotlib.figure import Figure
from matplotlib.text import Text


def texts(figure: Figure) -> Iterator[Text]:
    """The texts that can be seen."""
    return (text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip())


def written(figure: Figure) -> str:
    """All that is written, with every line break a space."""
    return "\n".join(" ".join(text.get_text().split()) for text in texts(figure))
