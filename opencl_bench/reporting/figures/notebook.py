"""Figures in notebooks: one that is the last expression of a cell is shown."""

from __future__ import annotations

import io

from matplotlib.figure import Figure
from PIL import Image

from coarsen.opencl_bench.reporting.figures.files import rendered

# Dots per inch: as wide as a notebook's text, and small enough to be stored in it.
SCREEN_RESOLUTION = 110


class ShownFigure(Figure):  # type: ignore[misc]  # Matplotlib's annotations are unfinished
    """A figure that Jupyter shows by itself, without pyplot and without `%matplotlib inline`.

    Matplotlib's own figure is shown by pyplot's back end alone, which keeps every figure of a process and has
    settings of its own. The figure's label is what a screen reader says instead of the picture.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        """The picture and what describes it, as IPython asks for them."""
        return _with_few_colours(rendered(self, "png", SCREEN_RESOLUTION)), {"alt": str(self.get_label())}


def _with_few_colours(picture: bytes) -> bytes:
    """The PNG with a palette, which has a third of the bytes: notebooks are stored with their figures."""
    smaller = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        colours = image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        colours.save(smaller, "PNG", optimize=True)
    return smaller.getvalue()
