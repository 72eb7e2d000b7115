"""The 17 static features, in the order of Magni, Dubach and O'Boyle (PACT 2014), table 3.

A `Features` holds one value per feature; `FEATURES` says what each one is and in what unit it is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.features.feature_values import FeatureValues, described

# Goes up whenever a value changes for any kernel: a model is valid for one version only.
FEATURE_SET_VERSION = 1
"""The version of the 17 features that a model was trained on, and is valid for."""


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
