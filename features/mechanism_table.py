"""Mechanism features of one kernel over the coarsening factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.features.feature_values import RowsByFactor
from coarsen.features.mechanism_vector import MechanismFeatures


@dataclass(frozen=True)
class MechanismTable(RowsByFactor[MechanismFeatures]):
    """The mechanism features of a kernel at each factor along one dimension, for one launch.

    `kernel` is the kernel's name, `local_size` the launch's before coarsening (three numbers), `rows` the features
    by factor, in rising order of the factors. `local_size_is_assumed` where neither launch nor kernel told it.
    """

    kernel: str
    dimension: int
    local_size: tuple[int, int, int]
    rows: Mapping[int, MechanismFeatures]
    local_size_is_assumed: bool = False
