"""A forest that predicts log times of choices, with a lower bound for what it is unsure of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.encoding import Encoding
from coarsen.opencl_bench.search.evaluator import Trial
from coarsen.opencl_bench.search.prior import Prior
from coarsen.opencl_bench.search.spaces import Choice, SearchSpace
from coarsen.opencl_bench.search.surrogate import (
    NEEDED,
    Floats,
    Predicted,
    expected_log_times,
    log_times,
    weight_of,
)

if TYPE_CHECKING:
    from sklearn.ensemble import ExtraTreesRegressor


class Forest:
    """Extremely randomised trees (Geurts et al. 2006) on the logarithm of the time.

    Args:
        space: has the axes.
        trees: how many are grown.
        prior: the expected log time of a choice, from which the trees learn how it differs, as far as what was
            measured confirms it; none where None.
        encoding: makes rows of choices; that of the values as they are where None.

    Raises:
        InvalidInputError: scikit-learn is not installed.
    """

    def __init__(
        self, space: SearchSpace, trees: int, prior: Prior | None = None, encoding: Encoding | None = None
    ) -> None:
        self._regressor = _regressor_class()
        self._encoding = encoding or Encoding(space)
        self._trees = trees
        self._prior = prior

    def fit(self, trials: Sequence[Trial], seed: int) -> FittedForest:
        """Fit everything tried. What failed or was killed counts as slow as the slowest that ran.

        Args:
            trials: at least one with a time.
            seed: of the trees.
        """
        times, tried = log_times(trials), [trial.choice for trial in trials]
        expected = expected_log_times(self._prior, tried)
        ran = [trial.time is not None for trial in trials]
        weight = weight_of(expected[ran], times[ran])
        forest = self._regressor(n_estimators=self._trees, random_state=seed)
        forest.fit(self._encoding.rows(tried), times - weight * expected)
        return FittedForest(forest, self._encoding, self._prior, weight)

    def lower_bounds(
        self, trials: Sequence[Trial], choices: Sequence[Choice], deviations: float, seed: int
    ) -> Floats:
        """Fit everything tried, and return mean − `deviations` · σ of the trees' log times for other choices.

        Args:
            trials: at least one with a time.
            choices: what to predict.
            deviations: of how many standard deviations the bound is below the mean.
            seed: of the trees.
        """
        predicted = self.fit(trials, seed).predict(choices)
        return predicted.mean - deviations * predicted.deviation


@dataclass(frozen=True, slots=True)
class FittedForest:
    """A forest that was fitted.

    Attributes:
        forest: predicts how log times differ from what was expected.
        encoding: makes its rows.
        prior: see `Forest`.
        weight: of what the prior expects.
    """

    forest: ExtraTreesRegressor
    encoding: Encoding
    prior: Prior | None
    weight: float

    def predict(self, choices: Sequence[Choice]) -> Predicted:
        """Return mean and standard deviation over the trees."""
        # As the trees store them: each would convert the rows once more.
        rows = self.encoding.rows(choices).astype(np.float32)
        each = np.stack([tree.tree_.predict(rows)[:, 0] for tree in self.forest.estimators_])
        predicted = Predicted(each.mean(axis=0), each.std(axis=0))
        return predicted.plus(self.weight * expected_log_times(self.prior, choices))


def _regressor_class() -> type[ExtraTreesRegressor]:
    try:
        # Imported late: only this search needs it.
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError as error:
        raise InvalidInputError(NEEDED) from error
    found: type[ExtraTreesRegressor] = ExtraTreesRegressor
    return found
