"""Figures of measured speed-ups: the numbers of each, and their drawing with Matplotlib.

`curves`, `violins`, `hinton`, `portability` and `summary` compute; `draw_curves`, `draw_violins`, `draw_hinton`
and `draw_portability` draw; `files` and `window` show. All take the frame that
`coarsen.opencl_bench.results.frames` makes of measurements.

Published data: `curve_rows` makes such a frame of curves, `best_factors` and `draw_best_factors` show best factors
alone. `remarks` is what a figure has to say of its rows.

Figures of predictors: `loadings` and `relevance` (the cascade's components), `deltas` (what it learns from),
`predictions` and `calibration` (an evaluation), each with its `draw_` module.
"""
