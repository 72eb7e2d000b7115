"""The ways in which PyOpenCL launches a kernel, each with a program whose variants tell their factor."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.drop_in.program import Program
from tests.runtime.hand_coarsened import SOURCE, HandToolchain

SIZE = 96
FLAGS = cl.mem_flags
# What PyOpenCL's annotations leave out: setters, arguments of other kinds.
Anything: TypeAlias = Any
Numbers: TypeAlias = NDArray[np.int32]


class Buffers:
    """What the kernel `record` reads and writes: the factor of the variant that ran can be told from it."""

    def __init__(self, context: cl.Context) -> None:
        self.input = np.arange(SIZE, dtype=np.int32) * 5 + 3
        self.source = cl.Buffer(context, FLAGS.READ_ONLY | FLAGS.COPY_HOST_PTR, hostbuf=self.input)
        self.output = filled(context)
        self.merged = filled(context)

    @property
    def all(self) -> tuple[Anything, ...]:
        """The arguments of `record`."""
        return self.source, self.output, self.merged, np.int32(11)

    def factor(self, queue: cl.CommandQueue, add: int = 11) -> int:
        """The factor of the variant that ran, 0 where none did; fails unless its results are right."""
        output, merged = read_values(queue, self.output), read_values(queue, self.merged)
        if (merged == -1).all():
            return 0
        np.testing.assert_array_equal(output, self.input + add)
        (factor,) = set(merged.tolist())
        return int(factor)


def filled(context: cl.Context) -> cl.Buffer:
    flags = FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR
    return cl.Buffer(context, flags, hostbuf=np.full(SIZE, -1, dtype=np.int32))


def read_values(queue: cl.CommandQueue, buffer: Anything) -> Numbers:
    values = np.empty(SIZE, dtype=np.int32)
    cl.enqueue_copy(queue, values, buffer)
    return values


def program_of(context: cl.Context, **options: Anything) -> Program:
    chosen: dict[str, Anything] = {"factor": 4, "kernels": ["record"], **options}
    return Program(context, SOURCE, toolchain=HandToolchain(), **chosen).build()


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
    kernel.set_args(*buffers.all)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (1,))
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
