"""What a network of the cascade sees at one factor: the features there, and how the next step changes them.

Magni, Dubach and O'Boyle (PACT 2014), section 6, take the features and their relative deltas as candidates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coarsen.features import FACTORS, FEATURES, FeatureTable

Array = NDArray[np.float64]

STEP_FACTORS = FACTORS[:-1]
INPUT_COUNT = 2 * len(FEATURES)


def step_inputs(table: FeatureTable, factor: int) -> Array:
    """Return the inputs of the step from `factor` to twice that, (34,): 17 features, then their 17 deltas.

    Raises:
        InvalidInputError: the table lacks one of the two factors.
    """
    return np.concatenate([table.at(factor).vector(), table.delta(factor, 2 * factor)])


def inputs_of_feature(index: int) -> tuple[int, int]:
    """Return where the inputs hold a feature and its delta."""
    return index, index + len(FEATURES)
