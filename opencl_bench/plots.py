"""All figures: each function draws one, `coarsen explore` and `coarsen evaluate` and the notebooks alike.

    figure = plots.draw_curves(results.frame())
    plots.save(figure, Path("curves.svg"))

In a notebook, a figure that is the last expression of a cell is shown, without pyplot or `%matplotlib`. Where a
cell draws several, `IPython.display.display(figure)` shows each.

The numbers behind them are computed in `figures`, and drawn there with Matplotlib; this module is where to find
them.
"""

from __future__ import annotations

from .figures.best_factors import best_factor_shares
from .figures.calibration import calibration_points
from .figures.curve_rows import curve_frame
from .figures.curves import curve_points
from .figures.draw_best_factors import draw_best_factors
from .figures.draw_calibration import draw_calibration
from .figures.draw_curves import draw_curves
from .figures.draw_growth import draw_growth
from .figures.draw_hinton import draw_hinton
from .figures.draw_loadings import draw_loadings
from .figures.draw_portability import draw_portability
from .figures.draw_predictions import draw_predictions
from .figures.draw_relevance import draw_relevance
from .figures.draw_violins import draw_violins
from .figures.files import rendered, save
from .figures.growth import growth_table
from .figures.hinton import top_shares
from .figures.loadings import loading_table
from .figures.portability import transfers
from .figures.predictions import choice_table, factor_table, markdown
from .figures.relevance import relevance_table, shared_projection
from .figures.scores import hit_table, score_table
from .figures.summary import best_table, geometric_means
from .figures.violins import violin_points
from .figures.window import show

__all__ = [
    "best_factor_shares",
    "best_table",
    "calibration_points",
    "choice_table",
    "curve_frame",
    "curve_points",
    "draw_best_factors",
    "draw_calibration",
    "draw_curves",
    "draw_growth",
    "draw_hinton",
    "draw_loadings",
    "draw_portability",
    "draw_predictions",
    "draw_relevance",
    "draw_violins",
    "factor_table",
    "geometric_means",
    "growth_table",
    "hit_table",
    "loading_table",
    "markdown",
    "relevance_table",
    "rendered",
    "save",
    "score_table",
    "shared_projection",
    "show",
    "top_shares",
    "transfers",
    "violin_points",
]
