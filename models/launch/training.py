"""Fitting the launch model.

cases ─┬─ all but the calibration set ─▶ trees
       └─ with several local sizes ────▶ views: trees that saw neither family nor mechanism ─▶ decision
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

from coarsen.base.processes import processors
from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.flat_forest import Array, FlatForest, Rows, flatten
from coarsen.models.held_out import is_calibration, is_kept_aside, refuse_held_out, refuse_judge, refuse_kept_aside
from coarsen.models.launch.case import MOST_ERROR, LaunchCase
from coarsen.models.launch.decision import fit_errors
from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS
from coarsen.models.launch.model import (
    LaunchModel,
    Medians,
    Neighbourhood,
    Parts,
    constant_forest,
    fit_neighbourhood,
)
from coarsen.models.launch.settling import Judged, LaunchFold, Settled, family_folds, mechanism_folds, settle

Progress = Callable[[str], None]


@dataclass(frozen=True)
class FittedLaunch:
    """A model, the views that its decision was settled in, and the decision's scores."""

    model: LaunchModel
    views: tuple[tuple[Judged, ...], ...]
    settled: Settled


def train_launch(
    fitted_on: Sequence[LaunchCase],
    settled_on: Sequence[LaunchCase],
    settings: TreeSettings,
    seed: int = 0,
    progress: Progress = lambda text: None,
) -> FittedLaunch:
    """Fit the model.

    Args:
        fitted_on: what the trees learn from.
        settled_on: what the decision is settled on, by other trees that did not learn from it.
        settings: of the trees.
        seed: of the random numbers.
        progress: told what is done.

    Raises:
        InvalidInputError: one of the second judge's kernels; one to fit on that is kept for calibration; too few
            kernels of either.
    """
    refuse_judge(case.kernel for case in settled_on)
    refuse_kept_aside(case.kernel for case in settled_on)
    if len({case.family for case in fitted_on}) < 2:
        raise InvalidInputError("the launch model learns from cases of at least two unrelated kernels")
    progress(f"growing trees on {len(fitted_on)} cases")
    parts = grow(fitted_on, settings, seed)
    views = tuple(
        tuple(judged(folds, settings, seed, progress))
        for folds in (family_folds(fitted_on, settled_on), mechanism_folds(fitted_on, settled_on))
    )
    progress("settling the decision")
    settled = settle(views)
    model = LaunchModel(
        parts=parts,
        slope=settled.slope,
        errors=settled.errors,
        own_errors=fit_errors([each.over_own(settled.slope) for view in views for each in view]),
        rules=settled.rules,
        neighbourhood=_neighbourhood(fitted_on),
        medians=Medians(
            _median(local_size_rows(fitted_on), len(LOCAL_SIZE_INPUTS)),
            _median(coarsening_rows(fitted_on), len(COARSENING_INPUTS)),
        ),
    )
    return FittedLaunch(model, views, settled)


def split(cases: Iterable[LaunchCase]) -> tuple[tuple[LaunchCase, ...], tuple[LaunchCase, ...]]:
    """Return the cases to fit on, and those to settle the decision on.

    The latter have several local sizes, and times that can be told apart. The calibration set is among them alone;
    all others are among both: the decision is settled by trees that did not see them. The nests kept aside are in
    neither.
    """
    known = tuple(case for case in cases if not is_kept_aside(case.kernel))
    return (
        tuple(case for case in known if not is_calibration(case.kernel)),
        tuple(case for case in known if case.has_local_sizes and case.is_certain),
    )


def judged(
    folds: Iterable[LaunchFold[LaunchCase]], settings: TreeSettings, seed: int, progress: Progress
) -> Iterable[Judged]:
    """Yield each held-out case with what trees say that were grown without it."""
    for fold in folds:
        progress(f"holding out {fold.name}: {len(fold.held_out)} cases")
        parts = grow(fold.training, settings, seed)
        neighbourhood = _neighbourhood(fold.training)
        for case in fold.held_out:
            yield Judged(
                case,
                parts.log_speeds(case.inputs),
                neighbourhood.distance(case.inputs.place),
                DEVICE_DESCRIPTORS[case.device].is_gpu,
            )


def _neighbourhood(cases: Sequence[LaunchCase]) -> Neighbourhood:
    return fit_neighbourhood([case.kernel for case in cases], [case.inputs.place for case in cases])


def _median(rows: TrainingRows, inputs: int) -> Rows:
    """The median inputs; 0 where there are no rows."""
    if not len(rows):
        return np.zeros(inputs, dtype=np.float32)
    return np.median(rows.inputs, axis=0).astype(np.float32)


# From cases to rows: what the two parts of the model learn from.
#
#     uncoarsened launches   less their mean log time within the case, where there are several local sizes
#     coarsened launches     less the uncoarsened one at the same local size
#
# Every device has the same total weight, within it every case, within it every row but for its noise. A launch
# that was measured in several runs has the mean over them.

# What a launch gains or loses more than e^3-fold says no more than that.
MOST_LOG = 3.0


@dataclass(frozen=True)
class TrainingRows:
    """Inputs (r, i), targets (r,) as natural logarithms of speeds, weights (r,), and each row's case."""

    inputs: Rows
    targets: Array
    weights: Array
    cases: Sequence[LaunchCase]

    def __len__(self) -> int:
        return len(self.targets)


def local_size_rows(cases: Iterable[LaunchCase]) -> TrainingRows:
    """Return the rows of the uncoarsened launches of cases with several local sizes."""
    return _rows([_of_local_sizes(case) for case in cases])


def coarsening_rows(cases: Iterable[LaunchCase]) -> TrainingRows:
    """Return the rows of the coarsened launches whose local size was measured uncoarsened, too."""
    return _rows([_of_coarsenings(case) for case in cases])


def _of_uncoarsened(case: LaunchCase, values: Array) -> Array:
    """The uncoarsened launches' values by the rows of `LaunchInputs.local`; NaN where they are unknown."""
    found = np.full(len(case.inputs.local), np.nan)
    is_base = ~case.inputs.is_coarsened
    found[case.inputs.base[is_base]] = values[is_base]
    return found


# A case, its inputs, its targets, and how much each counts beside the others.
_Part = tuple[LaunchCase, Rows, Array, Array]


def _of_local_sizes(case: LaunchCase) -> _Part:
    times = _of_uncoarsened(case, case.mean_log_times())
    known = np.isfinite(times)
    if known.sum() < 2:
        known[:] = False
    speeds = times[known].mean() - times[known] if known.any() else times[known]
    return case, case.inputs.local[known], speeds, _certainty(_of_uncoarsened(case, case.standard_errors)[known])


def _of_coarsenings(case: LaunchCase) -> _Part:
    speeds = _of_uncoarsened(case, case.mean_log_times())[case.inputs.base] - case.mean_log_times()
    known = np.isfinite(speeds) & case.inputs.is_coarsened
    errors = np.hypot(case.standard_errors, _of_uncoarsened(case, case.standard_errors)[case.inputs.base])
    return case, case.inputs.coarsened[known], speeds[known], _certainty(errors[known])


def _certainty(errors: Array) -> Array:
    return np.asarray(1.0 / (1.0 + (errors / MOST_ERROR) ** 2))


def _rows(parts: Sequence[_Part]) -> TrainingRows:
    known = [part for part in parts if len(part[2])]
    if not known:
        return TrainingRows(np.zeros((0, 0), np.float32), np.zeros(0), np.zeros(0), ())
    of_device = Counter(part[0].device for part in known)
    weights = [certainty / (of_device[case.device] * len(certainty)) for case, _, _, certainty in known]
    joined = np.concatenate(weights)
    return TrainingRows(
        inputs=np.concatenate([part[1] for part in known]),
        targets=np.clip(np.concatenate([part[2] for part in known]), -MOST_LOG, MOST_LOG),
        weights=joined / joined.mean(),
        cases=[part[0] for part in known for _ in part[2]],
    )


# Growing the trees: extremely randomised ones by scikit-learn, as flat arrays.
#
# P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63 (2006).


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """The settings of the trees; METHOD.md says how they were chosen.

    Attributes:
        trees: how many.
        max_features: the share of the inputs that each split tries.
        min_samples_leaf: the fewest rows in a leaf.
    """

    trees: int = 120
    max_features: float = 0.4
    min_samples_leaf: int = 6


def grow(cases: Sequence[LaunchCase], settings: TreeSettings, seed: int) -> Parts:
    """Fit both parts.

    Args:
        cases: what is learned from; a part without rows says 0.
        settings: of the trees.
        seed: of the random numbers.

    Raises:
        InvalidInputError: a kernel that no model is fitted to.
    """
    refuse_held_out(case.kernel for case in cases)
    return Parts(
        _grown(local_size_rows(cases), settings, seed), _grown(coarsening_rows(cases), settings, seed + 1)
    )


def _grown(rows: TrainingRows, settings: TreeSettings, seed: int) -> FlatForest:
    if not len(rows):
        return constant_forest()
    estimator = ExtraTreesRegressor(
        n_estimators=settings.trees,
        max_features=settings.max_features,
        min_samples_leaf=settings.min_samples_leaf,
        random_state=seed,
        n_jobs=processors(),
    )
    estimator.fit(rows.inputs, rows.targets, sample_weight=rows.weights)
    return flatten([tree.tree_ for tree in estimator.estimators_]).in_half_precision()
