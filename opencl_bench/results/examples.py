"""From curves to what predictors learn from: each kernel is lowered once, and its features are computed.

curves ─▶ kernels × dimensions ─▶ features, in several processes ─▶ Example
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.base.processes import mapped
from coarsen.errors import RefusalError
from coarsen.features import FeatureTable, feature_table
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.models.examples import Curve, Example, family_of
from coarsen.opencl_bench.workloads.lookup import find_measured

# A kernel by its name in the data, the folder that may describe it, the dimensions that are coarsened.
_Asked = tuple[str, Path | None, tuple[int, ...]]


@dataclass(frozen=True)
class Examples:
    """Examples, and which curves have none, since the kernel can't be coarsened that way."""

    examples: tuple[Example, ...]
    notes: tuple[str, ...]


def examples_of(
    curves: Sequence[Curve],
    kernels: Path | None = None,
    processes: int | None = None,
) -> Examples:
    """Return the curves with their kernels' features.

    Args:
        curves: of any kernels and devices.
        kernels: a folder with the descriptions (NAME.toml) of kernels that are not the suite's.
        processes: how many compute features. None: as many as there are processors, but for a script just one;
            one that has its work under `if __name__ == "__main__":` may say more.

    Raises:
        InvalidInputError: a kernel that is not known, or does not compile; the message names it.
    """
    wanted: defaultdict[str, dict[int, None]] = defaultdict(dict)
    for curve in curves:
        wanted[curve.kernel][curve.dimension] = None
    asked = [(name, kernels, tuple(dimensions)) for name, dimensions in wanted.items()]
    known = dict(zip(wanted, mapped(_tables, asked, processes), strict=True))
    examples = [
        Example(**vars(curve), family=family, table=table)
        for curve in curves
        for family, tables in (known[curve.kernel],)
        if not isinstance(table := tables[curve.dimension], str)
    ]
    refusals = (text for _, tables in known.values() for text in tables.values() if isinstance(text, str))
    return Examples(tuple(examples), tuple(dict.fromkeys(refusals)))


def _tables(asked: _Asked) -> tuple[str, Mapping[int, FeatureTable | str]]:
    """The family, and along each dimension the features, or in one sentence why it can't be coarsened so."""
    name, folder, dimensions = asked
    benchmark = find_measured(name, folder)
    family = benchmark.family or family_of(name)
    try:
        kernel = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
    except RefusalError as refusal:
        return family, dict.fromkeys(dimensions, f"{name} can't be coarsened: {refusal}")
    return family, {dimension: _table(name, kernel, dimension) for dimension in dimensions}


def _table(name: str, kernel: Kernel, dimension: int) -> FeatureTable | str:
    try:
        return feature_table(kernel, dimension)
    except RefusalError as refusal:
        return f"{name} can't be coarsened along dimension {dimension}: {refusal}"
