"""From curves to what predictors learn from: each kernel is lowered once, and its features are computed.

curves ─▶ kernels × (dimension, local size) ─▶ features, in several processes ─▶ Example
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import RefusalError
from coarsen.features import (
    PUBLISHED_FEATURE_SET_VERSION,
    FeatureTable,
    MechanismTable,
    feature_table,
    feature_tables,
)
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.examples import Example, LaunchedWork, family_of
from coarsen.opencl_bench.results.curves import Curve
from coarsen.opencl_bench.results.example_work import work_by_factor
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.kernel_source import find_measured
from coarsen.processes import mapped

# The dimension that is coarsened, and the local size of the uncoarsened launch, None where unknown.
Launch = tuple[int, LocalSize | None]
Tables = tuple[FeatureTable, MechanismTable, FeatureTable, Mapping[int, LaunchedWork]]
# A kernel's family, and the tables of each launch, or in one sentence why it can't be coarsened.
Known = tuple[str, Mapping[Launch, Tables | str]]


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
        _example(curve, family, tables)
        for curve in curves
        for family, by_launch in (known[curve.kernel],)
        if not isinstance(tables := by_launch[_launch(curve)], str)
    ]
    refusals = (text for _, by_launch in known.values() for text in by_launch.values() if isinstance(text, str))
    return Examples(tuple(examples), tuple(dict.fromkeys(refusals)))


def _launch(curve: Curve) -> Launch:
    return curve.dimension, curve.local_size


def _example(curve: Curve, family: str, tables: Tables) -> Example:
    return Example(
        kernel=curve.kernel,
        family=family,
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


def _tables(asked: KernelLaunches) -> Known:
    benchmark = find_measured(asked.name, asked.folder)
    family = benchmark.family or family_of(asked.name)
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    except RefusalError as refusal:
        return family, dict.fromkeys(asked.launches, f"{asked.name} can't be coarsened: {refusal}")
    return family, {launch: _tables_of_launch(asked, kernel, launch) for launch in asked.launches}


def _tables_of_launch(asked: KernelLaunches, kernel: Kernel, launch: Launch) -> Tables | str:
    try:
        published = feature_table(kernel, launch[0], version=PUBLISHED_FEATURE_SET_VERSION)
        work = work_by_factor(kernel, *launch) if asked.counts_work else {}
        return (*feature_tables(kernel, *launch), published, work)
    except RefusalError as refusal:
        return f"{asked.name} can't be coarsened along dimension {launch[0]}: {refusal}"
