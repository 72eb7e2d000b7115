"""A figure shows itself in a notebook: IPython gets its picture, and words for who can't see it."""

from __future__ import annotations

import struct
from typing import Any

from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure

from coarsen.opencl_bench import plots
from coarsen.opencl_bench.reporting.sheet import SCREEN_RESOLUTION, page

FINDING = "Coarsening helps, and this is the finding"


def shown(figure: Figure) -> tuple[dict[str, bytes], dict[str, object]]:
    """What IPython makes of the figure: its forms, and what describes them."""
    formatter: Any = DisplayFormatter()
    data, metadata = formatter.format(figure)
    return data, metadata


def test_a_notebook_shows_the_figure_with_its_finding() -> None:
    figure = page(6.0, 2.0, FINDING).figure
    data, metadata = shown(figure)
    width, height = struct.unpack(">II", data["image/png"][16:24])
    assert (width, height) == tuple(int(length * SCREEN_RESOLUTION) for length in figure.get_size_inches())
    assert metadata["image/png"] == {"alt": FINDING}


def test_showing_changes_no_file() -> None:
    figure = page(6.0, 2.0, FINDING).figure
    before = plots.rendered(figure, "svg"), plots.rendered(figure, "png")
    shown(figure)
    assert (plots.rendered(figure, "svg"), plots.rendered(figure, "png")) == before
    assert len(plots.rendered(figure, "png", 50)) < len(before[1])
