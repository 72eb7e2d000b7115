"""The arrays that trees take and give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Inputs, (rows, inputs).
Rows = NDArray[np.float32]

_LARGEST = float(np.finfo(np.float16).max)


def in_half_precision(values: Array) -> Rows:
    """Return inputs rounded to half precision, so that thresholds between them can be stored in it."""
    return np.clip(values, -_LARGEST, _LARGEST).astype(np.float16).astype(np.float32)
