"""The default version of a kernel that adapts is what its source builds without options: gains are over that."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import compile_source, lower
from coarsen.ir.graph.printer import module_text
from coarsen.ir.hashed_text import hashed_text
from coarsen.opencl_bench.workloads.lookup import adaptive, find_benchmark


@pytest.mark.parametrize("name", [name for name in adaptive() if find_benchmark(name).own_definitions])
def test_the_default_version_is_what_the_source_builds(name: str) -> None:
    benchmark = find_benchmark(name)
    plain = compile_source(benchmark.code, benchmark.build_options)
    default = compile_source(benchmark.code, benchmark.own_options)
    for kernel in plain.kernels:
        one, other = (hashed_text(module_text(lower(unit, kernel).graph)) for unit in (plain, default))
        assert one == other, kernel
