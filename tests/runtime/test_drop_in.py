"""What PyOpenCL does with a program and its kernels works on ours, and launches by any route run coarsened."""

from __future__ import annotations

import io
import logging
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from numpy.typing import NDArray
from pyopencl import _cl
from pyopencl.tools import ImmediateAllocator, MemoryPool, VectorArg

import coarsen
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.program import Program
from coarsen.runtime.requested import requested_of
from coarsen.variant.coarsening import Coarsening, Level
from tests.runtime.hand_coarsened import SOURCE, HandToolchain

pytestmark = pytest.mark.compiled_devices

SIZE = 96
FLAGS = cl.mem_flags
# What PyOpenCL's annotations leave out: setters, arguments of other kinds.
Anything: TypeAlias = Any
Numbers: TypeAlias = NDArray[np.int32]

TWO_KERNELS = """
kernel void advect(global int *values) { values[get_global_id(0)] = 2 * (int)get_global_id(0); }
kernel void clear(global int *values) { values[get_global_id(0)] = 0; }
"""
GROUPS = """
kernel void groups(global int *values) {
    values[get_global_id(0)] = 10 * (int)get_group_id(0) + (int)get_local_size(0);
}
"""
TURN = """
kernel void turn(global int *values, long start, local int *tile) {
    global int *own = (global int *)((global char *)values + start);
    tile[get_local_id(0)] = own[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    own[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0)];
}
"""


class Buffers:
    """What the kernel `record` reads and writes: the factor of the variant that ran can be told from it."""

    def __init__(self, context: cl.Context) -> None:
        self.input = np.arange(SIZE, dtype=np.int32) * 5 + 3
        self.source = cl.Buffer(context, FLAGS.READ_ONLY | FLAGS.COPY_HOST_PTR, hostbuf=self.input)
        self.output = _filled(context)
        self.merged = _filled(context)

    @property
    def all(self) -> tuple[Anything, ...]:
        """The arguments of `record`."""
        return self.source, self.output, self.merged, np.int32(11)

    def factor(self, queue: cl.CommandQueue, add: int = 11) -> int:
        """The factor of the variant that ran, 0 where none did; fails unless its results are right."""
        output, merged = _read(queue, self.output), _read(queue, self.merged)
        if (merged == -1).all():
            return 0
        np.testing.assert_array_equal(output, self.input + add)
        (factor,) = set(merged.tolist())
        return int(factor)


def _filled(context: cl.Context) -> cl.Buffer:
    flags = FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=np.full(SIZE, -1, dtype=np.int32))


def _read(queue: cl.CommandQueue, buffer: Anything) -> Numbers:
    values = np.empty(SIZE, dtype=np.int32)
    cl.enqueue_copy(queue, values, buffer)
    return values


@pytest.fixture
def buffers(context: cl.Context) -> Buffers:
    return Buffers(context)


def program_of(context: cl.Context, **options: Anything) -> Program:
    chosen: dict[str, Anything] = {"factor": 4, "kernels": ["record"], **options}
    return Program(context, SOURCE, toolchain=HandToolchain().toolchain, **chosen).build()


def by_call(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    program.record(queue, (SIZE,), (16,), *buffers.all)


def by_names(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel: Anything = program.record
    named = {f"arg{index}": value for index, value in enumerate(buffers.all)}
    kernel(queue, global_size=(SIZE,), local_size=(16,), **named)


def by_iterators(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    sizes: Anything = iter([SIZE]), iter([16])
    program.record(queue, *sizes, *buffers.all)


def by_set_args(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel = program.record
    kernel.set_args(*buffers.all)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))


def by_set_arg(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel = program.record
    for index, value in enumerate(buffers.all):
        kernel.set_arg(index, value)
    cl.enqueue_nd_range_kernel(queue, kernel=kernel, global_work_size=(SIZE,), local_work_size=(16,))


def by_new_kernel(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel = cl.Kernel(program, "record")
    assert isinstance(kernel, cl.Kernel)
    kernel(queue, (SIZE,), (16,), *buffers.all)


def by_all_kernels(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    program.all_kernels()[0](queue, (SIZE,), (16,), *buffers.all)


def by_clone(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel = program.record
    kernel.set_args(*buffers.all)
    cl.enqueue_nd_range_kernel(queue, kernel.clone(), (SIZE,), (16,))


def by_clone_of_a_launched_kernel(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel = program.record
    kernel(queue, (SIZE,), (1,), *buffers.all)
    clone = kernel.clone()
    clone.set_arg(3, np.int32(11))
    cl.enqueue_nd_range_kernel(queue, clone, (SIZE,), (16,))


def by_generated_host_code(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel: Anything = program.record
    source, output, merged, _ = buffers.all
    kernel._set_arg_multi((0, source, 1, output))
    kernel._set_arg_multi((2, merged))
    kernel._set_arg_buf_pack_multi((3, b"i", 11))
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))


def by_types(queue: cl.CommandQueue, program: Program, buffers: Buffers) -> None:
    kernel = program.record
    kernel.set_scalar_arg_dtypes([None, None, None, np.int32])
    kernel.set_args(*buffers.all[:3], 11)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))


ROUTES = [
    by_call,
    by_names,
    by_iterators,
    by_set_args,
    by_set_arg,
    by_new_kernel,
    by_all_kernels,
    by_clone,
    by_clone_of_a_launched_kernel,
    by_generated_host_code,
    by_types,
]


@pytest.mark.parametrize("launch", ROUTES, ids=lambda route: route.__name__)
def test_a_launch_by_any_route_runs_coarsened(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    launch: Callable[[cl.CommandQueue, Program, Buffers], None],
) -> None:
    launch(queue, program_of(context), buffers)
    assert buffers.factor(queue) == 4


def test_kernels_of_others_are_pyopencls_own(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    names = cl.Kernel, cl.enqueue_nd_range_kernel
    program_of(context)
    program_of(context)
    plain = cl.Program(context, SOURCE).build()
    for kernel in (cl.Kernel(plain, "record"), plain.record, plain.all_kernels()[0]):
        assert type(kernel) is _cl.Kernel and isinstance(kernel, cl.Kernel)
    plain.record.set_args(*buffers.all)
    kernel = plain.record
    kernel.set_args(*buffers.all)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), None)
    assert buffers.factor(queue) == 1
    if names[0] is not _cl.Kernel:
        assert (cl.Kernel, cl.enqueue_nd_range_kernel) == names, "put there once"


def test_the_class_of_kernels_is_one_as_before(context: cl.Context) -> None:
    program = program_of(context)

    class Own(cl.Kernel):
        """A class derived from PyOpenCL's."""

    own = Own(cl.Program(context, SOURCE).build(), "record")
    assert isinstance(own, Own) and isinstance(own, _cl.Kernel) and own.num_args == 4
    assert issubclass(Kernel, cl.Kernel) and not isinstance(program, cl.Kernel)
    assert cl.Kernel.set_args is _cl.Kernel.set_args and cl.Kernel == _cl.Kernel
    with pytest.raises(cl.LogicError, match="INVALID_KERNEL_NAME"):
        cl.Kernel(program, "nothing")


def test_an_import_changes_nothing_in_pyopencl() -> None:
    code = (
        "import coarsen, coarsen.runtime.program, pyopencl as cl; from pyopencl import _cl; "
        "assert cl.Kernel is _cl.Kernel and cl.enqueue_nd_range_kernel is _cl.enqueue_nd_range_kernel"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_variant_never_runs_with_old_arguments(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    kernel: Anything = program_of(context).record
    kernel(queue, (SIZE,), (16,), *buffers.all)
    second = Buffers(context)
    kernel._set_arg_multi((1, second.output, 2, second.merged))
    kernel._set_arg_buf_pack_multi((3, b"i", 7))
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert buffers.factor(queue) == 4 and second.factor(queue, add=7) == 4


def by_the_class(kernel: Anything, output: cl.Buffer) -> None:
    cl.Kernel.set_arg(kernel, 1, output)


def by_address(kernel: Anything, output: cl.Buffer) -> None:
    cl.Kernel.from_int_ptr(kernel.int_ptr).set_arg(1, output)


def by_the_address_of_its_class(kernel: Anything, output: cl.Buffer) -> None:
    type(kernel).from_int_ptr(kernel.int_ptr).set_arg(1, output)


def by_names_of_parameters(kernel: Anything, output: cl.Buffer) -> None:
    kernel.set_arg(arg_index=1, arg=output)


@pytest.mark.parametrize(
    ("way", "factor"),
    [(by_the_class, 4), (by_address, 1), (by_the_address_of_its_class, 1), (by_names_of_parameters, 4)],
)
def test_an_argument_that_is_set_in_another_way_counts(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, way: Callable[..., None], factor: int
) -> None:
    kernel: Anything = program_of(context).record
    kernel(queue, (SIZE,), (16,), *buffers.all)
    second = _filled(context)
    way(kernel, second)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    np.testing.assert_array_equal(_read(queue, second), buffers.input + 11)
    assert set(_read(queue, buffers.merged).tolist()) == {factor}


def test_after_a_setter_that_failed_the_original_runs(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    kernel: Anything = program_of(context).record
    kernel(queue, (SIZE,), (16,), *buffers.all)
    with pytest.raises(cl.LogicError, match="arg#4"):
        kernel.set_args(*buffers.all[:3], 11)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert buffers.factor(queue) == 1
    kernel.set_args(*buffers.all)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert buffers.factor(queue) == 4


def test_arguments_that_are_missing_are_pyopencls_error(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    kernel: Anything = program_of(context).record
    with pytest.raises(TypeError):
        kernel(queue, (SIZE,), (16,), *buffers.all[:3])
    with pytest.raises(TypeError):
        kernel(queue, (SIZE,), (16,), *buffers.all, colour="red")
    fresh = program_of(context).record
    fresh.set_arg(0, buffers.source)
    with pytest.raises(cl.LogicError, match="INVALID_KERNEL_ARGS"):
        cl.enqueue_nd_range_kernel(queue, fresh, (SIZE,), (16,))


@pytest.mark.parametrize("local_size", [16, 1])
def test_a_kernel_keeps_no_argument_alive(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, local_size: int
) -> None:
    pool = MemoryPool(ImmediateAllocator(queue))
    kernel = program_of(context).record
    pooled: Anything = pool.allocate(4 * SIZE)
    kernel(queue, (SIZE,), (local_size,), buffers.source, pooled, buffers.merged, np.int32(1))
    queue.finish()
    del pooled
    assert pool.active_blocks == 0
    again: Anything = pool.allocate(4 * SIZE)
    kernel.set_args(buffers.source, again, buffers.merged, np.int32(1))
    del again
    assert pool.active_blocks == 0


@pytest.mark.parametrize("make", [np.array, lambda value: np.array([value])])
def test_a_value_is_taken_when_it_is_set(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, make: Callable[[Anything], Anything]
) -> None:
    kernel = program_of(context).record
    addend = make(np.int32(11))
    kernel.set_args(*buffers.all[:3], addend)
    addend[...] = 5
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert buffers.factor(queue) == 4


def test_parts_of_buffers(context: cl.Context, queue: cl.CommandQueue, buffers: Buffers) -> None:
    start = 1024
    whole = cl.Buffer(context, FLAGS.READ_WRITE, start + 4 * SIZE)
    part = whole.get_sub_region(start, 4 * SIZE)
    kernel = program_of(context).record
    kernel.set_args(buffers.source, part, buffers.merged, np.int32(11))
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    np.testing.assert_array_equal(_read(queue, part), buffers.input + 11)


def test_shared_virtual_memory(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, device: DeviceDescription
) -> None:
    if not context.devices[0].svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        return
    # PyOpenCL's annotations want other types of arrays than its code does.
    untyped: Anything = cl
    shared = untyped.SVM(untyped.csvm_empty(context, SIZE, np.int32, alignment=64))
    kernel = program_of(context).record
    # The tag need not live until the launch, only the memory.
    kernel.set_args(buffers.source, untyped.SVM(shared.mem), buffers.merged, np.int32(11))
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    with shared.map_ro(queue) as values:
        np.testing.assert_array_equal(values, buffers.input + 11)
    assert (_read(queue, buffers.merged) == 4).all()


def test_a_program_and_its_kernels_say_what_they_are(context: cl.Context) -> None:
    program = program_of(context)
    kernel = program.record
    assert kernel.program is program and kernel.get_info(cl.kernel_info.PROGRAM) is program
    assert kernel.get_info(cl.kernel_info.FUNCTION_NAME) == "record"
    same = Program.from_int_ptr(program.int_ptr)
    assert type(same) is Program and same == program and hash(same) == hash(program)
    assert same.record.num_args == 4
    for whole in (program, kernel):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(whole)


def _error_of(code: Callable[[], object]) -> tuple[type[Exception], str]:
    with pytest.raises(Exception) as caught:
        code()
    return caught.type, str(caught.value)


def test_variants_are_not_coarsened_again_where_pyopencl_names_our_class(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    class Coarsened(Program):
        def __init__(self, context: cl.Context, source: str) -> None:
            made.append(source)
            super().__init__(context, source, factor=4, kernels=["record"], toolchain=HandToolchain().toolchain)

    monkeypatch.setattr(cl, "Program", Coarsened)
    program: Anything = cl.Program(context, SOURCE).build()
    program.record(queue, (SIZE,), (16,), *buffers.all)
    assert buffers.factor(queue) == 4
    assert made == [SOURCE]


def test_options_of_a_launch_are_taken_by_position(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    kernel: Anything = program_of(context).record
    # The offset's and the multiplication's places: 6 times 16 work-items.
    kernel(queue, (SIZE // 16,), (16,), *buffers.all, None, True)
    assert buffers.factor(queue) == 4
    with pytest.raises(TypeError, match="multiple values"):
        kernel(queue, (SIZE // 16,), (16,), *buffers.all, None, True, g_times_l=True)
    with pytest.raises(TypeError):
        kernel(queue, (SIZE,), (16,), *buffers.all, None, False, False, None, 5)


def test_what_pyopencl_rejects_is_rejected_in_its_words(context: cl.Context, buffers: Buffers) -> None:
    ours: Anything = program_of(context)
    plain: Anything = cl.Program(context, SOURCE).build()
    assert _error_of(lambda: ours.nothing) == _error_of(lambda: plain.nothing)
    kind, words = _error_of(lambda: ours.record(None, (SIZE,), None, *buffers.all))
    assert kind is TypeError and "incompatible function arguments" in words
    unbuilt: Anything = Program(context, SOURCE)
    before_build: Anything = cl.Program(context, SOURCE)
    kind, words = _error_of(lambda: before_build.record)
    assert _error_of(lambda: unbuilt.record) == (kind, f"{words}; kernels come with build()")


def test_a_kernel_made_from_its_address_is_the_same_and_of_its_class(context: cl.Context) -> None:
    kernel: Anything = program_of(context).record
    same = type(kernel).from_int_ptr(kernel.int_ptr)
    assert type(same) is type(kernel) and same == kernel and same.program is kernel.program
    plain: Anything = _cl.Kernel(cl.Program(context, SOURCE).build(), "record")
    assert type(kernel).from_int_ptr(plain.int_ptr) == plain


def test_a_call_is_captured_as_a_script(context: cl.Context, queue: cl.CommandQueue, buffers: Buffers) -> None:
    script = io.StringIO()
    kernel = program_of(context).record
    kernel.capture_call(script, queue, (SIZE,), None, *buffers.all)
    assert "kernel void record" in script.getvalue()


def test_other_forms_of_programs_run_as_they_are(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, caplog: pytest.LogCaptureFixture
) -> None:
    binaries: Anything = cl.Program(context, SOURCE).build().get_info(cl.program_info.BINARIES)
    inner: Anything = _cl._Program
    forms: list[tuple[Anything, ...]] = [(context, context.devices, binaries), (inner(context, SOURCE),)]
    if context.devices[0].il_version:
        forms.append((context, coarsen.coarsen(SOURCE, kernel="record", factor=1).spirv))
    for form in forms:
        caplog.clear()
        program = Program(*form, factor=4).build()
        fresh = Buffers(context)
        program.record(queue, (SIZE,), (16,), *fresh.all)
        assert fresh.factor(queue) == 1
        assert [kernel.function_name for kernel in program.all_kernels()][:1] == ["record"]
        assert len(caplog.messages) == 1 and "is not coarsened" in caplog.messages[0]


def test_compiled_and_linked_programs_run_as_they_are(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, caplog: pytest.LogCaptureFixture
) -> None:
    unbuilt = Program(context, SOURCE, factor=4, toolchain=HandToolchain().toolchain)
    link: Anything = cl.link_program
    linked = link(context, [unbuilt.compile()])
    linked.record(queue, (SIZE,), (16,), *buffers.all)
    assert buffers.factor(queue) == 1
    assert len(caplog.messages) == 1 and "build() it in one step" in caplog.messages[0]


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
        ({"factor": None}, 16, ["the original kernel", "as predicted", "coarsen bench"]),
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
    values = _filled(context)
    launch = program.groups.divided(context.devices[0], (SIZE,), (1,))
    assert launch.coarsenings == (Coarsening(4, 0, 1, Level.GROUP),)
    program.groups(queue, (SIZE,), (1,), values)
    assert _read(queue, values).tolist() == list(range(1, 10 * SIZE, 10))
    assert caplog.messages == []


def test_work_groups_that_must_have_one_work_item_are_merged(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    source = GROUPS.replace("kernel void", "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void")
    program = Program(context, source, factor=4).build()
    for local_size in ((1,), None):
        launch = program.groups.divided(context.devices[0], (SIZE,), local_size)
        assert launch.coarsenings == (Coarsening(4, level=Level.GROUP),) and launch.note is None
        values = _filled(context)
        program.groups(queue, (SIZE,), local_size, values)
        np.testing.assert_array_equal(_read(queue, values), 10 * np.arange(SIZE) + 1)
    assert caplog.messages == []


def test_an_array_with_an_offset_before_local_memory(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = Program(context, TURN, factor=2, level="group").build()
    kernel = program.turn
    kernel.set_arg_types([VectorArg(np.int32, "values", with_offset=True), None])
    values = cl_array.arange(queue, SIZE, dtype=np.int32)
    tile: Anything = cl.LocalMemory(4 * 16)
    kernel(queue, (SIZE - 32,), (16,), values[32:], tile)
    expected = np.arange(SIZE).reshape(-1, 16)
    expected[2:] = expected[2:, ::-1]
    np.testing.assert_array_equal(values.get(), expected.ravel())
    launch = kernel.divided(context.devices[0], (SIZE - 32,), (16,))
    assert launch.coarsenings == (Coarsening(2, 0, 1, Level.GROUP),)
    assert kernel._launches.variant_of(launch) in kernel._variants.kernels, "it ran"


def test_factors_by_kernel(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = Program(context, TWO_KERNELS, factor={"advect": 4, "clear": 16}, stride={"clear": 2}).build()
    launches = {
        kernel.function_name: kernel.divided(context.devices[0], (SIZE,), (32,)).coarsenings
        for kernel in program.all_kernels()
        if isinstance(kernel, Kernel)
    }
    assert launches == {"advect": (Coarsening(4),), "clear": (Coarsening(16, 0, 2),)}
    values = _filled(context)
    program.clear(queue, (SIZE,), (32,), values)
    assert not _read(queue, values).any()
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
