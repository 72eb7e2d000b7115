"""Figures: each function draws one, `coarsen results plot` and the notebooks alike.

    figure = plots.draw_curves(results.frame())
    plots.save(figure, Path("curves.svg"))

In a notebook, a figure that is the last expression of a cell is shown, without pyplot or `%matplotlib`. Where a
cell draws several, `IPython.display.display(figure)` shows each.

Their numbers and their drawing stand in `reporting`; this module gives access to all of them. A figure of your own
begins with `page`: its finding on top, your panels, and below them how to read it.
"""

from __future__ import annotations

from coarsen.opencl_bench.inputs.evidence import worth_of_choice, worth_of_versions
from coarsen.opencl_bench.reporting.draw_curves import curve_points, draw_curves
from coarsen.opencl_bench.reporting.sheet import legend_entry, page, rendered, save
from coarsen.opencl_bench.results.rows import best_table, comparisons, geometric_means

__all__ = [
    "best_table",
    "comparisons",
    "curve_points",
    "draw_curves",
    "geometric_means",
    "legend_entry",
    "page",
    "rendered",
    "save",
    "worth_of_choice",
    "worth_of_versions",
]
