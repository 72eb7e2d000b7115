"""Transforms that an advisor chooses: wide accesses are used while all buffers are small enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in.program import Program
from coarsen.runtime.toolchain import Code, Form, Toolchain
from coarsen.variant.transforms import Transforms, Use
from coarsen.variant.variant import Variant
from tests.runtime.advisors import KINDS, WIDE, FakeAdvisor, advice, advised
from tests.runtime.hand_coarsened import HandToolchain
from tests.runtime.launch_routes import FLAGS, ROUTES, SIZE, Anything, Buffers, filled, read_values

pytestmark = pytest.mark.compiled_devices


def test_transforms_are_those_of_the_advice(context: cl.Context, queue: cl.CommandQueue) -> None:
    transforms = Transforms(Use.NEVER, Use.ALWAYS, wide_accesses=True, clean_up=False)
    program = Program(context, KINDS, tune=FakeAdvisor(advice(2, (), transforms))).build()
    output = filled(context)
    program.free(queue, (SIZE,), (16,), output)
    np.testing.assert_array_equal(read_values(queue, output), 3 * np.arange(SIZE))
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
            assert (read_values(queue, merged) == factor).all()
            np.testing.assert_array_equal(read_values(queue, output), buffers.input + 11)


def test_shared_virtual_memory_may_be_of_any_size(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, device: DeviceDescription
) -> None:
    if not context.devices[0].svm_capabilities & cl.device_svm_capabilities.COARSE_GRAIN_BUFFER:
        return
    untyped: Anything = cl
    shared = untyped.SVM(untyped.csvm_empty(context, SIZE, np.int32, alignment=64))
    program, _ = advised(context, advice(4, (), WIDE), HandToolchain(objects_below=1 << 34))
    program.record(queue, (SIZE,), (16,), buffers.source, shared, buffers.merged, np.int32(1))
    assert (read_values(queue, buffers.merged) == 4).all()


ROWS = """
kernel void rows(global const int *in, global int *out, int count) {
    int row = get_global_id(0), sum = 0;
    for (int i = 0; i < count; ++i)
        sum += in[4 * row + i] * in[4 * row + 1 + i];
    out[row] = sum;
}
"""


@pytest.mark.parametrize("is_requested", [False, True], ids=["advised", "requested"])
def test_a_compiled_kernel_runs_with_wide_accesses_while_buffers_are_small(
    context: cl.Context, queue: cl.CommandQueue, is_requested: bool
) -> None:
    asked: list[bool] = []

    class Limited(Toolchain):
        def coarsen_anew(
            self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form
        ) -> Code:
            asked.append(variant.transforms.wide_accesses)
            made = super().coarsen_anew(source, options, kernel, variant, form)
            assert made.objects_below is None or made.objects_below >= 1 << 32
            return made._replace(objects_below=None if made.objects_below is None else 32 * SIZE)

    toolchain = Limited()
    if is_requested:
        program = Program(context, ROWS, factor=4, wide_accesses=True, toolchain=toolchain).build()
    else:
        advisor = FakeAdvisor(advice(4, (), WIDE))
        program = Program(context, ROWS, tune=advisor, toolchain=toolchain).build()
    values = np.arange(8 * SIZE, dtype=np.int32) % 37
    sums = [sum(values[4 * row + i] * values[4 * row + 1 + i] for i in range(5)) for row in range(SIZE)]
    flags, output = FLAGS.READ_ONLY | FLAGS.COPY_HOST_PTR, filled(context)
    kernel = program.rows
    for count, used in ((5 * SIZE, [True]), (8 * SIZE, [True, False]), (5 * SIZE, [True, False])):
        source = cl.Buffer(context, flags, hostbuf=values[:count])
        cl.enqueue_copy(queue, output, np.zeros(SIZE, np.int32))
        kernel(queue, (SIZE,), (16,), source, output, np.int32(5))
        np.testing.assert_array_equal(read_values(queue, output), sums)
        assert asked == used
