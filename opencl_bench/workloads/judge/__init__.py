"""The second judge: one host driver per kernel; each module defines `BENCHMARK`.

Nothing that is chosen (features, models, settings, thresholds) may depend on these kernels or on measurements of
them: they are measured once, at the end of an evaluation.
"""
