"""A user's kernel whose made-up indices lead out of its buffers: one line says what to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.cli.describe import describe
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.several import SweepResult, SweepsObserver, sweep_all
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.engine.plan import Space, SweepPlan
from coarsen.tuning.store.database import open_store
from coarsen.tuning.workload.benchmark import Benchmark
from tests.opencl_bench.sweep.small_sweep import METHOD

GRAPH = """\
kernel void graph(global const int *rows, global const int *columns, global const float *weight,
                  global float *sums, uint count)
{
    uint node = get_global_id(0);
    float sum = 0;
    if (node < count)
        for (int edge = rows[node]; edge < rows[node + 1]; ++edge)
            sum += weight[columns[edge]];
    sums[node] = sum;
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    kernel = tmp_path / "graph.cl"
    kernel.write_text(GRAPH)
    describe(kernel_file=kernel)
    return kernel.with_suffix(".toml")


def changed(path: Path, old: str, new: str) -> Benchmark:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return read_benchmark(path)


def swept(path: Path, device: str, tmp_path: Path) -> SweepResult:
    plan = SweepPlan(
        path, device, "test", space=Space(factors=(1, 2), strides=(1,)), method=METHOD, confirms=False
    )
    with open_store(str(tmp_path / "results.sqlite")) as store:
        return sweep_all([plan], store, SweepsObserver())[0]


def test_a_crash_of_the_original_names_the_buffers_with_indices(file: Path, tmp_path: Path) -> None:
    changed(file, '"integers(0, n)"', '"integers(500000000, 600000000)"')
    result = swept(file, "intel", tmp_path)
    assert "the uncoarsened kernel crashes (the process died of signal SIGSEGV" in result.problem
    assert result.problem.endswith("hold indices (rows, columns) in the TOML file")


def test_a_changed_guard_zone_of_the_original_is_bad_input(tmp_path: Path) -> None:
    kernel = tmp_path / "beside.cl"
    kernel.write_text("kernel void beside(global int *o) { o[get_global_id(0) + 1] = 7; }\n")
    describe(kernel_file=kernel)
    result = swept(kernel.with_suffix(".toml"), "intel", tmp_path)
    assert result.exit_code == InvalidInputError.exit_code
    assert result.problem.endswith("the uncoarsened kernel wrote outside of the buffer o: give it more `elements`")
