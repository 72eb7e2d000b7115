"""The features that name a mechanism: why a factor should help or harm a kernel on some device.

Unlike the 17 of the paper (`feature_vector.py`) they are weighted by how often each block runs
(`coarsen/cost/plan_walk.py`), look at the stride of each access, and know the launch. All are those of the
coarsened kernel at the factor, for one of its work-items, and finite.

- Work is weighted instructions, operations are arithmetic: floating-point, integer, mathematical builtins.
- Global memory includes constant memory.
- The share of a whole that is nothing (the loads of a kernel that loads nothing) is 0, its growth 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.features.feature_values import FeatureValues, described

# Goes up whenever a value changes for any kernel: a model is valid for one version only.
MECHANISM_FEATURE_SET_VERSION = 1
"""The version of the mechanism features that a model was trained on, and is valid for."""


@dataclass(frozen=True)
class MechanismFeatures(FeatureValues):
    """The features of one kernel at one factor along one dimension, for one launch."""

    # Divergence.
    divergent_guard_share: float = described("share of work in divergent regions without loops", "ratio")
    divergent_loop_share: float = described(
        "share of work in divergent regions with a loop that replicas leave in different iterations", "ratio"
    )
    guarded_loop_share: float = described(
        "share of work in divergent regions with loops that replicas leave together", "ratio"
    )
    divergent_work_share: float = described("share of work that is done for each replica", "ratio")
    uniform_load_share: float = described("share of loads that are uniform along the dimension", "ratio")

    # Global memory, along dimension 0: the direction in which hardware coalesces and compilers vectorise.
    coalesced_share: float = described("share of global accesses whose neighbours touch", "ratio")
    broadcast_share: float = described("share of global accesses to one address for all neighbours", "ratio")
    strided_share: float = described("share of global accesses with a larger or symbolic stride", "ratio")
    indirect_share: float = described("share of global accesses without a regular stride", "ratio")
    stride_magnitude: float = described(
        "mean of |log2(stride / access size)| of global accesses: 0 for a broadcast, 6 at most and where unknown",
        "log2 ratio",
    )
    consecutive_replicas_share: float = described(
        "share of global accesses whose replicas touch, and could be one wide access", "ratio"
    )

    # What is done.
    bytes_per_operation: float = described("bytes of global memory loaded and stored by operations", "bytes")
    log_operations: float = described("operations of a work-item, ln(1 + n)", "log operations")
    log_loads: float = described("loads of a work-item, ln(1 + n)", "log instructions")
    log_stores: float = described("stores of a work-item, ln(1 + n)", "log instructions")
    math_share: float = described("share of operations that are mathematical builtins", "ratio")
    integer_share: float = described("share of operations that are on integers", "ratio")
    mean_element_bytes: float = described("mean size of an accessed scalar or vector component", "bytes")
    mean_vector_width: float = described("mean number of components of an access", "components")

    # Memory within the work-group, and order between its work-items.
    uses_local_memory: float = described("1 if local memory is used, static or passed as an argument", "flag")
    log_local_bytes: float = described("static local memory of a work-group, ln(1 + n)", "log bytes")
    local_access_share: float = described("share of accesses to local memory", "ratio")
    private_access_share: float = described("share of accesses to private arrays", "ratio")
    log_barriers: float = described("barriers passed by a work-item, ln(1 + n)", "log calls")
    log_atomics: float = described("atomic operations of a work-item, ln(1 + n)", "log instructions")

    # What coarsening saves and costs.
    work_growth: float = described("work over the factor times the work at factor 1", "ratio")
    load_growth: float = described("loads over the factor times the loads at factor 1", "ratio")
    memory_growth: float = described("global bytes over the factor times those at factor 1", "ratio")
    log_code_size: float = described("instructions of the code, ln(1 + n)", "log instructions")
    instruction_parallelism: float = described("operations per dependence level, weighted by work", "ratio")
    memory_parallelism: float = described("accesses per dependence level, weighted by work", "ratio")

    live_words: float = described("estimate of the 32-bit words that are live at once", "words")

    # The launch.
    log_local_extent: float = described("local size along the dimension after coarsening", "log2 work-items")
    log_group_size: float = described("size of the work-group after coarsening", "log2 work-items")
    log_original_group_size: float = described("size of the work-group before coarsening", "log2 work-items")
    along_first_dimension: float = described("1 if dimension 0 is coarsened", "flag")
    dimensions_used: float = described("dimensions of the NDRange that the kernel asks about", "dimensions")


MECHANISM_FEATURES = MechanismFeatures.descriptions()
"""What each of the mechanism features is and its unit, in their order in a vector."""
