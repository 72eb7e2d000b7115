"""Kernels on which a device's compiler would take minutes: refused there, and only there."""

from __future__ import annotations

import logging

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import check_ways_by_barriers, most_ways_by_barriers
from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in.program import Program
from coarsen.errors import RefusalError

# Each merged work-group has two conditions of its own in a row: four ways, 256 with four work-groups.
SOURCE = """
kernel void gather(global const int *counts, global int *sums) {
    local int cell;
    size_t group = get_group_id(0), item = get_local_id(0);
    if (item == 0) cell = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int count = counts[group];
    if (count > 1) {
        if (item == 1) cell += count;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 2) cell *= 3;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (count > 4) {
        if (item == 3) cell += 10;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) sums[group] = cell;
}
"""
GROUPS = 8
COUNTS = np.arange(GROUPS, dtype=np.int32)
SUMS = np.where(COUNTS > 1, 3 * COUNTS, 0) + np.where(COUNTS > 4, 10, 0)


def gathered(program: cl.Program, context: cl.Context, queue: cl.CommandQueue) -> list[int]:
    flags = cl.mem_flags
    counts = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=COUNTS)
    sums = cl.Buffer(context, flags.READ_WRITE, COUNTS.nbytes)
    program.gather(queue, (GROUPS * 4,), (4,), counts, sums)
    result = np.empty_like(COUNTS)
    cl.enqueue_copy(queue, result, sums)
    return [int(value) for value in result]


def test_four_work_groups_are_too_many_for_pocl(
    device: DeviceDescription, context: cl.Context, queue: cl.CommandQueue
) -> None:
    program = Program(context, SOURCE, factor=4, level="group", kernels=["gather"])
    if not device.is_called("pocl"):
        assert gathered(program.build(), context, queue) == SUMS.tolist()
        return
    with pytest.raises(RefusalError, match="PoCL may take minutes") as caught:
        program.build()
    assert caught.value.code == "slow-to-compile"


def test_two_work_groups_are_merged_everywhere(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "coarsen"):
        program = Program(context, SOURCE, factor=2, level="group").build()
        assert gathered(program, context, queue) == SUMS.tolist()
    assert "runs with factor 2" in caplog.text


def test_only_pocl_has_a_limit() -> None:
    assert most_ways_by_barriers(["OpenCL 3.0 LINUX"]) is None
    assert most_ways_by_barriers([]) is None
    most = most_ways_by_barriers(["OpenCL 3.0 LINUX", "OpenCL 3.0 PoCL 3.1+debian"])
    assert most is not None
    check_ways_by_barriers(most, most)
    check_ways_by_barriers(10**6, None)
    with pytest.raises(RefusalError, match=f"{most + 1} ways"):
        check_ways_by_barriers(most + 1, most)
