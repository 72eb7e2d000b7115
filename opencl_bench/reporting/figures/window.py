"""Figures in windows. The one place that uses pyplot, which keeps the windows of a process."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.figure import Figure

from coarsen.errors import InvalidInputError

NO_WINDOW = "no window can be opened here: {reason}; write a file with -o instead"


def show(figures: Sequence[Figure]) -> None:
    """Open a window for each figure and wait until all are closed.

    Args:
        figures: from any of the drawing functions.

    Raises:
        InvalidInputError: there is no display, or nothing that opens windows (Tk or Qt for Python).
    """
    # Imported here: it is what chooses the back end.
    import matplotlib.pyplot as pyplot

    try:
        for figure in figures:
            # pyplot makes the window of the figure that this gives it.
            pyplot.figure(FigureClass=lambda figure=figure, **_: figure)
    except ImportError as error:
        raise InvalidInputError(NO_WINDOW.format(reason=" ".join(str(error).split()))) from None
    if not all(map(_has_window, figures)):
        pyplot.close("all")
        raise InvalidInputError(NO_WINDOW.format(reason="there is no display, or neither Tk nor Qt for Python"))
    pyplot.show(block=True)


def _has_window(figure: Figure) -> bool:
    """Back ends that only write files give their figures the plain manager."""
    return type(figure.canvas.manager) is not FigureManagerBase
