"""A user's kernel whose made-up indices lead out of its buffers: one line says which, and what to change."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import pytest

from coarsen.cli.describe import describe
from coarsen.devices.discovery import discover_devices
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep import out_of_bounds
from coarsen.opencl_bench.sweep.out_of_bounds import (
    Access,
    access_out_of_bounds,
    explained,
    first_access,
    indices_hint,
)
from coarsen.opencl_bench.sweep.several import SweepResult, SweepsObserver, sweep_all
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.engine.plan import Space, SweepPlan
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.store.database import open_store
from coarsen.tuning.workload.benchmark import Benchmark
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement
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
LOG = """
Invalid read of size 4 at global memory address 0x%x
\tKernel: graph
\tEntity: Global(1023,2,0) Local(63,0,0) Group(15,0,0)
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


def explanation(path: Path, benchmark: Benchmark) -> str:
    if not any(device.is_called("oclgrind") for device in discover_devices()):
        pytest.skip("needs Oclgrind, which sees every access")
    return access_out_of_bounds(benchmark, path, "test", (64,), ())


def test_what_init_guesses_for_a_graph_stays_within_bounds(file: Path) -> None:
    text = file.read_text()
    assert 'elements = "n + 1"  # CHECK\nvalues = "sorted(0, n)"  # CHECK: indices, of columns' in text
    assert 'values = "integers(0, n)"  # CHECK: indices, of weight' in text
    rows = read_benchmark(file).workload("test").buffers["rows"]
    assert len(rows) == 1025 and (rows[1:] >= rows[:-1]).all() and rows.max() < 1024
    assert explanation(file, read_benchmark(file)) == ""


def test_a_buffer_that_is_too_small(file: Path) -> None:
    assert explanation(file, changed(file, '"n + 1"', '"n"')) == (
        "the uncoarsened kernel reads rows[1024] of 1024 elements in work-item (1023, 0, 0) at preset test: "
        "give rows more `elements`, or a smaller `global_size`"
    )


def test_an_index_that_leads_away(file: Path) -> None:
    found = explanation(file, changed(file, '"integers(0, n)"', '"integers(-9000000, -8000000)"'))
    assert "the uncoarsened kernel reads weight[-8" in found
    assert found.endswith("give `values` of columns that lead to elements of weight only")


@pytest.mark.parametrize(
    ("address", "buffer", "offset"),
    [(0x1000000001000, 0, 4096), (0x2FFFFFFFFFFFC, 2, -4), (0x3000000000000 + (1 << 40), 2, 1 << 40)],
)
def test_an_address_is_a_buffer_and_an_offset(address: int, buffer: int, offset: int) -> None:
    assert first_access(LOG % address) == Access("reads", buffer, offset, (1023, 2, 0))


def test_local_memory_has_no_name_and_a_clean_log_nothing() -> None:
    log = "Invalid write of size 4 at local memory address 0x1000000000400\n"
    assert first_access(log) == Access("writes", None, 0, None)
    assert first_access("Kernel is correct\n") is None


def test_a_simulation_ends_with_its_first_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(sys.argv[2]); time.sleep(600)"
    command = [sys.executable, "-c", script, str(tmp_path / "log"), LOG % 0x1000000001000]
    # Without an end, as a loop up to what was read beside a buffer may be.
    monkeypatch.setattr(out_of_bounds, "SECONDS", math.inf)
    out_of_bounds.run_until_found(command, os.environ, tmp_path / "log")
    assert first_access((tmp_path / "log").read_text()) == Access("reads", 0, 4096, (1023, 2, 0))


def swept(path: Path, device: str, tmp_path: Path) -> SweepResult:
    plan = SweepPlan(
        path, device, "test", space=Space(factors=(1, 2), strides=(1,)), method=METHOD, confirms=False
    )
    with open_store(str(tmp_path / "results.sqlite")) as store:
        return sweep_all([plan], store, SweepsObserver())[0]


def test_a_crash_of_the_original_is_bad_input_and_told_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(file, '"integers(0, n)"', '"integers(500000000, 600000000)"')
    with monkeypatch.context() as patched:
        patched.setattr(out_of_bounds, "_log", lambda *_: LOG % (0x3000000000000 + (1 << 40)))
        result = swept(file, "intel", tmp_path)
    assert result.exit_code == InvalidInputError.exit_code
    assert result.problem.startswith(f"{file}: the uncoarsened kernel reads weight[274877906944] of 1024 elements")
    assert "bug report" not in " ".join(row.reason for row in result.rows)
    assert "\n" not in result.problem
    # Without the simulator it is left at naming the buffers.
    monkeypatch.setattr(out_of_bounds, "_log", lambda *_: "")
    result = swept(file, "intel", tmp_path)
    assert "the uncoarsened kernel crashes (the process died of signal SIGSEGV" in result.problem
    assert result.problem.endswith("hold indices (rows, columns) in the TOML file")


def test_a_kernel_without_indices_has_no_hint(tmp_path: Path) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text("kernel void k(global int *o, global const int *a) { o[get_global_id(0)] = a[0]; }\n")
    describe(kernel_file=kernel)
    assert indices_hint(read_benchmark(kernel.with_suffix(".toml")), ()) == ""


def test_a_changed_guard_zone_of_the_original_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "beside.cl"
    kernel.write_text("kernel void beside(global int *o) { o[get_global_id(0) + 1] = 7; }\n")
    describe(kernel_file=kernel)
    monkeypatch.setattr(out_of_bounds, "_log", lambda *_: "")
    result = swept(kernel.with_suffix(".toml"), "intel", tmp_path)
    assert result.exit_code == InvalidInputError.exit_code
    assert result.problem.endswith("the uncoarsened kernel wrote outside of the buffer o: give it more `elements`")


def test_wrong_results_of_a_coarsened_kernel_may_be_the_originals_fault(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = read_benchmark(file)
    coarsened = Variant((64,), (Coarsening(4),))
    wrong = some_measurement(candidate=coarsened, invalidity=Invalidity.CORRECTNESS, reason="sums: 4 wrong")
    right = some_measurement(candidate=coarsened)
    monkeypatch.setattr(out_of_bounds, "_log", lambda *_: LOG % (0x1000000000000 + 4 * 5000))
    assert explained("", benchmark, file, "test", [right]) == ""
    with pytest.raises(InvalidInputError, match=r"the uncoarsened kernel reads rows\[5000\] of 1025 elements"):
        explained("", benchmark, file, "test", [right, wrong])
    monkeypatch.setattr(out_of_bounds, "_log", lambda *_: "")
    assert explained("", benchmark, file, "test", [right, wrong]) == "", "it stays a wrong result"
