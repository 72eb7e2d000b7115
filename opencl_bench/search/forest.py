"""A forest that predicts log times of choices, with a lower bound for what it is unsure of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.encoding import Encoding
from coarsen.opencl_bench.search.evaluator import Trial
from coarsen.opencl_bench.search.prior import Prior
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace

if TYPE_CHECKING:
    from sklearn.ensemble import ExtraTreesRegressor

# What was expected hardly differs: nothing measured tells against it.
_NO_SPREAD = 1e-12
_NEEDED = "a guided search needs scikit-learn: pip install 'coarsen[tune]'"


class Forest:
    """Extremely randomised trees (Geurts et al. 2006) on the logarithm of the time.

    Args:
        space: has the axes.
        trees: how many are grown.
        prior: the expected log time of a choice, from which the trees learn how it differs, as far as what was
            measured confirms it; none where None.

    Raises:
        InvalidInputError: scikit-learn is not installed.
    """

    def __init__(self, space: SearchSpace, trees: int, prior: Prior | None = None) -> None:
        self._regressor = _regressor_class()
        self._encoding = Encoding(space)
        self._trees = trees
        self._prior = prior

    def lower_bounds(
        self, trials: Sequence[Trial], choices: Sequence[Choice], deviations: float, seed: int
    ) -> NDArray[np.float64]:
        """Fit everything tried, and return mean − `deviations` · σ of the trees' log times for other choices.

        What failed or was killed counts as slow as the slowest that ran, so that the search keeps away from it.

        Args:
            trials: at least one with a time.
            choices: what to predict.
            deviations: of how many standard deviations the bound is below the mean.
            seed: of the trees.
        """
        slowest = max(trial.time for trial in trials if trial.time is not None)
        times = np.array([math.log(slowest if trial.time is None else trial.time) for trial in trials])
        tried = [trial.choice for trial in trials]
        forest = self._regressor(n_estimators=self._trees, random_state=seed)
        expected, ran = self._expected(tried), [trial.time is not None for trial in trials]
        weight = weight_of(expected[ran], times[ran])
        forest.fit(self._encoding.rows(tried), times - weight * expected)
        rows = self._encoding.rows(choices)
        predicted = np.stack([tree.predict(rows) for tree in forest.estimators_])
        bounds: NDArray[np.float64] = predicted.mean(axis=0) - deviations * predicted.std(axis=0)
        return bounds + weight * self._expected(choices)

    def _expected(self, choices: Sequence[Choice]) -> NDArray[np.float64]:
        """What the prior expects, 0 without one."""
        if self._prior is None:
            return np.zeros(len(choices))
        return np.array([self._prior(choice) for choice in choices], dtype=np.float64)


def weight_of(expected: NDArray[np.float64], measured: NDArray[np.float64]) -> float:
    """Return how far what was expected is to be believed, from 0 to 1: the slope of what was measured over it.

    Args:
        expected: log times.
        measured: log times of the same choices.
    """
    deviation = expected - expected.mean()
    spread = float(deviation @ deviation)
    return 1.0 if spread <= _NO_SPREAD else float(np.clip(deviation @ (measured - measured.mean()) / spread, 0, 1))


def _regressor_class() -> type[ExtraTreesRegressor]:
    try:
        # Imported late: only this search needs it.
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError as error:
        raise InvalidInputError(_NEEDED) from error
    found: type[ExtraTreesRegressor] = ExtraTreesRegressor
    return found
