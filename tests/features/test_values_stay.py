"""The values that the shipped models learned from stay as they are, for all kernels of the suite.

Each set of values of a kernel stands as a digest of its numbers to twelve digits. A set that changes needs a new
version, and models that are trained anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes
from coarsen.errors import RefusalError
from coarsen.features import feature_table
from coarsen.features.kernel_facts import kernel_facts
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DEFAULT, REPLICATION_ALONE, Transforms
from coarsen.variant.variant import Variant

Golden = Callable[[str, str], None]

FACTORS = (1, 2, 8)
LAUNCH = LaunchSizes((4096, 1024, 1), (128, 4, 1))
VARIANTS = (
    Variant(coarsenings=(Coarsening(4),)),
    Variant(coarsenings=(Coarsening(8),), transforms=REPLICATION_ALONE),
    Variant(coarsenings=(Coarsening(4, 0, 2),), transforms=Transforms(wide_accesses=True)),
    Variant(coarsenings=(Coarsening(2, 0, 1, Level.GROUP), Coarsening(2)), transforms=DEFAULT),
    Variant(coarsenings=(Coarsening(4),), any_size=True),
)


def test_values_of_the_suite(golden: Golden) -> None:
    golden("".join(f"{name}: {values}\n" for name in SUITE for values in values_of(name)), "values.txt")


def values_of(name: str) -> Iterator[str]:
    benchmark = SUITE[name]
    kernel, dimension = lower(benchmark.code, benchmark.kernel, benchmark.build_options), benchmark.dimensions[-1]
    table = feature_table(kernel, dimension, FACTORS)
    yield digest("features", [dict(table.at(factor).by_name()) for factor in FACTORS])
    yield digest("facts", dict(kernel_facts(kernel)))
    planned = PlannedKernel(kernel)
    for each in VARIANTS:
        try:
            work, costs = planned.work_and_costs(each, LAUNCH)
        except RefusalError as refusal:
            yield f"planned, {each}: {refusal.code}"
            continue
        accesses = [asdict(access) for access in work.accesses]
        counts = [dict(work.instructions), accesses, work.barriers, work.atomics, work.local_bytes]
        rest = [work.live_words, work.chain_operations, work.chain_accesses, asdict(costs)]
        yield digest(f"planned, {each}", [*counts, *rest])


def digest(name: str, values: object) -> str:
    """A name and the start of a digest of some numbers."""
    return f"{name}: {hashlib.sha256(written(values).encode()).hexdigest()[:12]}"


def written(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={written(value[key])}" for key in sorted(value))
    if isinstance(value, list):
        return " ".join(map(written, value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)
