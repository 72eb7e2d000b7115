"""Arguments that are set in any of PyOpenCL's ways are those that a coarsened launch takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from pyopencl.tools import ImmediateAllocator, MemoryPool, VectorArg

from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in.program import Program
from coarsen.variant.coarsening import Coarsening, Level
from tests.runtime.advisors import Recorder
from tests.runtime.launch_routes import (
    FLAGS,
    SIZE,
    Anything,
    Buffers,
    filled,
    program_of,
    read_values,
)

pytestmark = pytest.mark.compiled_devices

TURN = """
kernel void turn(global int *values, long start, local int *tile) {
    global int *own = (global int *)((global char *)values + start);
    tile[get_local_id(0)] = own[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    own[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0)];
}
"""


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
    second = filled(context)
    way(kernel, second)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    np.testing.assert_array_equal(read_values(queue, second), buffers.input + 11)
    assert set(read_values(queue, buffers.merged).tolist()) == {factor}


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
def test_a_call_keeps_no_argument_alive(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, local_size: int
) -> None:
    pool = MemoryPool(ImmediateAllocator(queue))
    kernel = program_of(context).record
    pooled: Anything = pool.allocate(4 * SIZE)
    kernel(queue, (SIZE,), (local_size,), buffers.source, pooled, buffers.merged, np.int32(1))
    queue.finish()
    del pooled
    assert pool.active_blocks == 0


def temporary(context: cl.Context, values: Anything) -> cl.Buffer:
    return cl.Buffer(context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=values)


def set_one_by_one(kernel: Anything, *values: Anything) -> None:
    for index, value in enumerate(values):
        kernel.set_arg(index, value)


def set_at_once(kernel: Anything, *values: Anything) -> None:
    kernel.set_args(*values)


@pytest.mark.parametrize("set_all", [set_one_by_one, set_at_once])
@pytest.mark.parametrize("clones", [False, True])
def test_arguments_that_are_set_live_until_the_launch(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, set_all: Callable[..., None], clones: bool
) -> None:
    kernel: Anything = program_of(context).record
    set_all(kernel, temporary(context, buffers.input), buffers.output, buffers.merged, np.int32(11))
    launched = kernel.clone() if clones else kernel
    del kernel
    # Whatever was freed is written over.
    others = [filled(context) for _ in range(8)]
    cl.enqueue_nd_range_kernel(queue, launched, (SIZE,), (16,))
    assert buffers.factor(queue) == 4
    assert len(others) == 8


def test_what_is_set_is_let_go_when_another_takes_its_place(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    pool = MemoryPool(ImmediateAllocator(queue))
    kernel: Anything = program_of(context).record
    kernel.set_args(buffers.source, pool.allocate(4 * SIZE), buffers.merged, np.int32(11))
    assert pool.active_blocks == 1
    kernel.set_arg(1, buffers.output)
    assert pool.active_blocks == 0
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert buffers.factor(queue) == 4


def test_an_argument_that_is_released_beforehand_is_there_at_the_launch(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    kernel: Anything = program_of(context).record
    gone = temporary(context, buffers.input)
    kernel.set_args(gone, buffers.output, buffers.merged, np.int32(11))
    gone.release()
    others = [filled(context) for _ in range(8)]
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    assert buffers.factor(queue) == 4
    assert len(others) == 8


def test_a_clone_after_a_call_has_the_arguments_of_the_call(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    kernel: Anything = program_of(context).record
    kernel(queue, (SIZE,), (16,), *buffers.all)
    clone = kernel.clone()
    cl.enqueue_fill_buffer(queue, buffers.output, np.zeros(1, np.int32), 0, 4 * SIZE)
    cl.enqueue_nd_range_kernel(queue, clone, (SIZE,), (16,))
    assert buffers.factor(queue) == 1


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
    np.testing.assert_array_equal(read_values(queue, part), buffers.input + 11)


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
    assert (read_values(queue, buffers.merged) == 4).all()


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


def test_the_size_of_local_memory_is_known_after_a_call(context: cl.Context, queue: cl.CommandQueue) -> None:
    recorder = Recorder()
    kernel = Program(context, TURN, factor=2, level="group", observer=recorder).build().turn
    first, second = (cl_array.arange(queue, SIZE, dtype=np.int32) for _ in range(2))
    kernel(queue, (SIZE,), (16,), first.data, np.int64(0), cl.LocalMemory(4 * 16))
    kernel.set_arg(0, second.data)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (16,))
    expected = np.arange(SIZE).reshape(-1, 16)[:, ::-1].ravel()
    for values in (first, second):
        np.testing.assert_array_equal(values.get(), expected)
    merged = [Coarsening(2, 0, 1, Level.GROUP)]
    assert [list(divided.coarsenings) for _, _, divided in recorder.seen] == [merged, merged]
