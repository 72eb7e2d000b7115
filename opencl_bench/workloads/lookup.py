"""Benchmarks by name or path: the suite, kernels of the package that TOML files describe, drawn ones."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from coarsen.base.names import did_you_mean
from coarsen.errors import InternalError, InvalidInputError
from coarsen.models.held_out import JUDGE_PREFIX
from coarsen.opencl_bench.workloads import suite
from coarsen.tuning.workload.benchmark import Benchmark

KERNEL_FOLDER = Path(__file__).parents[1] / "kernels"
"""The package's own kernels: the suite's here, the others with their descriptions in folders."""

ADAPTIVE_PREFIX = "adaptive-"
RECORDS_PREFIX = "records-"


def _drivers(package: ModuleType) -> Iterator[Benchmark]:
    for module in pkgutil.iter_modules(package.__path__):
        members = vars(importlib.import_module(f"{package.__name__}.{module.name}"))
        found = [member for member in members.values() if isinstance(member, Benchmark)]
        if not found:
            raise InternalError(f"the module {module.name} defines no Benchmark")
        for each in found:
            yield replace(each, source_file=KERNEL_FOLDER / f"{each.name}.cl")


SUITE: Mapping[str, Benchmark] = MappingProxyType(
    {driver.name: driver for driver in sorted(_drivers(suite), key=lambda each: each.name.lower())}
)
"""The seventeen benchmarks, by name."""


def described(prefix: str) -> Mapping[str, Path]:
    """Return the descriptions of the package's own kernels, by the names of their benchmarks.

    Args:
        prefix: of the names; without its `-`, it is the folder in `kernels`.
    """
    files = sorted((KERNEL_FOLDER / prefix.removesuffix("-")).glob("*.toml"))
    return {f"{prefix}{path.stem}": path for path in files}


def judge() -> Mapping[str, Benchmark]:
    """The thirty benchmarks of the second judge, by name: for a sweep and for the last step of an evaluation."""
    return {name: _described(name, path) for name, path in described(JUDGE_PREFIX).items()}


def records() -> Mapping[str, Benchmark]:
    """The kernels whose arrays hold records, by the names of their benchmarks."""
    return {name: _described(name, path) for name, path in described(RECORDS_PREFIX).items()}


@cache
def _described(name: str, path: Path) -> Benchmark:
    # Imported late: hardly anyone needs it.
    from coarsen.opencl_bench.workloads.described.read import read_benchmark

    return replace(read_benchmark(path), name=name)


def benchmark(name: str) -> Benchmark:
    """The benchmark of this name.

    Raises:
        InvalidInputError: there is none; the message lists the names.
    """
    return SUITE[_known(name, SUITE)]


def _known(name: str, names: Iterable[str]) -> str:
    known = sorted(names)
    if name not in known:
        raise InvalidInputError(f"no benchmark {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}")
    return name


def find_benchmark(name_or_path: str | Path) -> Benchmark:
    """Return the benchmark of this name: of the suite, drawn, described in the package; or of a TOML file.

    Args:
        name_or_path: a name of the suite, `launch-<seed>-<index>`, `adaptive-<kernel>`, `records-<kernel>` or
            `judge-<kernel>`; a path, or a text that ends with `.toml`,
            is that of a file.

    Raises:
        InvalidInputError: no such benchmark or file, or a mistake in the file.
    """
    if isinstance(name_or_path, str) and not name_or_path.endswith(".toml"):
        if name_or_path.startswith("launch-"):
            from coarsen.opencl_bench.workloads.free_launch.workload import free_launch_benchmark

            return free_launch_benchmark(name_or_path)
        for prefix in (ADAPTIVE_PREFIX, RECORDS_PREFIX, JUDGE_PREFIX):
            if name_or_path.startswith(prefix):
                known = described(prefix)
                return _described(name_or_path, known[_known(name_or_path, known)])
        return benchmark(name_or_path)
    from coarsen.opencl_bench.workloads.described.read import read_benchmark

    return read_benchmark(Path(name_or_path))


# Ten further kernels, beside the suite: described by TOML files, for studies of what a program's author gains.

FURTHER: Mapping[str, Path] = MappingProxyType(
    {path.stem: path for path in sorted((KERNEL_FOLDER / "further").glob("*.toml"))}
)
"""The descriptions of the further kernels, by name. No sweep of "the whole suite" and no training has them."""


def further_benchmark(name: str) -> Benchmark:
    """Return the suite's benchmark or the further kernel of this name. Raises InvalidInputError as they do."""
    if name in SUITE or name not in FURTHER:
        return find_benchmark(name)
    return find_benchmark(FURTHER[name])
