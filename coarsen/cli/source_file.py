"""The name that a command gives the source file of a benchmark."""

from __future__ import annotations

from pathlib import Path

from coarsen.errors import CoarsenError
from coarsen.opencl_bench.workloads.lookup import find_benchmark

UNKNOWN = "FILE.cl"


def source_file(benchmark: str | Path) -> str:
    """Return the path of a benchmark's kernel, as short as it can be; a stand-in where there is no such file.

    Args:
        benchmark: a name of the suite, or the path of a description.
    """
    try:
        found = find_benchmark(benchmark)
    except CoarsenError:
        return UNKNOWN
    if found.source_text and found.source_file is None:
        return UNKNOWN
    file, here = found.kernel_file.absolute(), Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
