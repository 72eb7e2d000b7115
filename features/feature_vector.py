"""The 17 static features, in the order of Magni, Dubach and O'Boyle (PACT 2014), table 3.

A `Features` holds one value per feature; `FEATURES` says what each one is and in what unit it is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

# Goes up whenever a value changes for any kernel: a model is valid for one version only.
FEATURE_SET_VERSION = 1


@dataclass(frozen=True, slots=True)
class FeatureDescription:
    """A feature's name, what it measures and its unit."""

    name: str
    description: str
    unit: str


def _described(description: str, unit: str) -> float:
    """A field without default; mypy takes it as the float that it will hold."""
    value: float = field(metadata={"description": description, "unit": unit})
    return value


@dataclass(frozen=True)
class Features:
    """The features of one kernel at one factor (PACT 2014, table 3, in its order)."""

    basic_blocks: float = _described("basic blocks", "blocks")
    branches: float = _described("conditional branches", "instructions")
    divergent_instructions: float = _described("instructions whose replicas differ", "instructions")
    divergent_region_instructions: float = _described("instructions in divergent regions", "instructions")
    divergent_region_ratio: float = _described("share of instructions that are in divergent regions", "ratio")
    divergent_regions: float = _described("outermost divergent regions", "regions")
    instructions: float = _described("all instructions", "instructions")
    floating_point_instructions: float = _described("floating-point operations", "instructions")
    instruction_level_parallelism: float = _described("operations per dependence level of a block", "ratio")
    integer_floating_point_ratio: float = _described("integer by floating-point instructions", "ratio")
    integer_instructions: float = _described("integer operations", "instructions")
    math_builtins: float = _described("calls of mathematical builtins", "calls")
    memory_level_parallelism: float = _described("accesses per dependence level of a block", "ratio")
    loads: float = _described("loads from memory", "instructions")
    stores: float = _described("stores to memory", "instructions")
    uniform_loads: float = _described("loads uniform along the dimension", "instructions")
    barriers: float = _described("barriers", "calls")

    def vector(self) -> NDArray[np.float64]:
        """The values as an array of shape (17,), in the order of `FEATURES`."""
        return np.array(astuple(self), dtype=np.float64)

    def by_name(self) -> Mapping[str, float]:
        """The values by feature name, in the order of `FEATURES`."""
        return {feature.name: getattr(self, feature.name) for feature in FEATURES}


FEATURES: tuple[FeatureDescription, ...] = tuple(
    FeatureDescription(feature.name, feature.metadata["description"], feature.metadata["unit"])
    for feature in fields(Features)
)
