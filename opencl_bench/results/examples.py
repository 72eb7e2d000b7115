"""From curves to what predictors learn from: each kernel is lowered once, and its features are computed.

curves ─▶ kernels × (dimension, local size) ─▶ features, in several processes ─▶ Example
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.cost.planned_work.launches import launched_sizes
from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, Sizes
from coarsen.errors import CoarsenError, RefusalError
from coarsen.features import (
    FACTORS,
    PUBLISHED_FEATURE_SET_VERSION,
    FeatureTable,
    MechanismTable,
    feature_table,
    feature_tables,
)
from coarsen.features.launch_size import launch_size, used_dimensions
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.examples import Example, LaunchedWork
from coarsen.opencl_bench.results.curves import Curve
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.kernel_source import find_measured, measured_family
from coarsen.processes import mapped
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE
from coarsen.variant.variant import Variant

# The dimension that is coarsened, and the local size of the uncoarsened launch, None where unknown.
Launch = tuple[int, LocalSize | None]
Tables = tuple[FeatureTable, MechanismTable, FeatureTable, Mapping[int, LaunchedWork]]


@dataclass(frozen=True)
class KernelLaunches:
    """A kernel by its name in the data, the folder that may describe it, the launches, whether work is counted."""

    name: str
    folder: Path | None
    launches: tuple[Launch, ...]
    counts_work: bool = False


@dataclass(frozen=True)
class Examples:
    """Examples, and which curves have none, since the kernel can't be coarsened that way."""

    examples: tuple[Example, ...]
    notes: tuple[str, ...]


def examples_of(
    curves: Sequence[Curve],
    kernels: Path | None = None,
    processes: int | None = None,
    counts_work: bool = False,
) -> Examples:
    """Return the curves with their kernels' features.

    Args:
        curves: of any kernels and devices.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        processes: how many compute features. None: as many as there are processors, but for a script just one;
            one that has its work under `if __name__ == "__main__":` may say more.
        counts_work: whether the work of each kernel at each factor is counted, which takes longer.

    Raises:
        InvalidInputError: a kernel that is not known, or does not compile; the message names it.
    """
    wanted: defaultdict[str, dict[Launch, None]] = defaultdict(dict)
    for curve in curves:
        wanted[curve.kernel][_launch(curve)] = None
    asked = [KernelLaunches(name, kernels, tuple(launches), counts_work) for name, launches in wanted.items()]
    known = dict(zip(wanted, mapped(_tables, asked, processes), strict=True))
    examples = [
        _example(curve, tables)
        for curve in curves
        if not isinstance(tables := known[curve.kernel][_launch(curve)], str)
    ]
    refusals = (text for tables in known.values() for text in tables.values() if isinstance(text, str))
    return Examples(tuple(examples), tuple(dict.fromkeys(refusals)))


def _launch(curve: Curve) -> Launch:
    return curve.dimension, curve.local_size


def _example(curve: Curve, tables: Tables) -> Example:
    return Example(
        kernel=curve.kernel,
        family=measured_family(curve.kernel),
        device=curve.device,
        dimension=curve.dimension,
        local_size=curve.local_size,
        speedup=curve.speedup,
        best_factor=curve.best_factor,
        table=tables[0],
        mechanism=tables[1],
        published=tables[2],
        work=tables[3],
    )


def _tables(asked: KernelLaunches) -> Mapping[Launch, Tables | str]:
    """The tables of each launch, or in one sentence why it can't be coarsened."""
    benchmark = find_measured(asked.name, asked.folder)
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    except RefusalError as refusal:
        return dict.fromkeys(asked.launches, f"{asked.name} can't be coarsened: {refusal}")
    return {launch: _tables_of_launch(asked, kernel, launch) for launch in asked.launches}


def _tables_of_launch(asked: KernelLaunches, kernel: Kernel, launch: Launch) -> Tables | str:
    try:
        published = feature_table(kernel, launch[0], version=PUBLISHED_FEATURE_SET_VERSION)
        work = work_by_factor(kernel, *launch) if asked.counts_work else {}
        return (*feature_tables(kernel, *launch), published, work)
    except RefusalError as refusal:
        return f"{asked.name} can't be coarsened along dimension {launch[0]}: {refusal}"


# The work of a kernel's coarsened forms, counted from the plan, for the models that reckon with it.
#
# The sizes of the launches that were measured are not in the data. A launch of about a million work-items stands
# for them, spread evenly over the dimensions of the local size.

# Powers of two, as every local size of the suite is, and about 2²⁰ in all.
ASSUMED_ITEMS: Mapping[int, Sizes] = {1: (1 << 20, 1, 1), 2: (1 << 10, 1 << 10, 1), 3: (1 << 7, 1 << 7, 1 << 6)}


def work_by_factor(
    kernel: Kernel, dimension: int, local_size: tuple[int, ...] | None
) -> Mapping[int, LaunchedWork]:
    """Return the work of a kernel at each factor that divides the local size, by replication alone.

    Args:
        kernel: as it was lowered.
        dimension: of the NDRange, along which it is coarsened.
        local_size: of the uncoarsened launch, None where unknown.

    Returns:
        Empty where the kernel is one that can't be counted.
    """
    size = launch_size(kernel, local_size, dimension)
    used = max(used_dimensions(kernel), *(place for place, extent in enumerate(size, 1) if extent > 1), 1)
    first, second, third = map(max, ASSUMED_ITEMS[used], size)
    launch = LaunchSizes((first, second, third), size)
    found: dict[int, LaunchedWork] = {}
    with contextlib.suppress(CoarsenError):
        planned = PlannedKernel(kernel)
        for factor in FACTORS:
            variant = Variant(coarsenings=(Coarsening(factor, dimension),), transforms=REPLICATION_ALONE)
            if size[dimension] % factor == 0:
                found[factor] = planned.work(variant, launch), launched_sizes(variant, launch)
    return found
