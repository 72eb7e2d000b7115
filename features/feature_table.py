"""Features of one kernel over the coarsening factors, and how much a step between two changes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.features.feature_values import RowsByFactor
from coarsen.features.feature_vector import FEATURE_SET_VERSION, Features

FACTORS = (1, 2, 4, 8, 16, 32)
"""The factors that features are computed at, and that the predictors choose from: 1, 2, 4, 8, 16, 32."""


@dataclass(frozen=True)
class FeatureTable(RowsByFactor[Features]):
    """The features of a kernel at each factor along one dimension.

    `kernel` is the kernel's name, `rows` the features by factor, in rising order of the factors, `version` that of
    the feature set; `identity` tells kernels apart by their code (`kernel_identity`), empty where it is not known.
    """

    kernel: str
    dimension: int
    rows: Mapping[int, Features]
    version: int = FEATURE_SET_VERSION
    identity: str = ""

    def delta(self, before: int, after: int) -> NDArray[np.float64]:
        """Return how the features change, relatively, between two factors.

        Args:
            before: a factor of the table.
            after: another one.

        Returns:
            The changes in the order of `FEATURES`, shape (17,); see `relative_delta`.

        Raises:
            InvalidInputError: the table has no such factor.
        """
        return relative_delta(self.at(before).vector(), self.at(after).vector())


def relative_delta(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the relative change (after - before) / before of each feature (Magni et al., PACT 2014).

    Where `before` is 0, which the paper leaves open, the denominator is 1: no change gives 0, growth gives
    the plain difference.

    Args:
        before: the features at one factor, any shape.
        after: those at another, of the same shape.

    Returns:
        The changes, of that shape.
    """
    return (after - before) / np.where(before == 0.0, 1.0, before)
