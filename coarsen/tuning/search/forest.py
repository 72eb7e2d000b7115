"""A forest that predicts log times of choices, with a lower bound for what it is unsure of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.tuning.search.evaluator import Trial
from coarsen.tuning.search.spaces import Choice, SearchSpace
from coarsen.tuning.search.surrogate import (
    NEEDED,
    Encoding,
    Floats,
    Predicted,
    Prior,
    expected_log_times,
    log_times,
    weight_of,
)

if TYPE_CHECKING:
    from sklearn.tree import ExtraTreeRegressor

# The seeds of scikit-learn's trees are below.
_SEEDS = 2**31 - 1


class Forest:
    """Extremely randomised trees (Geurts et al. 2006) on the logarithm of the time.

    They are those of scikit-learn's `ExtraTreesRegressor`, to the last bit, grown one by one: where a forest is
    small, that one copies estimators and looks at their parameters for most of its time.

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
        self._tree = _tree_class()
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
        trees = self._grown(_stored(self._encoding.rows(tried)), times - weight * expected, seed)
        return FittedForest(trees, self._encoding, self._prior, weight)

    def _grown(self, rows: NDArray[np.float32], targets: Floats, seed: int) -> tuple[ExtraTreeRegressor, ...]:
        """The trees that `ExtraTreesRegressor` grows of a seed."""
        from sklearn import config_context

        draw = np.random.RandomState(seed)
        with config_context(skip_parameter_validation=True):
            return tuple(
                self._tree(max_features=1.0, random_state=draw.randint(_SEEDS)).fit(
                    rows, targets, check_input=False
                )
                for _ in range(self._trees)
            )

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
        trees: their mean predicts how log times differ from what was expected.
        encoding: makes its rows.
        prior: see `Forest`.
        weight: of what the prior expects.
    """

    trees: tuple[ExtraTreeRegressor, ...]
    encoding: Encoding
    prior: Prior | None
    weight: float

    def predict(self, choices: Sequence[Choice]) -> Predicted:
        """Return mean and standard deviation over the trees."""
        rows = _stored(self.encoding.rows(choices))
        each = np.stack([tree.tree_.predict(rows)[:, 0] for tree in self.trees])
        predicted = Predicted(each.mean(axis=0), each.std(axis=0))
        return predicted.plus(self.weight * expected_log_times(self.prior, choices))


def _stored(rows: Floats) -> NDArray[np.float32]:
    """Rows as trees store them: each tree would convert them once more."""
    return np.ascontiguousarray(rows, dtype=np.float32)


def _tree_class() -> type[ExtraTreeRegressor]:
    try:
        # Imported late: only this search needs it.
        from sklearn.tree import ExtraTreeRegressor
    except ImportError as error:
        raise InvalidInputError(NEEDED) from error
    found: type[ExtraTreeRegressor] = ExtraTreeRegressor
    return found
