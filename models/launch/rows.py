"""From cases to rows: what the two parts of the model learn from.

    uncoarsened launches   less their mean log time within the case, where there are several local sizes
    coarsened launches     less the uncoarsened one at the same local size

Every device has the same total weight, within it every case, within it every row but for its noise. A launch that
was measured in several runs has the mean over them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.launch.case import MOST_ERROR, LaunchCase
from coarsen.models.trees.arrays import Array, Rows

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


def uncoarsened_errors(case: LaunchCase) -> Array:
    """Return the standard errors of the uncoarsened launches by the rows of `LaunchInputs.local`."""
    errors = np.zeros(len(case.inputs.local))
    is_base = ~case.inputs.is_coarsened
    errors[case.inputs.base[is_base]] = case.standard_errors[is_base]
    return errors


def uncoarsened_times(case: LaunchCase) -> Array:
    """Return the log times of the uncoarsened launches by the rows of `LaunchInputs.local`; NaN where unknown."""
    times = np.full(len(case.inputs.local), np.nan)
    is_base = ~case.inputs.is_coarsened
    times[case.inputs.base[is_base]] = case.mean_log_times()[is_base]
    return times


# A case, its inputs, its targets, and how much each counts beside the others.
_Part = tuple[LaunchCase, Rows, Array, Array]


def _of_local_sizes(case: LaunchCase) -> _Part:
    times = uncoarsened_times(case)
    known = np.isfinite(times)
    if known.sum() < 2:
        known[:] = False
    speeds = times[known].mean() - times[known] if known.any() else times[known]
    return case, case.inputs.local[known], speeds, _certainty(uncoarsened_errors(case)[known])


def _of_coarsenings(case: LaunchCase) -> _Part:
    speeds = uncoarsened_times(case)[case.inputs.base] - case.mean_log_times()
    known = np.isfinite(speeds) & case.inputs.is_coarsened
    errors = np.hypot(case.standard_errors, uncoarsened_errors(case)[case.inputs.base])
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
