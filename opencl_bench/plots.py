"""All figures: each function draws one, `coarsen results plot` and `coarsen evaluate` and the notebooks alike.

    figure = plots.draw_curves(results.frame())
    plots.save(figure, Path("curves.svg"))

In a notebook, a figure that is the last expression of a cell is shown, without pyplot or `%matplotlib`. Where a
cell draws several, `IPython.display.display(figure)` shows each.

Their numbers are computed in `numbers`, and drawn in `figures` with Matplotlib; this module gives access to all of
them.
"""

from __future__ import annotations

from coarsen.opencl_bench.reporting.figures.draw_best_factors import draw_best_factors
from coarsen.opencl_bench.reporting.figures.draw_calibration import draw_calibration
from coarsen.opencl_bench.reporting.figures.draw_curves import draw_curves
from coarsen.opencl_bench.reporting.figures.draw_deltas import draw_deltas
from coarsen.opencl_bench.reporting.figures.draw_growth import draw_growth
from coarsen.opencl_bench.reporting.figures.draw_hinton import draw_hinton
from coarsen.opencl_bench.reporting.figures.draw_input_times import draw_input_times
from coarsen.opencl_bench.reporting.figures.draw_loadings import draw_loadings
from coarsen.opencl_bench.reporting.figures.draw_portability import draw_portability
from coarsen.opencl_bench.reporting.figures.draw_predictions import draw_predictions
from coarsen.opencl_bench.reporting.figures.draw_relevance import draw_relevance
from coarsen.opencl_bench.reporting.figures.draw_violins import draw_violins
from coarsen.opencl_bench.reporting.figures.files import rendered, save
from coarsen.opencl_bench.reporting.figures.window import show
from coarsen.opencl_bench.reporting.numbers.best_factors import best_factor_shares
from coarsen.opencl_bench.reporting.numbers.calibration import calibration_points
from coarsen.opencl_bench.reporting.numbers.curve_rows import curve_frame
from coarsen.opencl_bench.reporting.numbers.curves import curve_points
from coarsen.opencl_bench.reporting.numbers.deltas import delta_table
from coarsen.opencl_bench.reporting.numbers.growth import growth_table
from coarsen.opencl_bench.reporting.numbers.hinton import top_shares
from coarsen.opencl_bench.reporting.numbers.input_times import input_times, section_times
from coarsen.opencl_bench.reporting.numbers.loadings import loading_table
from coarsen.opencl_bench.reporting.numbers.portability import transfers
from coarsen.opencl_bench.reporting.numbers.predictions import choice_table, factor_table, markdown
from coarsen.opencl_bench.reporting.numbers.relevance import relevance_table, shared_projection
from coarsen.opencl_bench.reporting.numbers.scores import hit_table, score_table
from coarsen.opencl_bench.reporting.numbers.tuned_tables import (
    break_even_table,
    input_gains,
    version_table,
)
from coarsen.opencl_bench.reporting.numbers.violins import violin_points
from coarsen.opencl_bench.results.best_table import best_table, geometric_means

__all__ = [
    "best_factor_shares",
    "best_table",
    "break_even_table",
    "calibration_points",
    "choice_table",
    "curve_frame",
    "curve_points",
    "delta_table",
    "draw_best_factors",
    "draw_calibration",
    "draw_curves",
    "draw_deltas",
    "draw_growth",
    "draw_hinton",
    "draw_input_times",
    "draw_loadings",
    "draw_portability",
    "draw_predictions",
    "draw_relevance",
    "draw_violins",
    "factor_table",
    "geometric_means",
    "growth_table",
    "hit_table",
    "input_gains",
    "input_times",
    "loading_table",
    "markdown",
    "relevance_table",
    "rendered",
    "save",
    "score_table",
    "section_times",
    "shared_projection",
    "show",
    "top_shares",
    "transfers",
    "version_table",
    "violin_points",
]
