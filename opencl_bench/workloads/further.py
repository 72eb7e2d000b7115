"""Ten further kernels, beside the suite: described by TOML files, for studies of what a program's author gains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import KERNEL_FOLDER, Benchmark
from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark

FURTHER: Mapping[str, Path] = MappingProxyType(
    {path.stem: path for path in sorted((KERNEL_FOLDER / "further").glob("*.toml"))}
)
"""The descriptions of the further kernels, by name. No sweep of "the whole suite" and no training has them."""


def further_benchmark(name: str) -> Benchmark:
    """Return the suite's benchmark or the further kernel of this name. Raises InvalidInputError as they do."""
    if name in SUITE or name not in FURTHER:
        return find_benchmark(name)
    return find_benchmark(FURTHER[name])


def names_of(words: str) -> tuple[str, ...]:
    """Return the names of the kernels that are asked for.

    Args:
        words: `seventeen`, `ten` or `all`, or names separated by commas.

    Raises:
        InvalidInputError: there is no such kernel.
    """
    groups = {"seventeen": (*SUITE,), "ten": (*FURTHER,), "all": (*SUITE, *FURTHER)}
    if words in groups:
        return groups[words]
    names = tuple(dict.fromkeys(words.split(",")))
    for name in names:
        if name not in groups["all"]:
            raise InvalidInputError(
                f"no kernel {name!r}; there are {', '.join(groups['all'])}, and {', '.join(groups)}"
            )
    return names
