"""The two models of guided search: a forest, which has steps, and a Gaussian process, which is smooth."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.tuning.search.spaces import SearchSpace
from coarsen.tuning.search.surrogate import Floats, Predicted, Surrogate, product_rows, unit_rows

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

# The length scales are chosen anew whenever a quarter more was tried, from so many trials and in so many steps:
# that costs the cube of the number.
_GROWTH = 1.25
_MOST_FITTED = 120
_STEPS = 15
# Deviations cost the square of the number tried for each choice: only those of least mean get one.
_WITH_DEVIATION = 1000
_SMALLEST_SPREAD = 1e-9


def check_package() -> None:
    """Raise InvalidInputError where scikit-learn is not installed."""
    try:
        # Imported late: only a guided search needs it.
        import sklearn.ensemble
        import sklearn.gaussian_process
    except ImportError as error:
        raise InvalidInputError("a guided search needs scikit-learn: pip install 'coarsen[tune]'") from error
    del sklearn


class Forest(Surrogate):
    """Extremely randomised trees (Geurts et al. 2006) on the logarithm of the time.

    Args:
        space: has the axes.
        trees: how many are grown.
    """

    def __init__(self, space: SearchSpace, trees: int) -> None:
        super().__init__(product_rows(space))
        self._trees = trees

    def _learned(self, rows: Floats, times: Floats, seed: int) -> Callable[[Floats], Predicted]:
        from sklearn.ensemble import ExtraTreesRegressor

        forest = ExtraTreesRegressor(n_estimators=self._trees, random_state=seed).fit(_stored(rows), times)

        def predicted(asked: Floats) -> Predicted:
            stored = _stored(asked)
            each = np.stack([tree.tree_.predict(stored)[:, 0] for tree in forest.estimators_])
            return Predicted(each.mean(axis=0), each.std(axis=0))

        return predicted


def _stored(rows: Floats) -> NDArray[np.float32]:
    """Rows as trees store them: each tree would convert them once more."""
    return np.ascontiguousarray(rows, dtype=np.float32)


class GaussianProcess(Surrogate):
    """Gaussian process with a Matérn kernel (ν = 5/2) of one length scale for each column, and noise.

    Args:
        space: has the axes.
    """

    def __init__(self, space: SearchSpace) -> None:
        super().__init__(unit_rows(space))
        self._kernel: Kernel | None = None
        self._chosen_from = 0

    def _learned(self, rows: Floats, times: Floats, seed: int) -> Callable[[Floats], Predicted]:
        """See `Surrogate`; the noise of measuring is left out of deviations, and slow choices have none."""
        from sklearn.gaussian_process import GaussianProcessRegressor

        center, spread = float(times.mean()), float(times.std()) + _SMALLEST_SPREAD
        targets = (times - center) / spread
        if len(rows) >= _GROWTH * self._chosen_from:
            self._chosen_from = len(rows)
            self._kernel = self._chosen_kernel(rows, targets, seed)
        process = GaussianProcessRegressor(self._kernel, optimizer=None).fit(rows, targets)

        def predicted(asked: Floats) -> Predicted:
            mean: Floats = process.predict(asked)
            deviation = np.zeros(len(mean))
            fast = np.argsort(mean, kind="stable")[:_WITH_DEVIATION]
            _, total = process.predict(asked[fast], return_std=True)
            deviation[fast] = np.sqrt(np.maximum(total**2 - process.kernel_.k2.noise_level, 0.0))
            return Predicted(mean * spread + center, deviation * spread)

        return predicted

    def _chosen_kernel(self, rows: Floats, targets: Floats, seed: int) -> Kernel:
        from sklearn.gaussian_process import GaussianProcessRegressor

        kernel = _first_kernel(rows.shape[1]) if self._kernel is None else self._kernel
        some = _some(targets, seed)
        with warnings.catch_warnings():
            # A length scale at its bound is fine: the axis matters little, or each of its values is its own.
            warnings.simplefilter("ignore")
            fitted = GaussianProcessRegressor(kernel, optimizer=_few_steps).fit(rows[some], targets[some])
        return fitted.kernel_


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
