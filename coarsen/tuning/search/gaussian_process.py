"""A Gaussian process that predicts log times of choices, smooth in the values and sure near what was tried."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.tuning.search.evaluator import Trial
from coarsen.tuning.search.spaces import Choice, SearchSpace
from coarsen.tuning.search.surrogate import (
    NEEDED,
    Floats,
    Predicted,
    Prior,
    UnitEncoding,
    expected_log_times,
    log_times,
    weight_of,
)

if TYPE_CHECKING:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Kernel

# The length scales are chosen anew whenever a quarter more was tried, from so many trials and in so many steps:
# that costs the cube of the number.
_GROWTH = 1.25
_MOST_FITTED = 120
_STEPS = 15
# Deviations cost the square of the number tried for each choice: only those of least mean get one.
_WITH_DEVIATION = 1000
_SMALLEST_SPREAD = 1e-9


class GaussianProcess:
    """Gaussian process with a Matérn kernel (ν = 5/2) of one length scale for each column, and noise.

    Args:
        space: has the axes.
        prior: the expected log time of a choice, from which is learned how it differs; none where None.

    Raises:
        InvalidInputError: scikit-learn is not installed.
    """

    def __init__(self, space: SearchSpace, prior: Prior | None = None) -> None:
        self._encoding = UnitEncoding(space)
        self._regressor = _regressor_class()
        self._prior = prior
        self._kernel: Kernel | None = None
        self._chosen_from = 0

    def fit(self, trials: Sequence[Trial], seed: int) -> FittedProcess:
        """Fit everything tried. What failed or was killed counts as slow as the slowest that ran.

        Args:
            trials: at least one with a time.
            seed: of the trials that the length scales are chosen from.
        """
        times, tried = log_times(trials), [trial.choice for trial in trials]
        expected = expected_log_times(self._prior, tried)
        ran = [trial.time is not None for trial in trials]
        weight = weight_of(expected[ran], times[ran])
        differences = times - weight * expected
        center, spread = float(differences.mean()), float(differences.std()) + _SMALLEST_SPREAD
        rows, targets = self._encoding.rows(tried), (differences - center) / spread
        if len(trials) >= _GROWTH * self._chosen_from:
            self._chosen_from = len(trials)
            self._kernel = self._chosen_kernel(rows, targets, seed)
        process = self._regressor(self._kernel, optimizer=None).fit(rows, targets)
        return FittedProcess(process, self._encoding, center, spread, self._prior, weight)

    def _chosen_kernel(self, rows: Floats, targets: Floats, seed: int) -> Kernel:
        kernel = _first_kernel(rows.shape[1]) if self._kernel is None else self._kernel
        some = _some(targets, seed)
        with warnings.catch_warnings():
            # A length scale at its bound is fine: the axis matters little, or each of its values is its own.
            warnings.simplefilter("ignore")
            return self._regressor(kernel, optimizer=_few_steps).fit(rows[some], targets[some]).kernel_


@dataclass(frozen=True, slots=True)
class FittedProcess:
    """A Gaussian process that was fitted.

    Attributes:
        process: predicts how log times differ from what was expected, less `center` and over `spread`.
        encoding: makes its rows.
        center: the mean of the differences.
        spread: their standard deviation.
        prior: see `GaussianProcess`.
        weight: of what the prior expects.
    """

    process: GaussianProcessRegressor
    encoding: UnitEncoding
    center: float
    spread: float
    prior: Prior | None
    weight: float

    def predict(self, choices: Sequence[Choice]) -> Predicted:
        """Return mean and standard deviation, the noise of measuring left out; of slow ones only the mean."""
        rows = self.encoding.rows(choices)
        mean: Floats = self.process.predict(rows)
        deviation = np.zeros(len(mean))
        fast = np.argsort(mean, kind="stable")[:_WITH_DEVIATION]
        _, total = self.process.predict(rows[fast], return_std=True)
        noise = self.process.kernel_.k2.noise_level
        deviation[fast] = np.sqrt(np.maximum(total**2 - noise, 0.0))
        predicted = Predicted(mean * self.spread + self.center, deviation * self.spread)
        return predicted.plus(self.weight * expected_log_times(self.prior, choices))


def _first_kernel(columns: int) -> Kernel:
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    scales = Matern(np.full(columns, 0.5), (0.05, 20.0), nu=2.5)
    return ConstantKernel(1.0, (1e-2, 1e2)) * scales + WhiteKernel(1e-3, (1e-6, 0.3))


def _some(targets: Floats, seed: int) -> NDArray[np.intp]:
    """The places of the trials to choose length scales from: where they are too many, the fastest and any."""
    order = np.argsort(targets, kind="stable")
    if len(order) <= _MOST_FITTED:
        return np.arange(len(order))
    half = _MOST_FITTED // 2
    others = np.random.default_rng(seed).choice(order[half:], half, replace=False)
    return np.concatenate([order[:half], others])


def _few_steps(loss: Callable[..., Any], start: Floats, bounds: Floats) -> tuple[Floats, float]:
    """Minimise as scikit-learn does, but not to the end: the next choice begins where this one ended."""
    from scipy.optimize import minimize

    found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": _STEPS})
    return found.x, float(found.fun)


def _regressor_class() -> type[GaussianProcessRegressor]:
    try:
        # Imported late: only this search needs it.
        from sklearn.gaussian_process import GaussianProcessRegressor
    except ImportError as error:
        raise InvalidInputError(NEEDED) from error
    found: type[GaussianProcessRegressor] = GaussianProcessRegressor
    return found
