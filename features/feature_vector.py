"""The 17 static features, in the order of Magni, Dubach and O'Boyle (PACT 2014), table 3.

A `Features` holds one value per feature; `FEATURES` says what each one is and in what unit it is counted.

There are two versions of the set, with the same names; a model is valid for the one that it was trained on.

    1   ours: divergence along the coarsened dimension alone, outermost regions, ILP and MLP after Sim et al.
    2   the paper's: see `published.py`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coarsen.errors import InvalidInputError
from coarsen.features.feature_values import FeatureDescription, FeatureValues, described

# A version whose values change for any kernel gets a new number: a model is valid for one version only.
FEATURE_SET_VERSION = 1
"""The version of the 17 features that the default model is trained on, and is valid for."""
PUBLISHED_FEATURE_SET_VERSION = 2
"""The version of the 17 features as the paper and its authors define them."""


@dataclass(frozen=True)
class Features(FeatureValues):
    """The features of one kernel at one factor (PACT 2014, table 3, in its order)."""

    basic_blocks: float = described("basic blocks", "blocks")
    branches: float = described("conditional branches", "instructions")
    divergent_instructions: float = described("instructions whose replicas differ", "instructions")
    divergent_region_instructions: float = described("instructions in divergent regions", "instructions")
    divergent_region_ratio: float = described("share of instructions that are in divergent regions", "ratio")
    divergent_regions: float = described("outermost divergent regions", "regions")
    instructions: float = described("all instructions", "instructions")
    floating_point_instructions: float = described("floating-point operations", "instructions")
    instruction_level_parallelism: float = described("operations per dependence level of a block", "ratio")
    integer_floating_point_ratio: float = described("integer by floating-point instructions", "ratio")
    integer_instructions: float = described("integer operations", "instructions")
    math_builtins: float = described("calls of mathematical builtins", "calls")
    memory_level_parallelism: float = described("accesses per dependence level of a block", "ratio")
    loads: float = described("loads from memory", "instructions")
    stores: float = described("stores to memory", "instructions")
    uniform_loads: float = described("loads uniform along the dimension", "instructions")
    barriers: float = described("barriers", "calls")


FEATURES = Features.descriptions()
"""What each of the 17 features is and its unit, in the order of table 3."""

_PUBLISHED: Mapping[str, str] = {
    "divergent_instructions": "instructions that depend on the thread-id, along any dimension",
    "divergent_region_instructions": "instructions in divergent regions, of any dimension",
    "divergent_region_ratio": "share of instructions that are in divergent regions, of any dimension",
    "divergent_regions": "divergent regions of any dimension, nested ones too",
    "instruction_level_parallelism": "instructions per dependence level of a block, phis and branches too",
    "memory_level_parallelism": "loads between a load and the first use of its value",
}
PUBLISHED_FEATURES = tuple(
    replace(feature, description=_PUBLISHED.get(feature.name, feature.description)) for feature in FEATURES
)
"""What each of the 17 features is in version 2, in the order of table 3."""

FEATURE_SETS: Mapping[int, tuple[FeatureDescription, ...]] = {
    FEATURE_SET_VERSION: FEATURES,
    PUBLISHED_FEATURE_SET_VERSION: PUBLISHED_FEATURES,
}
"""The 17 features by version."""


def check_feature_set(version: int) -> None:
    """Refuse a version of the 17 features that there is not. Raises InvalidInputError."""
    if version not in FEATURE_SETS:
        known = " and ".join(map(str, FEATURE_SETS))
        raise InvalidInputError(f"there is no version {version} of the features, but {known}")
