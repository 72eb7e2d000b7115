"""Figures of measured speed-ups: the numbers behind each, and their drawing with Matplotlib.

`curves`, `violins`, `hinton`, `portability` and `summary` compute; `draw_curves`, `draw_violins`, `draw_hinton`
and `draw_portability` draw; `files` and `window` show. All take the frame that
`coarsen.opencl_bench.exchange.frames` makes of measurements.

Figures of predictors: `loadings` and `relevance` (the cascade's components), `predictions` and `calibration` (an
evaluation), each with its `draw_` module.
"""
