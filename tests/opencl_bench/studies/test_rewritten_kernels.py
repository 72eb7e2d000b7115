"""Kernels that are written anew run on the workload of the source, and compute the same."""

from __future__ import annotations

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.opencl_machine import OpenClMachine
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.studies import rewritten_kernels
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.rewritten_kernels import codes_of, measured
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.variant import Variant

# One with a second kernel in its file, one with macros.
NAMES = ("records-bitonic_local", "records-kd_bin")


@pytest.mark.compiled_devices
def test_both_are_timed(device: DeviceDescription) -> None:
    found = [*measured(OpenClMachine(device), NAMES, "test", Method(repetitions=3, minimum_repetitions=3))]
    assert [each.name for each in found] == [*NAMES]
    assert all(each.seconds > 0 and each.gain.low <= each.gain.ratio <= each.gain.high for each in found)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_anew_is_another_text_and_right(name: str, device: DeviceDescription) -> None:
    benchmark = find_benchmark(name)
    original, written = codes_of(benchmark)
    assert written.content != original.content and written.kernel == original.kernel
    workload = benchmark.workload("test", 0)
    executor = OpenClMachine(device).place(workload)
    variant = Variant(benchmark.preset("test").local_size, (), benchmark.own_definitions)
    executor.load(written, variant)(Clock.SUM)
    assert compare(executor.outputs(), workload.expected(), workload) == []


def test_a_kernel_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(lambda: rewritten_kernels.main(["no_such_kernel", "--device", "intel"])) != 0
    assert "no benchmark 'no_such_kernel'" in capsys.readouterr().err
