"""Kernels by their names in a table or in a row of results."""

from __future__ import annotations

from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.benchmark import Benchmark


def find_measured(name: str, kernels: Path | None = None) -> Benchmark:
    """Return the suite's kernel of this name, one that was drawn, or one that a folder describes.

    Args:
        name: as it stands in the table or the row.
        kernels: a folder with NAME.toml, as `coarsen describe` writes it.

    Raises:
        InvalidInputError: nothing is called so, or there is a mistake in its description.
    """
    if Path(name).name != name or name.endswith(".toml"):
        # It comes from a table or a row, which may not choose the files that are read.
        raise InvalidInputError(f"{name[:60]!a} is a path and no name of a kernel, so it has no features")
    described = kernels / f"{name}.toml" if kernels is not None else None
    if described is not None and described.is_file():
        return find_benchmark(described)
    if name.startswith("synthetic-"):
        # Imported late: a launch that is tuned needs none of them.
        from coarsen.opencl_bench.workloads.synthetic import synthetic_kernels

        if name in synthetic_kernels():
            return synthetic_kernels()[name]
    try:
        return find_benchmark(name)
    except InvalidInputError:
        where = f"neither in {kernels} nor" if kernels is not None else "not"
        raise InvalidInputError(f"the kernel '{name}' is {where} in the suite, so it has no features") from None


def known_kernel(name: str, kernels: Path | None = None) -> Benchmark | None:
    """Return the kernel that `find_measured` finds; None where it finds nothing or a mistake."""
    try:
        return find_measured(name, kernels)
    except InvalidInputError:
        return None
