"""Benchmarks by name or path: the suite's (drivers in the folder `suite`), synthetic ones, described ones."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from coarsen.errors import InternalError, InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.workloads import suite
from coarsen.opencl_bench.workloads.benchmark import Benchmark


def _drivers() -> Iterator[Benchmark]:
    for module in pkgutil.iter_modules(suite.__path__):
        found = getattr(importlib.import_module(f"{suite.__name__}.{module.name}"), "BENCHMARK", None)
        if not isinstance(found, Benchmark):
            raise InternalError(f"the driver {module.name} defines no BENCHMARK")
        yield found


SUITE: Mapping[str, Benchmark] = MappingProxyType({driver.name: driver for driver in _drivers()})
"""The seventeen benchmarks, by name."""


def benchmark(name: str) -> Benchmark:
    """The benchmark of this name.

    Raises:
        InvalidInputError: there is none; the message lists the names.
    """
    if name not in SUITE:
        raise InvalidInputError(
            f"no benchmark {name!r}{did_you_mean(name, SUITE)}; there are {', '.join(sorted(SUITE))}"
        )
    return SUITE[name]


def find_benchmark(name_or_path: str | Path) -> Benchmark:
    """The suite's benchmark of this name, a synthetic one, or the one that a TOML file describes.

    Args:
        name_or_path: a name of the suite, or `synthetic-<seed>-<index>`; a path, or a text that ends with `.toml`,
            is that of a file.

    Raises:
        InvalidInputError: no such benchmark or file, or a mistake in the file.
    """
    if isinstance(name_or_path, str) and not name_or_path.endswith(".toml"):
        if name_or_path.startswith("synthetic-"):
            from coarsen.opencl_bench.workloads.synthetic.benchmark import benchmark_of_name

            return benchmark_of_name(name_or_path)
        return benchmark(name_or_path)
    from coarsen.opencl_bench.workloads.described.read import read_benchmark

    return read_benchmark(Path(name_or_path))
