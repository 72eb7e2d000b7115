"""Counted work is the work that runs, where data don't decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.studies.executed_blocks import counting_kernel
from coarsen.opencl_bench.studies.work_agreement import Ratio, WorkRow, main, table, work_row
from coarsen.opencl_bench.workloads.further import further_benchmark


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True if a device is quick enough to count."""
    device: DeviceDescription = parameters["device"]
    return device.is_called("pocl")


@pytest.mark.parametrize(
    ("name", "loops", "numbers"),
    [("mvCoal", 3, 0), ("reduce", 1, 0), ("nbody", 3, 1), ("convolution", 2, 0), ("dotParts", 2, 0)],
)
def test_what_is_counted_runs(
    name: str, loops: int, numbers: int, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    assert device.is_called("pocl")
    row = work_row(further_benchmark(name), queue)
    assert (row.loops, row.numbers, row.expressions) == (loops, numbers, loops)
    assert not row.assumed
    for ratio in (row.loads, row.stores, row.rounds):
        assert ratio.counted == pytest.approx(ratio.executed, rel=1e-9)
        assert ratio.executed > 0


@pytest.mark.parametrize("name", ["sgemm", "mvUncoal", "kmeans", "histogram"])
def test_what_is_counted_of_a_coarsened_kernel_runs(
    name: str, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    assert device.is_called("pocl")
    row = work_row(further_benchmark(name), queue, factor=4)
    for ratio in (row.loads, row.stores):
        assert ratio.counted == pytest.approx(ratio.executed, rel=0.01)


def test_a_counting_kernel_counts_each_block_behind_its_phis() -> None:
    kernel = lower("kernel void k(global int *data, int n) { for (int i = 0; i < n; ++i) data[i] = n; }")
    counting = counting_kernel(kernel)
    assert [argument.name for argument in counting.arguments] == ["data", "n", "executed_blocks"]
    for number, block in enumerate(counting.blocks):
        place, add = block.instructions[len(block.phis) : len(block.phis) + 2]
        assert place.text.endswith(f"i64 {number}")
        assert add.opcode == "atomicrmw"


def test_the_table_has_a_row_per_kernel_and_sums() -> None:
    same = Ratio(10.0, 10)
    rows = [WorkRow("one", 2, 1, 2, same, Ratio(4.0, 8), Ratio(0.0, 0), assumed=True)] * 2
    lines = list(table(rows))
    assert lines[1].split() == ["one", "2", "1", "2", "1.000", "0.500", "-", "yes"]
    assert lines[-1].split() == ["all", "4", "2", "4"]


def test_an_unknown_device_is_named() -> None:
    with pytest.raises(DeviceError, match="no OpenCL device is called 'abacus'"):
        main(["mt", "abacus"])
