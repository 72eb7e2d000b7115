"""Launches that an advisor decides on: when it is asked, with what, and that no advice makes a launch wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from numpy.typing import NDArray
from pyopencl.tools import VectorArg

from coarsen import api
from coarsen.api import coarsen
from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import DeviceError
from coarsen.runtime.advice import Advice, AdviceRequest
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.program import Program
from coarsen.runtime.toolchain import Toolchain, package_toolchain
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DEFAULT, Transforms, Use
from coarsen.variant.variant import Variant
from tests.runtime.hand_coarsened import SOURCE, HandPredicted, HandToolchain
from tests.runtime.test_drop_in import ROUTES, SIZE, Buffers, program_of

pytestmark = pytest.mark.compiled_devices

# What PyOpenCL's annotations leave out, wrong types included.
Anything: TypeAlias = Any
FLAGS = cl.mem_flags
WIDE = Transforms(wide_accesses=True)
KINDS = """
kernel void free(global int *out) { out[get_global_id(0)] = 3 * (int)get_global_id(0); }
kernel void grouped(global int *out) {
    out[get_global_id(0)] = 1000 * (int)get_local_size(0) + (int)get_local_id(0);
}
kernel __attribute__((reqd_work_group_size(16, 1, 1))) void required(global int *out) {
    out[get_global_id(0)] = (int)get_global_id(0);
}
"""


@dataclass
class FakeAdvisor:
    """Gives the same answer always, or raises it; remembers the questions."""

    answer: Advice | Exception | None
    asked: list[AdviceRequest] = field(default_factory=list)
    looks_at_arguments: bool = True

    def advise(self, request: AdviceRequest) -> Advice | None:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class Recorder:
    """Remembers the launches."""

    seen: list[tuple[str, OriginalLaunch, DividedLaunch]] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        self.seen.append((kernel, original, divided))


def advice(factor: int = 1, local_size: tuple[int, ...] = (), transforms: Transforms = DEFAULT) -> Advice:
    return Advice(Variant(local_size, (Coarsening(factor),), transforms=transforms), "somebody measured it")


def advised(
    context: cl.Context, answer: Advice | Exception | None, hand: HandToolchain | None = None, **options: Anything
) -> tuple[Program, FakeAdvisor]:
    advisor = FakeAdvisor(answer)
    toolchain = (hand or HandToolchain()).toolchain
    chosen: dict[str, Anything] = {"kernels": ["record"], "toolchain": toolchain, **options}
    return Program(context, SOURCE, advisor=advisor, **chosen).build(), advisor


@pytest.fixture
def buffers(context: cl.Context) -> Buffers:
    return Buffers(context)


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
        cl.enqueue_nd_range_kernel(queue, _set(program, buffers), (SIZE,), (local_size,))
    program.record.divided(queue.device, (SIZE,), (16,))
    assert [request.launch.local_size for request in advisor.asked] == [(16,), (8,)]


def _set(program: Program, buffers: Buffers) -> cl.Kernel:
    kernel = program.record
    kernel.set_args(*buffers.all)
    return kernel


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


@pytest.mark.parametrize("error", [DeviceError("the store can't be read"), cl.LogicError("made up")])
def test_without_advice_the_factor_is_predicted(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    for answer, said in ((None, 0), (error, 1)):
        program, _ = advised(context, answer, HandToolchain(prediction=HandPredicted(2)))
        for local_size in (16, 8):
            program.record(queue, (SIZE,), (local_size,), *buffers.all)
        assert buffers.factor(queue) == 2
        assert len(caplog.messages) == said


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
        (Advice(Variant(coarsenings=(Coarsening(4, 2),)), ""), {}, 1),
        (advice(4, (16, 2)), {"groups_matter": False}, 4),
        (advice(4, (0,)), {"groups_matter": False}, 4),
    ],
)
def test_what_does_not_fit_is_weakened(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    answer: Advice,
    hand: dict[str, Anything],
    factor: int,
) -> None:
    program, advisor = advised(context, answer, HandToolchain(**hand))
    for route in (ROUTES[0], ROUTES[3]):
        route(queue, program, buffers)
        assert buffers.factor(queue) == factor
    assert len(advisor.asked) == 1


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


def filled(context: cl.Context) -> cl.Buffer:
    return cl.Buffer(context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=np.full(SIZE, -1, np.int32))


def read(queue: cl.CommandQueue, buffer: Anything) -> NDArray[np.int32]:
    values = np.empty(SIZE, np.int32)
    cl.enqueue_copy(queue, values, buffer)
    return values


@pytest.mark.parametrize(("factor", "wanted"), [(1, 48), (2, 24), (1, 5), (1, 1 << 20)])
def test_another_local_size_is_for_kernels_that_do_not_care(
    context: cl.Context, queue: cl.CommandQueue, factor: int, wanted: int
) -> None:
    recorder = Recorder()
    advisor = FakeAdvisor(advice(factor, (wanted,)))
    program = Program(context, KINDS, advisor=advisor, observer=recorder).build()
    expected = cl.Program(context, KINDS).build()
    for name in ("free", "grouped", "required"):
        outputs = [filled(context) for _ in range(2)]
        cl.Kernel(expected, name)(queue, (SIZE,), (16,), outputs[0])
        cl.Kernel(program, name)(queue, (SIZE,), (16,), outputs[1])
        np.testing.assert_array_equal(read(queue, outputs[1]), read(queue, outputs[0]))
    sizes = [divided.local_size for _, _, divided in recorder.seen]
    free = wanted if SIZE % wanted == 0 else 16
    assert sizes == [(free // factor,), (16 // factor,), (16 // factor,)]


def test_a_kernel_with_typed_arguments_has_the_local_size_that_is_advised(
    context: cl.Context, queue: cl.CommandQueue
) -> None:
    recorder = Recorder()
    program = Program(context, KINDS, advisor=FakeAdvisor(advice(1, (48,))), observer=recorder).build()
    kernel: Anything = program.free
    kernel.set_arg_types([VectorArg(np.int32, "out")])
    values = cl_array.zeros(queue, SIZE, np.int32)
    kernel(queue, (SIZE // 16,), (16,), values, g_times_l=True)
    np.testing.assert_array_equal(values.get(), 3 * np.arange(SIZE))
    assert recorder.seen[0][2].local_size == (48,)


def test_transforms_are_those_of_the_advice(context: cl.Context, queue: cl.CommandQueue) -> None:
    transforms = Transforms(Use.NEVER, Use.ALWAYS, wide_accesses=True, clean_up=False)
    program = Program(context, KINDS, advisor=FakeAdvisor(advice(2, (), transforms))).build()
    output = filled(context)
    program.free(queue, (SIZE,), (16,), output)
    np.testing.assert_array_equal(read(queue, output), 3 * np.arange(SIZE))
    (launched,) = program._launches["free"]._variants.values()
    used = launched.variant.transforms
    assert used == Transforms(Use.NEVER, Use.ALWAYS, True, False, used.device_kind)


@pytest.mark.parametrize("limit", [4 * SIZE, 4 * SIZE + 1])
def test_wide_accesses_are_for_small_buffers(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, limit: int
) -> None:
    hand = HandToolchain(objects_below=limit)
    program, advisor = advised(context, advice(4, (), WIDE), hand)
    for route in ROUTES:
        fresh = Buffers(context)
        route(queue, program, fresh)
        assert fresh.factor(queue) == (104 if limit > 4 * SIZE else 4)
    launches = [request.launch for request in advisor.asked]
    assert len(launches) == len(set(launches))
    assert hand.coarsened == [("record", (4,))] * (1 if limit > 4 * SIZE else 2), "made when it is needed"


def test_buffers_may_change_between_launches(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    program, _ = advised(context, advice(4, (), WIDE), HandToolchain(objects_below=4 * SIZE + 1))
    large = cl.Buffer(context, FLAGS.READ_WRITE, 8 * SIZE)
    part = large.get_sub_region(0, 4 * SIZE)
    called, kernel = program.record, program.record
    kernel.set_args(*buffers.all)
    source, output, _, number = buffers.all
    for merged, factor in ((buffers.merged, 104), (large, 4), (buffers.merged, 104), (part, 4)):
        kernel.set_arg(2, merged)
        for is_called in (False, True):
            cl.enqueue_copy(queue, merged, np.full(SIZE, -1, np.int32))
            if is_called:
                called(queue, (SIZE,), (16,), source, output, merged, number)
            else:
                cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
            assert (read(queue, merged) == factor).all()
            np.testing.assert_array_equal(read(queue, output), buffers.input + 11)


def test_shared_virtual_memory_may_be_of_any_size(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, device: DeviceDescription
) -> None:
    if not context.devices[0].svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        return
    untyped: Anything = cl
    shared = untyped.SVM(untyped.csvm_empty(context, SIZE, np.int32, alignment=64))
    program, _ = advised(context, advice(4, (), WIDE), HandToolchain(objects_below=1 << 34))
    program.record(queue, (SIZE,), (16,), buffers.source, shared, buffers.merged, np.int32(1))
    assert (read(queue, buffers.merged) == 4).all()


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


@pytest.mark.parametrize("launch", ROUTES, ids=lambda route: route.__name__)
def test_an_observer_sees_each_launch(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    launch: Callable[[cl.CommandQueue, Program, Buffers], None],
) -> None:
    recorder = Recorder()
    launch(queue, program_of(context, observer=recorder), buffers)
    name, original, divided = recorder.seen[-1]
    assert (name, original) == ("record", OriginalLaunch(queue.device, (SIZE,), (16,), 0))
    assert (divided.global_size, divided.coarsenings) == ((SIZE // 4,), (Coarsening(4),))


def test_an_observer_sees_launches_of_the_original(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    recorder = Recorder()
    program = program_of(context, observer=recorder)
    program.record(queue, (SIZE,), (1,), *buffers.all)
    kernel = _set(program, buffers)
    assert kernel.int_ptr, "others may set arguments by it"
    cl.enqueue_nd_range_kernel(queue, kernel, (6,), (16,), g_times_l=True)
    with pytest.raises(cl.LogicError):
        program.record(queue, (SIZE,), (36,), *buffers.all)
    assert [(divided.global_size, divided.local_size, divided.coarsenings) for _, _, divided in recorder.seen] == [
        ((SIZE,), (1,), ()),
        ((SIZE,), (16,), ()),
    ]


def test_a_local_size_that_is_too_large_for_the_original_alone(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    hand = HandToolchain(groups_matter=False)
    for answer, factor, local_size in ((advice(4, (48,)), 4, (12,)), (advice(1, (48,)), 1, (16,))):
        program, _ = advised(context, answer, hand)
        original = program.record._launches._chooser._original
        _feign_limit(original, context.devices[0], 32)
        program.record(queue, (SIZE,), (16,), *buffers.all)
        assert buffers.factor(queue) == factor
        divided = program.record.divided(queue.device, (SIZE,), (16,))
        assert divided.local_size == local_size
        assert (divided.reason == "somebody measured it") == (factor == 4)


def test_a_local_size_that_is_too_large_for_the_variant_leaves_the_own(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    program, _ = advised(context, advice(4, (48,)), HandToolchain(groups_matter=False))
    launches = program.record._launches
    variant = launches._chooser._variants.get(launches.plan.variant_of((Coarsening(4),)))
    assert variant is not None
    _feign_limit(variant, context.devices[0], 8)
    program.record(queue, (SIZE,), (16,), *buffers.all)
    assert buffers.factor(queue) == 4
    divided = program.record.divided(queue.device, (SIZE,), (16,))
    assert (divided.local_size, divided.regrouped) == ((4,), False)
    assert "(factor 4 along dimension 0, local size 48)" in str(divided.reason)


def _feign_limit(kernel: cl.Kernel, device: cl.Device, items: int) -> None:
    """Let a device say that a kernel takes work-groups up to so many work-items."""
    limit = cl.kernel_work_group_info.WORK_GROUP_SIZE
    # PyOpenCL keeps what a kernel said about itself.
    kernel.get_work_group_info(limit, device)
    cached: dict[Anything, int] = vars(kernel)["_wg_info_cache"]
    cached[(limit, device.int_ptr)] = items


# All work-groups fill it alike: merged, they have one between them.
SHARED = """
kernel void shared(global const int *in, global int *out) {
    local int table[COUNT];
    for (int i = get_local_id(0); i < COUNT; i += get_local_size(0))
        table[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = table[COUNT - 1 - get_local_id(0)];
}
"""


def test_local_memory_that_merged_groups_share_counts_once(context: cl.Context, queue: cl.CommandQueue) -> None:
    count = queue.device.local_mem_size // 4 // 4 * 3
    chosen = Advice(Variant(coarsenings=(Coarsening(4, level=Level.GROUP),)), "somebody measured it")
    program = Program(context, SHARED, advisor=FakeAdvisor(chosen)).build(f"-DCOUNT={count}")
    values = np.arange(count, dtype=np.int32)
    table = cl.Buffer(context, FLAGS.READ_ONLY | FLAGS.COPY_HOST_PTR, hostbuf=values)
    output = filled(context)
    program.shared(queue, (SIZE,), (8,), table, output)
    assert (read(queue, output) == np.tile(values[-1:-9:-1], SIZE // 8)).all()
    divided = program.shared.divided(queue.device, (SIZE,), (8,))
    assert (divided.reason, divided.global_size) == ("somebody measured it", (SIZE // 4,))


ROWS = """
kernel void rows(global const int *in, global int *out, int count) {
    int row = get_global_id(0), sum = 0;
    for (int i = 0; i < count; ++i)
        sum += in[4 * row + i] * in[4 * row + 1 + i];
    out[row] = sum;
}
"""


def test_a_compiled_kernel_runs_with_wide_accesses_while_buffers_are_small(
    context: cl.Context, queue: cl.CommandQueue
) -> None:
    asked: list[bool] = []

    def limited(source: str, **request: Anything) -> CoarsenedKernel:
        asked.append(request["wide_accesses"])
        made = coarsen(source, **request)
        assert made.objects_below is None or made.objects_below >= 1 << 32
        few = None if made.wide_accesses is None else replace(made.wide_accesses, objects_below=32 * SIZE)
        return replace(made, wide_accesses=few)

    toolchain = Toolchain(limited, package_toolchain().predict)
    advisor = FakeAdvisor(advice(4, (), WIDE))
    program = Program(context, ROWS, advisor=advisor, toolchain=toolchain).build()
    values = np.arange(8 * SIZE, dtype=np.int32) % 37
    sums = [sum(values[4 * row + i] * values[4 * row + 1 + i] for i in range(5)) for row in range(SIZE)]
    flags, output = FLAGS.READ_ONLY | FLAGS.COPY_HOST_PTR, filled(context)
    kernel = program.rows
    for count, used in ((5 * SIZE, [True]), (8 * SIZE, [True, False]), (5 * SIZE, [True, False])):
        source = cl.Buffer(context, flags, hostbuf=values[:count])
        cl.enqueue_copy(queue, output, np.zeros(SIZE, np.int32))
        kernel(queue, (SIZE,), (16,), source, output, np.int32(5))
        np.testing.assert_array_equal(read(queue, output), sums)
        assert asked == used


def test_with_a_warm_cache_another_local_size_takes_no_compiler(
    context: cl.Context, queue: cl.CommandQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COARSEN_NO_CACHE", raising=False)
    folder: Anything = str(tmp_path)
    for _ in range(2):
        recorder = Recorder()
        program = Program(context, KINDS, advisor=FakeAdvisor(advice(1, (48,))), observer=recorder)
        output = filled(context)
        program.build(cache_dir=folder).free(queue, (SIZE,), (16,), output)
        np.testing.assert_array_equal(read(queue, output), 3 * np.arange(SIZE))
        assert recorder.seen[0][2].local_size == (48,)
        monkeypatch.setattr(api, "coarsen", None)
