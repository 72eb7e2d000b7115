"""Hand-written kernels for the hazards of merging whole work-groups, and how each is launched."""

from __future__ import annotations

import numpy as np

from tests.transform.cases import Case, LocalMemory, floats, integers, zeros

GROUP_CASES = (
    Case("group_static_memory", (96,), (4,), lambda rng, n: [integers(rng, n), zeros(n)]),
    Case(
        "group_shared_table",
        (96, 4),
        (4, 2),
        lambda rng, n: [floats(rng, n), floats(rng, 16), np.zeros(n, np.float32), LocalMemory(4)],
        dimensions=(0, 1),
        tolerance=1e-6,
    ),
    Case(
        "group_rows_loop",
        (96,),
        (4,),
        lambda rng, n: [integers(rng, 31 * 9), zeros(31), np.int32(31), np.int32(9), LocalMemory(4)],
    ),
    Case(
        "group_guarded",
        (96,),
        (4,),
        lambda rng, n: [integers(rng, n), zeros(n), np.int32(17), np.int32(50), LocalMemory(4)],
    ),
    Case("group_converging", (96,), (4,), lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(4)]),
    Case(
        "group_side_entry",
        (96,),
        (4,),
        lambda rng, n: [integers(rng, n), zeros(n), np.int32(300), LocalMemory(4)],
        wrong_on="pocl",  # PoCL 3.1 takes the branch behind a barrier under a condition wrongly
    ),
    Case(
        "group_counted_on_the_way",
        (96,),
        (4,),
        lambda rng, n: [integers(rng, n), zeros(n), np.int32(7), LocalMemory(4)],
    ),
    Case("group_swapped_tiles", (96,), (4,), lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(4)]),
    Case("group_tested_tile", (96,), (4,), lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(4)]),
    Case("group_reduction", (92,), (4,), lambda rng, n: [integers(rng, n), zeros(n)]),
    Case("group_ids", (24, 6, 4), (2, 3, 1), lambda rng, n: [zeros(n)], dimensions=(0, 1, 2)),
    Case(
        "group_dimension_at_run_time",
        (48, 8),
        (2, 4),
        lambda rng, n: [zeros(n), np.int32(3), np.uint32(0)],
        dimensions=(0, 1),
        global_offset=(6, 4),
    ),
    Case("group_copies_mixed", (96,), (4,), lambda rng, n: [integers(rng, n), integers(rng, 4), zeros(n)]),
    Case(
        "group_escaping_local",
        (96,),
        (4,),
        lambda rng, n: [integers(rng, n), zeros(n), LocalMemory(4)],
    ),
    Case(
        "group_last_one",
        (96,),
        (4,),
        lambda rng, n: [integers(rng, n), zeros(n), np.zeros(1, np.int32), zeros(1)],
    ),
    Case(
        "group_required_size",
        (96, 4),
        (4, 2),
        lambda rng, n: [integers(rng, n), zeros(n)],
        dimensions=(0, 1),
    ),
)
