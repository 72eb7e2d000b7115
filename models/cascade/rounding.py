"""Numbers rounded to a grid, so that the last bits of another processor's arithmetic do not show in a model."""

from __future__ import annotations

import numpy as np

from coarsen.models.cascade.step_inputs import Array

GRID = 2.0**-12
_SIGNIFICANT_BITS = 24


def on_grid(values: Array) -> Array:
    """Return values rounded to multiples of 2⁻¹², without negative zeros; for values around 1."""
    return np.round(values / GRID) * GRID + 0.0


def significant(values: Array) -> Array:
    """Return values rounded to 24 significant bits; for values of any size."""
    mantissas, exponents = np.frexp(values)
    rounded: Array = np.ldexp(np.round(np.ldexp(mantissas, _SIGNIFICANT_BITS)), exponents - _SIGNIFICANT_BITS)
    return rounded
