"""Why the trees say what they say: each input's effect, against what is usual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS
from coarsen.models.trees.arrays import Rows
from coarsen.models.trees.flat_forest import FlatForest

# Not reasons, but what is asked about.
_ASKED = frozenset({"configuration", "device"})


@dataclass(frozen=True, slots=True)
class Influence:
    """An input, its value, and by how much it moves the predicted log speed from where it had its usual value."""

    name: str
    value: float
    usual: float
    effect: float


def influences(forest: FlatForest, row: Rows, medians: Rows, slope: float) -> tuple[Influence, ...]:
    """Return the influence of each input, the largest effect first.

    Args:
        forest: the trees.
        row: inputs of the launch, (i,).
        medians: of the training rows, (i,).
        slope: by which predictions are stretched.
    """
    columns = COARSENING_INPUTS if len(row) == len(COARSENING_INPUTS) else LOCAL_SIZE_INPUTS
    asked = [place for place, (group, _) in enumerate(columns) if group not in _ASKED]
    changed = np.tile(row, (1 + len(asked), 1))
    for number, place in enumerate(asked, 1):
        changed[number, place] = medians[place]
    found, _ = forest.predict(changed)
    effects = slope * (found[0] - found[1:])
    every = [
        Influence(columns[place][1], float(row[place]), float(medians[place]), float(effect))
        for place, effect in zip(asked, effects, strict=True)
    ]
    return tuple(sorted(every, key=lambda influence: -abs(influence.effect)))
