"""The drop-in program: the forms of PyOpenCL's calls, and that every launch gives the original's results."""

from __future__ import annotations

import logging
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.runtime.kernel import Kernel, enqueue_nd_range_kernel
from coarsen.variant.coarsening import Coarsening, configuration_of
from tests.runtime.hand_coarsened import SOURCE, HandToolchain

SIZE = 96

# What a test hands on to the program or to PyOpenCL, wrong types included.
Anything: TypeAlias = Any


class Arguments:
    """Buffers for the kernel `record`, and what came out of it."""

    def __init__(self, context: cl.Context) -> None:
        self.input = np.arange(SIZE, dtype=np.int32) * 5 + 3
        flags = cl.mem_flags
        self.source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=self.input)
        untouched = np.full(SIZE, -1, dtype=np.int32)
        self.output = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=untouched)
        self.merged = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=untouched)

    @property
    def all(self) -> tuple[Any, ...]:
        return self.source, self.output, self.merged, np.int32(11)

    def factor(
        self, queue: cl.CommandQueue, first: int = 0, count: int = SIZE, scale: int = 1, add: int = 11
    ) -> int:
        """The factor of the variant that ran; fails unless just those from `first` on are right."""
        output, merged = np.empty(SIZE, dtype=np.int32), np.empty(SIZE, dtype=np.int32)
        cl.enqueue_copy(queue, output, self.output)
        cl.enqueue_copy(queue, merged, self.merged)
        expected = np.full(SIZE, -1)
        expected[first : first + count] = scale * self.input[first : first + count] + add
        assert output.tolist() == expected.tolist()
        factors = set(merged[first : first + count].tolist())
        assert len(factors) == 1
        return int(factors.pop())


@pytest.fixture
def arguments(context: cl.Context) -> Arguments:
    return Arguments(context)


def program_of(context: cl.Context, hand: HandToolchain | None = None, **options: Anything) -> Program:
    hand = hand or HandToolchain()
    chosen: dict[str, Anything] = {"factor": 4, "kernels": ["record"], **options}
    return Program(context, SOURCE, toolchain=hand, **chosen)


def test_a_launch_runs_coarsened(context: cl.Context, queue: cl.CommandQueue, arguments: Arguments) -> None:
    program = program_of(context).build()
    event = program.record(queue, (SIZE,), (16,), *arguments.all)
    assert isinstance(event, cl.Event)
    assert arguments.factor(queue) == 4
    assert event.profile.end >= event.profile.start


@pytest.mark.parametrize(
    ("global_size", "local_size", "stride", "factor"),
    [
        ((SIZE,), None, 1, 4),
        ((SIZE,), (16,), 4, 4),
        ((SIZE,), (6,), 1, 3),
        ((SIZE,), None, 8, 4),
        ((SIZE,), (1,), 1, 1),
        ([SIZE], [16], 1, 4),
        ((np.int64(SIZE),), (np.int32(16),), 1, 4),
    ],
)
def test_sizes(
    context: cl.Context,
    queue: cl.CommandQueue,
    arguments: Arguments,
    global_size: Anything,
    local_size: Anything,
    stride: int,
    factor: int,
) -> None:
    program = program_of(context, stride=stride).build()
    program.record(queue, global_size, local_size, *arguments.all)
    assert arguments.factor(queue) == factor


def test_keywords_of_a_launch(context: cl.Context, queue: cl.CommandQueue, arguments: Arguments) -> None:
    kernel = program_of(context).build().record
    # PyOpenCL multiplies the offset too.
    first = kernel(queue, (2,), (16,), *arguments.all, g_times_l=True, global_offset=(1,))
    kernel(queue, (0,), (16,), *arguments.all, allow_empty_ndrange=True, wait_for=[first]).wait()
    assert arguments.factor(queue, first=16, count=32) == 4


def test_arguments_set_before_the_launch(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments
) -> None:
    kernel = program_of(context).build().record
    kernel.set_args(*arguments.all)
    enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert arguments.factor(queue) == 4
    kernel.set_arg(3, np.int32(1))
    enqueue_nd_range_kernel(queue, kernel, (SIZE,), (6,), None, [])
    assert arguments.factor(queue, add=1) == 3
    enqueue_nd_range_kernel(queue, kernel, (SIZE,), (1,))
    assert arguments.factor(queue, add=1) == 1


def test_arguments_of_a_call_hold_for_the_next_launch(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments
) -> None:
    kernel = program_of(context).build().record
    kernel(queue, (SIZE,), (16,), *arguments.all)
    # Another variant does not have them: they are not kept beyond the call.
    enqueue_nd_range_kernel(queue, kernel, (SIZE,), (6,))
    assert arguments.factor(queue) == 1
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert arguments.factor(queue) == 4


def test_scalar_argument_types(context: cl.Context, queue: cl.CommandQueue, arguments: Arguments) -> None:
    kernel = program_of(context).build().record
    kernel.set_scalar_arg_dtypes([None, None, None, np.int32])
    kernel(queue, (SIZE,), (16,), *arguments.all[:3], 2)
    assert arguments.factor(queue, add=2) == 4
    kernel.set_args(*arguments.all[:3], 5)
    enqueue_nd_range_kernel(queue, kernel, (SIZE,), (6,))
    assert arguments.factor(queue, add=5) == 3
    kernel.set_arg_types([None, None, None, np.int32])
    kernel(queue, (SIZE,), (1,), *arguments.all[:3], 6)
    assert arguments.factor(queue, add=6) == 1


@pytest.mark.parametrize("options", ["-DSCALE=3", "-D SCALE=3", ["-DSCALE=3"], ["-D", "SCALE=3"], ["-D SCALE=3"]])
def test_build_options(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments, options: str | list[str]
) -> None:
    program = program_of(context).build(options)
    program.record(queue, (SIZE,), (16,), *arguments.all)
    assert arguments.factor(queue, scale=3) == 4
    program.record(queue, (SIZE,), (1,), *arguments.all)
    assert arguments.factor(queue, scale=3) == 1


def test_it_is_a_pyopencl_program(context: cl.Context) -> None:
    program = program_of(context)
    assert program.build() is program
    original = cl.Program(context, SOURCE).build()
    assert isinstance(program, cl.Program)
    assert program.kernel_names == original.kernel_names
    assert program.num_kernels == 2 and program.devices == original.devices and program.source == original.source
    assert program.context == context and len(program.binaries) == 1
    assert [kernel.function_name for kernel in program.all_kernels()] == ["record", "refused"]
    assert isinstance(program.all_kernels()[0], Kernel)
    assert program.get_info(cl.program_info.NUM_DEVICES) == 1
    untyped: Anything = program
    assert untyped.get_build_info(context.devices[0], cl.program_build_info.STATUS) == 0
    kernel = program.record
    assert kernel.num_args == 4 and kernel.function_name == "record" and kernel.context == context
    size = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, context.devices[0])
    assert isinstance(size, int) and size >= 16
    with pytest.raises(AttributeError, match="nothing"):
        _ = program.nothing
    assert not hasattr(program, "__array__")


def test_a_program_that_does_not_build_raises_as_pyopencl_does(context: cl.Context) -> None:
    with pytest.raises(cl.RuntimeError, match="BUILD_PROGRAM_FAILURE"):
        Program(context, "kernel void broken(", factor=2, toolchain=HandToolchain()).build()


def test_wrong_calls_raise_as_pyopencl_does(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments
) -> None:
    kernel = program_of(context).build().record
    wrong: Anything = SIZE
    with pytest.raises(TypeError):
        kernel(queue, wrong, None, *arguments.all)
    with pytest.raises(cl.LogicError, match="INVALID_WORK_GROUP_SIZE"):
        kernel(queue, (SIZE,), (36,), *arguments.all)
    with pytest.raises(cl.LogicError):
        kernel(queue, (SIZE, 1), (16,), *arguments.all)


def test_variants_are_made_when_needed_and_once(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments, caplog: pytest.LogCaptureFixture
) -> None:
    hand = HandToolchain()
    program = program_of(context, hand).build()
    assert hand.coarsened == [("record", (4,))]
    kernel = program.record
    with caplog.at_level(logging.WARNING, logger="coarsen"):
        for _ in range(3):
            kernel(queue, (SIZE,), (16,), *arguments.all)
            kernel(queue, (SIZE,), (6,), *arguments.all)
            program.record(queue, (SIZE,), (6,), *arguments.all)
    assert hand.coarsened == [("record", (4,)), ("record", (3,))]
    assert arguments.factor(queue) == 3
    assert len(caplog.messages) == 1, "said once per kernel and geometry"
    assert "kernel record" in caplog.messages[0] and "factor 3" in caplog.messages[0]


def test_divided_says_how_a_launch_is_carried_out(context: cl.Context) -> None:
    launch = program_of(context).build().record.divided(context.devices[0], (SIZE,), (16,))
    assert (launch.global_size, launch.local_size) == ((SIZE // 4,), (4,))
    assert launch.coarsenings == (Coarsening(4, 0, 1),)


def test_how_a_launch_is_carried_out_is_found_once(context: cl.Context) -> None:
    program = program_of(context).build()
    launches = [program.record.divided(context.devices[0], (SIZE,), (16,)) for _ in range(2)]
    assert launches[0] is launches[1]


def test_a_smaller_factor_that_is_refused_leaves_the_original(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments, caplog: pytest.LogCaptureFixture
) -> None:
    program = program_of(context, HandToolchain(refused_factors=frozenset({3}))).build()
    program.record(queue, (SIZE,), (6,), *arguments.all)
    assert arguments.factor(queue) == 1
    assert any("stays as it is" in message for message in caplog.messages)


def test_a_variant_whose_work_groups_are_too_small_leaves_the_original(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments, caplog: pytest.LogCaptureFixture
) -> None:
    kernel = program_of(context).build().record
    limit = cl.kernel_work_group_info.WORK_GROUP_SIZE
    launches = kernel._launches
    variant = launches.plan.told_by("record", launches.plan.variant_of((Coarsening(4, 0, 1),)))
    assert variant is not None
    # PyOpenCL keeps what a kernel said about itself: a device that allows two work-items is feigned there.
    variant.get_work_group_info(limit, context.devices[0])
    cached: dict[Any, int] = vars(variant)["_wg_info_cache"]
    cached[(limit, context.devices[0].int_ptr)] = 2
    kernel(queue, (SIZE,), (16,), *arguments.all)
    assert arguments.factor(queue) == 1
    assert any("up to 2" in message for message in caplog.messages)


def test_a_required_work_group_size_counts_as_the_local_size(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments
) -> None:
    source = SOURCE.replace(
        "kernel void record", "kernel __attribute__((reqd_work_group_size(6, 1, 1))) void record"
    )
    hand = HandToolchain(attribute="__attribute__((reqd_work_group_size(2, 1, 1)))")
    program = Program(context, source, factor=4, kernels=["record"], toolchain=hand).build()
    program.record(queue, (SIZE,), None, *arguments.all)
    assert arguments.factor(queue) == 3
    program.record(queue, (SIZE,), (6,), *arguments.all)
    assert arguments.factor(queue) == 3
    with pytest.raises(cl.LogicError):
        program.record(queue, (SIZE,), (16,), *arguments.all)


def test_a_coarsened_kernel_that_does_not_build_is_a_device_error(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments
) -> None:
    program = program_of(context, HandToolchain(broken=True)).build()
    with pytest.raises(DeviceError, match="record"):
        program.record(queue, (SIZE,), (16,), *arguments.all)


def test_a_refusal_is_raised_where_the_kernel_was_named_or_is_the_only_one(context: cl.Context) -> None:
    with pytest.raises(RefusalError, match="test-refusal"):
        program_of(context, kernels=["record", "refused"]).build()
    everything = HandToolchain(refuses=frozenset({"record", "refused"}))
    with pytest.raises(RefusalError):
        program_of(context, everything, kernels=None).build()


def test_a_refusal_among_others_is_logged(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments, caplog: pytest.LogCaptureFixture
) -> None:
    program = program_of(context, kernels=None).build()
    assert [message for message in caplog.messages if "kernel refused stays as it is" in message]
    program.refused(queue, (SIZE,), None, arguments.output)
    program.record(queue, (SIZE,), None, *arguments.all)
    assert arguments.factor(queue) == 4


def test_a_kernel_that_was_not_named_stays_as_it_is(context: cl.Context, queue: cl.CommandQueue) -> None:
    hand = HandToolchain()
    program = program_of(context, hand).build()
    output = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, 4 * SIZE)
    program.refused(queue, (SIZE,), None, output)
    assert ("refused", (4,)) not in hand.coarsened


def test_where_nobody_asks_for_a_factor_kernels_stay_as_they_are(
    context: cl.Context, queue: cl.CommandQueue, arguments: Arguments, caplog: pytest.LogCaptureFixture
) -> None:
    hand = HandToolchain()
    program = program_of(context, hand, factor=None).build()
    for local_size in ((16,), None):
        program.record(queue, (SIZE,), local_size, *arguments.all)
        assert arguments.factor(queue) == 1
    assert (hand.coarsened, caplog.messages) == ([], [])


def test_spirv_is_only_for_devices_that_take_it(context: cl.Context) -> None:
    program = program_of(context, form="spirv")
    if "SPIR-V" in str(context.devices[0].il_version):
        assert program.build() is program
    else:
        with pytest.raises(DeviceError, match="takes no SPIR-V"):
            program.build()


@pytest.mark.compiled_devices
@pytest.mark.parametrize(
    "options",
    [
        {"factor": 0},
        {"factor": -2},
        {"factor": 2.5},
        {"factor": "4"},
        {"factor": True},
        {"factor": []},
        {"dim": 3},
        {"dim": -1},
        {"stride": 0},
        {"factor": [2, 2], "dim": [0, 0]},
        {"factor": [2, 2], "dim": 0},
        {"factor": 2, "dim": [0, 1, 2], "stride": [1, 2]},
        {"form": "ptx"},
        {"kernels": ["nothing"]},
    ],
)
def test_bad_values_are_one_line(context: cl.Context, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        program_of(context, **options).build()
    assert len(str(caught.value).splitlines()) == 1


def test_configurations() -> None:
    assert configuration_of(4) == (Coarsening(4, 0, 1),)
    assert configuration_of(2, [0, 1], 4) == (Coarsening(2, 0, 4), Coarsening(2, 1, 4))
    assert configuration_of((2, 4), (1, 0), (1, 8)) == (Coarsening(4, 0, 8), Coarsening(2, 1, 1))
    assert configuration_of((1, 4), (0, 1)) == (Coarsening(4, 1, 1),)
