"""Benchmarks by name or path: the suite, kernels of the package that TOML files describe, those of training."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from coarsen.base.names import did_you_mean
from coarsen.errors import InternalError, InvalidInputError
from coarsen.models.held_out import JUDGE_PREFIX
from coarsen.opencl_bench.workloads import suite
from coarsen.opencl_bench.workloads.suite import KERNEL_FOLDER as KERNEL_FOLDER
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.tuning.workload.captured_benchmark import read_launch
from coarsen.tuning.workload.launch_list import CAPTURED_SUFFIX, LAUNCH_SUFFIXES

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
    """Return the benchmark of this name: of the suite, of training, described in the package; or of a file.

    Args:
        name_or_path: a name of the suite, `launch-0-<number>`, `nest-0-<number>`, `adaptive-<kernel>`,
            `records-<kernel>` or `judge-<kernel>`; a path, or a text that ends with `.toml` or
            `.npz`, is that of a description or of a recorded launch.

    Raises:
        InvalidInputError: no such benchmark or file, or a mistake in the file.
    """
    if isinstance(name_or_path, str) and not name_or_path.endswith(LAUNCH_SUFFIXES):
        if name_or_path.startswith(("launch-", "nest-")):
            from coarsen.opencl_bench.workloads.training_kernels import training_kernel

            return training_kernel(name_or_path)
        for prefix in (ADAPTIVE_PREFIX, RECORDS_PREFIX, JUDGE_PREFIX):
            if name_or_path.startswith(prefix):
                known = described(prefix)
                return _described(name_or_path, known[_known(name_or_path, known)])
        return benchmark(name_or_path)
    if Path(name_or_path).suffix == CAPTURED_SUFFIX:
        from coarsen.opencl_bench.workloads.included_files import check_included_files

        launch = read_launch(Path(name_or_path))
        # As `-I FOLDER` or `-IFOLDER`.
        words = itertools.pairwise((*launch.build_options, ""))
        folders = [word[2:] or following for word, following in words if word.startswith("-I")]
        check_included_files(Path(name_or_path), [Path(each) for each in folders if each], launch.source)
        return launch
    from coarsen.opencl_bench.workloads.described.read import read_benchmark

    return read_benchmark(Path(name_or_path))


# Kernels by their names in a table or in a row of results.


def find_measured(name: str, kernels: Path | None = None) -> Benchmark:
    """Return the suite's kernel of this name, one of training, or one that a folder describes.

    Args:
        name: as it stands in the table or the row.
        kernels: a folder with NAME.toml, as `coarsen describe` writes it.

    Raises:
        InvalidInputError: nothing is called so, or there is a mistake in its description.
    """
    if Path(name).name != name or name.endswith(LAUNCH_SUFFIXES):
        # It comes from a table or a row, which may not choose the files that are read.
        raise InvalidInputError(f"{name[:60]!a} is a path and no name of a kernel, so it has no features")
    described = kernels / f"{name}.toml" if kernels is not None else None
    if described is not None and described.is_file():
        return find_benchmark(described)
    find: Callable[[str], Benchmark] = find_benchmark
    if name.startswith("synthetic-"):
        # Imported late: a launch that is tuned needs none of them.
        from coarsen.opencl_bench.workloads.training_kernels import training_kernel

        find = training_kernel
    try:
        return find(name)
    except InvalidInputError:
        where = f"neither in {kernels} nor" if kernels is not None else "not"
        raise InvalidInputError(f"the kernel '{name}' is {where} in the suite, so it has no features") from None
