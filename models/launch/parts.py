"""The two parts of the model, and what they say of launches together.

log speed = of the local size, less the mean over local sizes + of the coarsening, at that local size
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coarsen.models.launch.case import LaunchInputs
from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS
from coarsen.models.trees.arrays import Array
from coarsen.models.trees.flat_forest import LEAF, FlatForest


@dataclass(frozen=True)
class Parts:
    """The trees.

    Attributes:
        local: of the uncoarsened launch's local size.
        coarsened: of a coarsening.
    """

    local: FlatForest
    coarsened: FlatForest

    def log_speeds(self, inputs: LaunchInputs, slope: float = 1.0) -> Array:
        """Return each launch's predicted log speed, (n,): differences between launches of one kernel count.

        Args:
            inputs: of the launches.
            slope: by which predictions are stretched, since trees say too little.
        """
        local, _ = self.local.predict(inputs.local)
        speeds = local[inputs.base]
        chosen = inputs.is_coarsened
        if chosen.any():
            speeds[chosen] += self.coarsened.predict(inputs.coarsened[chosen])[0]
        return slope * speeds

    def check(self) -> None:
        """Raise ValueError where the trees are none over these inputs."""
        self.local.check(len(LOCAL_SIZE_INPUTS))
        self.coarsened.check(len(COARSENING_INPUTS))


def constant_forest(value: float = 0.0) -> FlatForest:
    """Return a tree that always says the same: where there was nothing to learn from."""
    return FlatForest(1, np.array([LEAF], dtype=np.int16), np.array([value], dtype=np.float32))
