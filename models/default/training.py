"""Fitting the default model.

examples ─▶ rows ─▶ forest ─▶ out-of-bag errors ─▶ error model
                 └▶ the kernels' points ─▶ neighbourhood
examples with best factors alone ─▶ curves of trees that never saw their family ─▶ adjustments
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coarsen.models.calibration_set import refuse_calibration
from coarsen.models.default.adjustment import Adjustment, fit_adjustment
from coarsen.models.default.error_model import fit_error_model
from coarsen.models.default.forest import CurveForest
from coarsen.models.default.inputs import COARSENED, Array, Rows, kernel_point
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.novelty import Neighbourhood, fit_neighbourhood
from coarsen.models.default.step_errors import fit_step_errors
from coarsen.models.default.training_rows import Curve, TrainingRows, curve_of, descriptor_of, training_rows
from coarsen.models.examples import Example
from coarsen.models.judge import refuse_judge


@dataclass(frozen=True)
class ForestSettings:
    """The forest's settings, fixed before any evaluation."""

    trees: int = 300
    max_features: float = 0.5
    min_samples_leaf: int = 3


@dataclass(frozen=True)
class Fitted:
    """A model, and the out-of-bag curves that its error model was fitted on.

    `forest` knows which trees saw which family. `mean` and `between` are (n, F) like the curves' log speed-ups,
    NaN where a factor was not measured.
    """

    model: DefaultModel
    forest: CurveForest
    rows: TrainingRows
    mean: Array
    between: Array


def train(
    examples: Sequence[Example],
    seed: int = 0,
    settings: ForestSettings = ForestSettings(),
    threads: int = 1,
) -> Fitted:
    """Fit the default model on examples of any devices.

    Args:
        examples: curves, and examples with best factors alone.
        seed: of the bootstrap samples and of the trees.
        settings: of the forest.
        threads: that grow trees; the model is the same for any number.

    Raises:
        InvalidInputError: fewer than two families with curves, none with two neighbouring factors, an unknown
            device, features that are missing, or a kernel of the second judge.
    """
    curves = [curve_of(example) for example in examples]
    return with_adjustments(fit_forest(curves, seed, settings, threads), curves)


def fit_forest(curves: Sequence[Curve], seed: int, settings: ForestSettings, threads: int) -> Fitted:
    """Fit all but the adjustments, for which only measured curves count. Arguments and errors as for `train`."""
    refuse_judge(curve.example.kernel for curve in curves)
    refuse_calibration(curve.example.kernel for curve in curves)
    rows = training_rows(curves)
    forest = CurveForest(
        settings.trees, settings.max_features, settings.min_samples_leaf, random_state=seed, n_jobs=threads
    ).fit(rows.inputs, rows.targets, sample_weight=rows.row_weights, groups=rows.groups)
    mean, between = (_by_curve(values, rows) for values in (forest.oob_prediction_, forest.oob_variance_))
    observed = np.stack([curve.observed for curve in rows.curves])
    devices = [descriptor_of(curve.example.device) for curve in rows.curves]
    errors = fit_error_model(observed, mean, between, rows.weights, devices)
    distributions = list(map(errors.distribution, mean, between, devices))
    model = DefaultModel(
        forest=forest.forest_.in_half_precision(),
        errors=errors,
        steps=fit_step_errors(distributions, observed, rows.weights),
        neighbourhood=_neighbourhood(rows),
        medians=_medians(rows),
        adjustments={},
    )
    return Fitted(model, forest, rows, mean, between)


def with_adjustments(fitted: Fitted, curves: Sequence[Curve]) -> Fitted:
    """Adjust a model to each device of which no curve is known, from its training kernels' best factors."""
    measured = {curve.example.device for curve in fitted.rows.curves}
    devices = sorted({curve.example.device for curve in curves} - measured)
    adjustments = {
        device: _adjustment([curve for curve in curves if curve.example.device == device], fitted)
        for device in devices
    }
    return replace(fitted, model=replace(fitted.model, adjustments=adjustments))


def _by_curve(values: Array, rows: TrainingRows) -> Array:
    """Values of the rows, by curve and factor, NaN where there is no row."""
    table = np.full((len(rows.curves), len(COARSENED)), np.nan)
    table[rows.places[:, 0], rows.places[:, 1]] = values
    return table


def _neighbourhood(rows: TrainingRows) -> Neighbourhood:
    examples = [curve.example for curve in rows.curves]
    points = np.stack([kernel_point(example.table, example.mechanism) for example in examples])
    return fit_neighbourhood([example.kernel for example in examples], rows.families, points)


def _medians(rows: TrainingRows) -> Rows:
    """The median input at each factor; over all factors for one that nobody measured."""
    medians = np.empty((len(COARSENED), rows.inputs.shape[1]), dtype=np.float32)
    for index in range(len(COARSENED)):
        chosen = rows.places[:, 1] == index
        medians[index] = np.median(rows.inputs[chosen] if chosen.any() else rows.inputs, axis=0)
    return medians


def _adjustment(curves: Sequence[Curve], fitted: Fitted) -> Adjustment:
    count, device = len(COARSENED), descriptor_of(curves[0].example.device)
    families = np.repeat([curve.example.family for curve in curves], count)
    mean, between = fitted.forest.predict_unseen(np.concatenate([curve.rows for curve in curves]), families)
    distributions = [
        fitted.model.errors.distribution(mean[start : start + count], between[start : start + count], device)
        for start in range(0, len(mean), count)
    ]
    return fit_adjustment(distributions, [curve.example.best_factor for curve in curves])
