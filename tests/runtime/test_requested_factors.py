"""Factors that are asked for: what becomes of them, for which kernels, and what is said of it."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError
from coarsen.policy.requested import requested_of
from coarsen.runtime.kernel import Kernel
from coarsen.variant.coarsening import Coarsening, Level
from tests.runtime.launch_routes import (
    SIZE,
    Anything,
    Buffers,
    filled,
    program_of,
    read_values,
)

pytestmark = pytest.mark.compiled_devices

TWO_KERNELS = """
kernel void advect(global int *values) { values[get_global_id(0)] = 2 * (int)get_global_id(0); }
kernel void clear(global int *values) { values[get_global_id(0)] = 0; }
"""
GROUPS = """
kernel void groups(global int *values) {
    values[get_global_id(0)] = 10 * (int)get_group_id(0) + (int)get_local_size(0);
}
"""


def test_a_reason_is_said_once_for_all_sizes_and_never_for_one_work_item(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, caplog: pytest.LogCaptureFixture
) -> None:
    kernel = program_of(context).record
    kernel(queue, (1,), None, *buffers.all)
    kernel(queue, (1,), (1,), *buffers.all)
    assert caplog.messages == []
    for local_size in (6, 3, 2):
        kernel(queue, (SIZE,), (local_size,), *buffers.all)
    assert len(caplog.messages) == 1 and "does not divide" in caplog.messages[0]


def test_of_one_work_group_that_has_none_to_merge_with_no_warning_is_given(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, caplog: pytest.LogCaptureFixture
) -> None:
    program = Program(context, GROUPS, factor=4, level="group").build()
    with caplog.at_level(logging.INFO, logger="coarsen"):
        program.groups(queue, (16,), (16,), buffers.output)
    (record,) = caplog.records
    assert record.levelname == "INFO" and "leave nothing to merge" in record.getMessage()
    assert program.groups.divided(queue.device, (32,), (16,)).coarsenings == (Coarsening(4, level=Level.GROUP),)


@pytest.mark.parametrize(
    ("options", "local_size", "words"),
    [
        ({}, 16, ["factor 4 along dimension 0", "as asked for"]),
        ({}, 6, ["factor 3 along dimension 0", "does not divide", "multiples of the factor"]),
        ({"factor": None, "tune": False}, 16, ["the original kernel", "no factor is asked for", "tune=True"]),
        ({"kernels": ["refused"], "factor": 1}, 16, ["the original kernel", "not among the kernels"]),
    ],
)
def test_what_was_chosen_is_one_line_for_each_kernel(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    caplog: pytest.LogCaptureFixture,
    options: dict[str, Any],
    local_size: int,
    words: list[str],
) -> None:
    program = program_of(context, **options)
    with caplog.at_level(logging.INFO, logger="coarsen"):
        for _ in range(2):
            program.record(queue, (SIZE,), (local_size,), *buffers.all)
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert line.startswith("kernel record runs with ") and all(word in line for word in words)


def test_work_groups_of_one_work_item_are_merged(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    program = Program(context, GROUPS, factor=4, stride=2).build()
    values = filled(context)
    launch = program.groups.divided(context.devices[0], (SIZE,), (1,))
    assert launch.coarsenings == (Coarsening(4, 0, 1, Level.GROUP),)
    program.groups(queue, (SIZE,), (1,), values)
    assert read_values(queue, values).tolist() == list(range(1, 10 * SIZE, 10))
    assert caplog.messages == []


def test_work_groups_that_must_have_one_work_item_are_merged(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    source = GROUPS.replace("kernel void", "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void")
    program = Program(context, source, factor=4).build()
    for local_size in ((1,), None):
        launch = program.groups.divided(context.devices[0], (SIZE,), local_size)
        assert launch.coarsenings == (Coarsening(4, level=Level.GROUP),) and launch.note is None
        values = filled(context)
        program.groups(queue, (SIZE,), local_size, values)
        np.testing.assert_array_equal(read_values(queue, values), 10 * np.arange(SIZE) + 1)
    assert caplog.messages == []


def test_factors_by_kernel(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = Program(context, TWO_KERNELS, factor={"advect": 4, "clear": 16}, stride={"clear": 2}).build()
    launches = {
        kernel.function_name: kernel.divided(context.devices[0], (SIZE,), (32,)).coarsenings
        for kernel in program.all_kernels()
        if isinstance(kernel, Kernel)
    }
    assert launches == {"advect": (Coarsening(4),), "clear": (Coarsening(16, 0, 2),)}
    values = filled(context)
    program.clear(queue, (SIZE,), (32,), values)
    assert not read_values(queue, values).any()
    one = Program(context, TWO_KERNELS, factor={"advect": 4}).build()
    assert one.clear.divided(context.devices[0], (SIZE,), (32,)).coarsenings == ()


@pytest.mark.parametrize(
    ("factor", "others", "message"),
    [
        ({"advect": 4}, {"dim": {"advct": 1}}, "did you mean advect"),
        (4, {"dim": {"advect": 1}}, "go with factors by kernel"),
        (None, {"level": {"advect": "group"}}, "go with a factor"),
        ({"advect": 0}, {}, "at least 1"),
        ({"advect": None}, {}, "whole number"),
    ],
)
def test_bad_values_by_kernel(factor: Anything, others: dict[str, Any], message: str) -> None:
    values: dict[str, Anything] = {"dim": 0, "stride": 1, "level": Level.ITEM, **others}
    with pytest.raises(InvalidInputError, match=message):
        requested_of(factor, **values)


def test_factors_by_kernel_are_for_kernels_of_the_program(context: cl.Context) -> None:
    with pytest.raises(InvalidInputError, match="no kernel 'advct'"):
        Program(context, TWO_KERNELS, factor={"advct": 4}).build()
    with pytest.raises(InvalidInputError, match="leave `kernels` out"):
        Program(context, TWO_KERNELS, factor={"advect": 4}, kernels=["advect"])
    old: Anything = Program
    with pytest.raises(InvalidInputError, match="factor=4"):
        old(context, TWO_KERNELS, 4)
