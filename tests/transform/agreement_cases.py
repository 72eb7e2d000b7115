"""Kernels whose replicas agree for a while and then part: guards in guards, loops left at different times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.transform.cases import Case, LocalMemory, integers, zeros

FACTORS = (2, 8)

_CASES = (
    Case("nested_guards", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(85), np.int32(101)]),
    Case(
        "guards_with_work",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(2 * n), np.int32(85), np.int32(53)],
    ),
    Case(
        "grid_stride", (96,), (24,), lambda rng, n: [integers(rng, 250), zeros(250), np.int32(243), np.int32(61)]
    ),
    Case("uneven_rows", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(89), np.int32(3)]),
    Case("early_break", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(2 * n), zeros(2 * n), np.int32(9)]),
    Case(
        "stores_before_test", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(2 * n), np.zeros(4, np.int32)]
    ),
    Case("retreating_loop", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(5)]),
    Case(
        "value_from_before",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(2 * n), np.int32(83), np.int32(0)],
    ),
    Case(
        "guarded_chain",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(2 * n), zeros(n), zeros(2 * n), np.int32(85)],
    ),
    Case("counted_on_the_way", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(7)]),
    Case("return_from_loop", (96,), (24,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(5)]),
    Case(
        "interior",
        (48, 24),
        (24, 12),
        lambda rng, n: [integers(rng, n), zeros(n), np.int32(48), np.int32(24)],
        dimensions=(0, 1),
    ),
    Case(
        "leaving_barrier_loop",
        (96,),
        (24,),
        lambda rng, n: [integers(rng, n), zeros(12), LocalMemory(4), np.int32(59)],
    ),
)

AGREEMENT_CASES = tuple(replace(case, factors=FACTORS) for case in _CASES)
