"""Fitting the launch model.

cases ─┬─ all but the calibration set ─▶ trees
       └─ with several local sizes ────▶ views: trees that saw neither family nor mechanism ─▶ decision
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.models.calibration_set import is_calibration, refuse_calibration
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.judge import refuse_judge
from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.errors import fit_errors
from coarsen.models.launch.folds import LaunchFold, family_folds, mechanism_folds
from coarsen.models.launch.growing import TreeSettings, grow
from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS
from coarsen.models.launch.model import LaunchModel, Medians
from coarsen.models.launch.novelty import Neighbourhood, fit_neighbourhood
from coarsen.models.launch.parts import Parts
from coarsen.models.launch.rows import TrainingRows, coarsening_rows, local_size_rows
from coarsen.models.launch.settling import Judged, Settled, over_own_seen, settle
from coarsen.models.trees.arrays import Rows

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
    if len({case.family for case in fitted_on}) < 2:
        raise InvalidInputError("the launch model learns from cases of at least two unrelated kernels")
    progress(f"growing trees on {len(fitted_on)} cases")
    parts = fit_parts(fitted_on, settings, seed)
    views = tuple(
        tuple(judged(folds, settings, seed, progress))
        for folds in (
            family_folds(fitted_on, settled_on),
            mechanism_folds(fitted_on, settled_on),
        )
    )
    progress("settling the decision")
    settled = settle(views)
    model = LaunchModel(
        parts=parts,
        slope=settled.slope,
        errors=settled.errors,
        own_errors=fit_errors([over_own_seen(each, settled.slope) for view in views for each in view]),
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
    all others are among both: the decision is settled by trees that did not see them.
    """
    known = tuple(cases)
    return (
        tuple(case for case in known if not is_calibration(case.kernel)),
        tuple(case for case in known if case.has_local_sizes and case.is_certain),
    )


def fit_parts(cases: Sequence[LaunchCase], settings: TreeSettings, seed: int) -> Parts:
    """Grow the trees. Raises InvalidInputError for a calibration kernel, and one of the second judge."""
    refuse_judge(case.kernel for case in cases)
    refuse_calibration(case.kernel for case in cases)
    return grow(cases, settings, seed)


def judged(folds: Iterable[LaunchFold], settings: TreeSettings, seed: int, progress: Progress) -> Iterable[Judged]:
    """Yield each held-out case with what trees say that were grown without it."""
    for fold in folds:
        progress(f"holding out {fold.name}: {len(fold.held_out)} cases")
        parts = fit_parts(fold.training, settings, seed)
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
