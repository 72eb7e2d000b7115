"""Kernels by their names in a table or in a row of results."""

from __future__ import annotations

from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.models.examples import family_of
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.free_launch.benchmark import free_launch_kernel, is_free_launch
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_family


def find_measured(name: str, kernels: Path | None = None) -> Benchmark:
    """The suite's or the generator's kernel of this name, or one that a folder describes.

    Args:
        name: as it stands in the table or the row.
        kernels: a folder with NAME.toml, as `coarsen bench init` writes it.

    Raises:
        InvalidInputError: nothing is called so, or there is a mistake in its description.
    """
    if Path(name).name != name or name.endswith(".toml"):
        # It comes from a table or a row, which may not choose the files that are read.
        raise InvalidInputError(f"{name[:60]!a} is a path and no name of a kernel, so it has no features")
    described = kernels / f"{name}.toml" if kernels is not None else None
    if described is not None and described.is_file():
        return find_benchmark(described)
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


def measured_family(name: str) -> str:
    """The name that related kernels share: versions of one algorithm, synthetic kernels of one structure."""
    if is_free_launch(name):
        return free_launch_kernel(name).family
    return synthetic_family(name) if name.startswith("synthetic-") else family_of(name)


def measured_mechanism(name: str) -> str | None:
    """The mechanism of a kernel of free launch, all kernels of which are held out together; None for others."""
    return free_launch_kernel(name).mechanism.value if is_free_launch(name) else None
