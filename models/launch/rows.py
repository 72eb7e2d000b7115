"""From cases to rows: what the two parts of the model learn from.

    uncoarsened launches   less their mean log time within the case, where there are several local sizes
    coarsened launches     less the uncoarsened one at the same local size

Every device has the same total weight, within it every case, within it every row. A launch that was measured in
several runs has the mean over them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.launch.case import LaunchCase
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


def uncoarsened_times(case: LaunchCase) -> Array:
    """Return the log times of the uncoarsened launches by the rows of `LaunchInputs.local`; NaN where unknown."""
    times = np.full(len(case.inputs.local), np.nan)
    is_base = ~case.inputs.is_coarsened
    times[case.inputs.base[is_base]] = case.mean_log_times()[is_base]
    return times


_Part = tuple[LaunchCase, Rows, Array]


def _of_local_sizes(case: LaunchCase) -> _Part:
    times = uncoarsened_times(case)
    known = np.isfinite(times)
    if known.sum() < 2:
        known[:] = False
    speeds = times[known].mean() - times[known] if known.any() else times[known]
    return case, case.inputs.local[known], speeds


def _of_coarsenings(case: LaunchCase) -> _Part:
    speeds = uncoarsened_times(case)[case.inputs.base] - case.mean_log_times()
    known = np.isfinite(speeds) & case.inputs.is_coarsened
    return case, case.inputs.coarsened[known], speeds[known]


def _rows(parts: Sequence[_Part]) -> TrainingRows:
    known = [part for part in parts if len(part[2])]
    if not known:
        return TrainingRows(np.zeros((0, 0), np.float32), np.zeros(0), np.zeros(0), ())
    of_device = Counter(case.device for case, _, _ in known)
    weights = [np.full(len(speeds), 1 / (of_device[case.device] * len(speeds))) for case, _, speeds in known]
    joined = np.concatenate(weights)
    return TrainingRows(
        inputs=np.concatenate([inputs for _, inputs, _ in known]),
        targets=np.clip(np.concatenate([speeds for _, _, speeds in known]), -MOST_LOG, MOST_LOG),
        weights=joined / joined.mean(),
        cases=[case for case, _, speeds in known for _ in speeds],
    )
