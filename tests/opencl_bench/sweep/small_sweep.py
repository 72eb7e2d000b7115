"""A sweep of seconds, in this process or (`python -m …`) in one that can be killed."""

from __future__ import annotations

import sys

from coarsen.opencl_bench.sweep.several import sweep
from coarsen.tuning.engine.plan import Space, SweepPlan
from coarsen.tuning.records.measurement import Method
from coarsen.tuning.store.database import open_store

METHOD = Method(repetitions=4, minimum_repetitions=3, interval_width=10.0)


def small_plan(
    device: str, benchmark: str = "mt", space: Space | None = None, confirms: bool = False
) -> SweepPlan:
    """One kernel along one dimension, two local sizes, a constraint violation among the factors.

    Confirmation starts three more processes: it is for tests that look at it.
    """
    small = Space(factors=(1, 2, 4, 64), strides=(1, 8), dimensions=(1,), local_sizes=((32, 32), (8, 8)))
    return SweepPlan(benchmark, device, "test", space=space or small, method=METHOD, confirms=confirms)


if __name__ == "__main__":
    with open_store(sys.argv[1]) as store:
        sweep(small_plan(sys.argv[2]), store)
