"""Launches that an advisor decides on: when it is asked, with what, and that no advice makes a launch wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.errors import DeviceError, InternalError
from coarsen.runtime.advice import Decision
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.runtime.advisors import KINDS, WIDE, FakeAdvisor, advice, advised, with_arguments
from tests.runtime.hand_coarsened import SOURCE, HandToolchain
from tests.runtime.launch_routes import (
    ROUTES,
    SIZE,
    Anything,
    Buffers,
    filled,
    read_values,
)

pytestmark = pytest.mark.compiled_devices


@pytest.mark.parametrize("launch", ROUTES, ids=lambda route: route.__name__)
def test_the_advisor_sees_the_launch_and_its_arguments_by_any_route(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    launch: Callable[[cl.CommandQueue, Program, Buffers], None],
) -> None:
    program, advisor = advised(context, advice(4))
    launch(queue, program, buffers)
    assert buffers.factor(queue) == 4
    request = advisor.asked[-1]
    assert (request.source, request.kernel, request.queue) == (SOURCE, "record", queue)
    assert (request.launch.global_size, request.launch.local_size) == ((SIZE,), (16,))
    assert request.launch.device == queue.device and request.arguments is not None
    *memory, number = request.arguments
    assert [argument.int_ptr for argument in memory] == [argument.int_ptr for argument in buffers.all[:3]]
    assert np.frombuffer(number, np.int32).tolist() == [11]


def test_the_advisor_is_asked_once_for_each_launch_that_differs(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    program, advisor = advised(context, advice(4))
    for local_size in (16, 8, 16, 8):
        program.record(queue, (SIZE,), (local_size,), *buffers.all)
        cl.enqueue_nd_range_kernel(queue, with_arguments(program, buffers), (SIZE,), (local_size,))
    program.record.divided(queue.device, (SIZE,), (16,))
    assert [request.launch.local_size for request in advisor.asked] == [(16,), (8,)]


def test_a_launch_that_was_only_looked_at_is_asked_about_again(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    program, advisor = advised(context, advice(4))
    kernel = program.record
    looked_at = [kernel.divided(queue.device, (SIZE,), (16,)) for _ in range(2)]
    assert looked_at[0] is looked_at[1] and looked_at[0].coarsenings == (Coarsening(4),)
    kernel(queue, (SIZE,), (16,), *buffers.all)
    assert [request.arguments is None for request in advisor.asked] == [True, False]


def test_only_kernels_without_a_requested_factor_are_asked_about(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    for options in ({"factor": 2}, {"factor": {"record": 2}, "kernels": None}, {"kernels": ["refused"]}):
        program, advisor = advised(context, advice(4), **options)
        program.record(queue, (SIZE,), (16,), *buffers.all)
        assert buffers.factor(queue) == (2 if "factor" in options else 1)
        assert advisor.asked == []


def test_launches_with_nothing_to_merge_and_wrong_ones_are_not_asked_about(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    program, advisor = advised(context, advice(4, (8,)), HandToolchain(groups_matter=False))
    program.record(queue, (1,), None, *buffers.all)
    for sizes in (((SIZE,), (36,)), ((SIZE, 1), (16,))):
        with pytest.raises(cl.LogicError):
            program.record(queue, *sizes, *buffers.all)
    assert advisor.asked == []


@pytest.mark.parametrize(
    "error", [DeviceError("the store can't be read"), cl.LogicError("made up"), InternalError("no verse")]
)
def test_without_advice_a_kernel_stays_as_it_is(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    for answer in (None, error):
        caplog.clear()
        program, _ = advised(context, answer, HandToolchain())
        for local_size in (16, 8):
            program.record(queue, (SIZE,), (local_size,), *buffers.all)
        assert buffers.factor(queue) == 1
        (message,) = caplog.messages or [""]
        assert message.startswith("kernel record " if answer else "")
        assert not answer or str(error) in message
        assert ("this is a bug in coarsen" in message) == (bool(answer) and isinstance(error, InternalError))


def test_other_errors_of_an_advisor_are_errors(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    program, _ = advised(context, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        program.record(queue, (SIZE,), (16,), *buffers.all)


@pytest.mark.parametrize(
    ("answer", "hand", "factor"),
    [
        (advice(4), {}, 4),
        (advice(4, (6,)), {"groups_matter": False}, 3),
        (advice(4, (6,)), {"groups_matter": True}, 4),
        (advice(4, (48,)), {"groups_matter": False}, 4),
        (advice(16, (36,)), {"groups_matter": False}, 16),
        (advice(7, (48,)), {"groups_matter": False}, 6),
        (advice(1, (48,)), {"groups_matter": False}, 1),
        (advice(4), {"refused_factors": frozenset({4})}, 1),
        (advice(4), {"broken": True}, 1),
        (Decision(Variant(coarsenings=(Coarsening(4, 2),)), ""), {}, 1),
        (advice(4, (16, 2)), {"groups_matter": False}, 4),
        (advice(4, (0,)), {"groups_matter": False}, 4),
    ],
)
def test_what_does_not_fit_is_weakened(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    answer: Decision,
    hand: dict[str, Anything],
    factor: int,
) -> None:
    program, advisor = advised(context, answer, HandToolchain(**hand))
    for route in (ROUTES[0], ROUTES[3]):
        route(queue, program, buffers)
        assert buffers.factor(queue) == factor
    assert len(advisor.asked) == 1


@pytest.mark.parametrize(
    ("answer", "hand", "factor"),
    [
        (advice(4), {}, 4),
        (advice(4, (48,)), {"groups_matter": False}, 4),
        (advice(16), {}, 16),
        (advice(7, (48,)), {"groups_matter": False}, 1),
        (advice(5), {"groups_matter": False}, 1),
        (advice(16, (36,)), {"groups_matter": False}, 1),
        (advice(4, (48,)), {"groups_matter": True}, 1),
        (advice(4, (6,)), {"groups_matter": False}, 1),
        (advice(4, (), WIDE), {"objects_below": 4 * SIZE}, 1),
        (advice(4, (), WIDE), {"objects_below": 4 * SIZE + 1}, 104),
    ],
)
def test_an_exact_advice_runs_as_it_was_measured_or_not_at_all(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    answer: Decision,
    hand: dict[str, Anything],
    factor: int,
) -> None:
    tools = HandToolchain(**hand)
    program, advisor = advised(context, answer._replace(is_exact=True), tools)
    for route in (ROUTES[0], ROUTES[3]):
        route(queue, program, buffers)
        assert buffers.factor(queue) == factor
    divided = program.record.divided(queue.device, (SIZE,), (16,))
    assert (divided.local_size == (16,)) == (not divided.coarsenings)
    assert ("nothing else was measured" in str(divided.reason)) == (not divided.coarsenings)
    assert len(advisor.asked) == 1
    assert {factors for _, factors in tools.coarsened} <= {(entry.factor,) for entry in answer.variant.coarsenings}


@pytest.mark.parametrize(("factor", "without"), [(5, 1), (4, 4)])
def test_an_exact_advice_has_a_guard_where_one_was_measured_and_else_none(
    context: cl.Context, queue: cl.CommandQueue, factor: int, without: int
) -> None:
    for any_size in (True, False):
        answer = Decision(Variant((), (Coarsening(factor),), any_size=any_size), "measured", is_exact=True)
        program = Program(context, KINDS, tune=FakeAdvisor(answer)).build()
        output = filled(context)
        program.free(queue, (SIZE,), (16,), output)
        np.testing.assert_array_equal(read_values(queue, output), 3 * np.arange(SIZE))
        divided = program.free.divided(queue.device, (SIZE,), (16,))
        merged = factor if any_size else without
        assert divided.coarsenings == ((Coarsening(merged),) if merged > 1 else ())
        assert divided.guarded == any_size and divided.reason is not None
        assert ("nothing else was measured" in divided.reason) == (merged == 1)


def test_offsets_and_sizes_in_groups_are_those_of_the_caller(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    for factor in (4, 1):
        program, _ = advised(context, advice(factor, (8,)), HandToolchain(groups_matter=False))
        fresh = Buffers(context)
        program.record(queue, (2,), (16,), *fresh.all, g_times_l=True, global_offset=(1,))
        merged = np.empty(SIZE, np.int32)
        cl.enqueue_copy(queue, merged, fresh.merged)
        assert merged.tolist() == [-1] * 16 + [factor] * 32 + [-1] * (SIZE - 48)


def test_what_a_launch_waits_for_is_over_before_the_advisor_is_asked(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    others = cl.CommandQueue(context)
    program, advisor = advised(context, advice(4))
    event = cl.enqueue_copy(others, buffers.output, np.zeros(SIZE, np.int32), is_blocking=False)
    waiting: Anything = iter([event])
    program.record(queue, (SIZE,), (16,), *buffers.all, wait_for=waiting)
    assert advisor.asked[0].arguments is not None
    assert event.command_execution_status == cl.command_execution_status.COMPLETE


def test_an_event_that_the_program_sets_later_is_not_waited_for(context: cl.Context, buffers: Buffers) -> None:
    queue = cl.CommandQueue(context)
    program, advisor = advised(context, advice(4))
    gate = cl.UserEvent(context)
    program.record(queue, (SIZE,), (16,), *buffers.all, wait_for=[gate])
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert buffers.factor(queue) == 4
    program.record(queue, (SIZE,), (16,), *buffers.all)
    assert [request.arguments is None for request in advisor.asked] == [True, False]


def test_the_reason_is_that_of_the_advice(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="coarsen"):
        for answer in (advice(4, (48,), WIDE), advice(1, (48,)), advice(8)):
            program, _ = advised(context, answer, HandToolchain(groups_matter=False))
            program.record(queue, (SIZE,), (12,), *buffers.all)
    lines = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    merged = "factor 4 along dimension 0, wide accesses, in work-groups of 12"
    assert lines[:2] == [
        f"kernel record runs with {merged}: somebody measured it",
        "kernel record runs with the original kernel, local size 48: somebody measured it",
    ]
    assert lines[2].startswith(
        "kernel record runs with factor 6 along dimension 0: as near to what is advised (factor 8 along "
    )
    assert "does not divide" in lines[2]
