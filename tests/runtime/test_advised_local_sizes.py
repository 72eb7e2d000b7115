"""Local sizes that an advisor gives a launch: kernels that don't care have them, where they fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from pyopencl.tools import VectorArg

from coarsen.drop_in.program import Program
from coarsen.runtime.advice import Decision
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from tests.runtime.advisors import KINDS, FakeAdvisor, Recorder, advice, advised, feign_limit
from tests.runtime.hand_coarsened import HandToolchain
from tests.runtime.launch_routes import (
    FLAGS,
    SIZE,
    Anything,
    Buffers,
    filled,
    read_values,
)

pytestmark = pytest.mark.compiled_devices


@pytest.mark.parametrize(("factor", "wanted"), [(1, 48), (2, 24), (1, 5), (1, 1 << 20)])
def test_another_local_size_is_for_kernels_that_do_not_care(
    context: cl.Context, queue: cl.CommandQueue, factor: int, wanted: int
) -> None:
    recorder = Recorder()
    advisor = FakeAdvisor(advice(factor, (wanted,)))
    program = Program(context, KINDS, tune=advisor, observer=recorder).build()
    expected = cl.Program(context, KINDS).build()
    for name in ("free", "grouped", "required"):
        outputs = [filled(context) for _ in range(2)]
        cl.Kernel(expected, name)(queue, (SIZE,), (16,), outputs[0])
        cl.Kernel(program, name)(queue, (SIZE,), (16,), outputs[1])
        np.testing.assert_array_equal(read_values(queue, outputs[1]), read_values(queue, outputs[0]))
    sizes = [divided.local_size for _, _, divided in recorder.seen]
    free = wanted if SIZE % wanted == 0 else 16
    assert sizes == [(free // factor,), (16 // factor,), (16 // factor,)]


def test_a_kernel_with_typed_arguments_has_the_local_size_that_is_advised(
    context: cl.Context, queue: cl.CommandQueue
) -> None:
    recorder = Recorder()
    program = Program(context, KINDS, tune=FakeAdvisor(advice(1, (48,))), observer=recorder).build()
    kernel: Anything = program.free
    kernel.set_arg_types([VectorArg(np.int32, "out")])
    values = cl_array.zeros(queue, SIZE, np.int32)
    kernel(queue, (SIZE // 16,), (16,), values, g_times_l=True)
    np.testing.assert_array_equal(values.get(), 3 * np.arange(SIZE))
    assert recorder.seen[0][2].local_size == (48,)


def test_a_local_size_that_is_too_large_for_the_original_alone(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers
) -> None:
    hand = HandToolchain(groups_matter=False)
    for answer, factor, local_size in ((advice(4, (48,)), 4, (12,)), (advice(1, (48,)), 1, (16,))):
        program, _ = advised(context, answer, hand)
        original = program.record._launches._original
        feign_limit(original, context.devices[0], 32)
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
    variant = launches.plan.told_by(launches.name, launches.plan.variant_of((Coarsening(4),)))
    assert variant is not None
    feign_limit(variant, context.devices[0], 8)
    program.record(queue, (SIZE,), (16,), *buffers.all)
    assert buffers.factor(queue) == 4
    divided = program.record.divided(queue.device, (SIZE,), (16,))
    assert (divided.local_size, divided.regrouped) == ((4,), False)
    assert "(factor 4 along dimension 0, local size 48)" in str(divided.reason)


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
    chosen = Decision(Variant(coarsenings=(Coarsening(4, level=Level.GROUP),)), "somebody measured it")
    program = Program(context, SHARED, tune=FakeAdvisor(chosen)).build(f"-DCOUNT={count}")
    values = np.arange(count, dtype=np.int32)
    table = cl.Buffer(context, FLAGS.READ_ONLY | FLAGS.COPY_HOST_PTR, hostbuf=values)
    output = filled(context)
    program.shared(queue, (SIZE,), (8,), table, output)
    assert (read_values(queue, output) == np.tile(values[-1:-9:-1], SIZE // 8)).all()
    divided = program.shared.divided(queue.device, (SIZE,), (8,))
    assert (divided.reason, divided.global_size) == ("somebody measured it", (SIZE // 4,))


def test_with_a_warm_cache_another_local_size_takes_no_compiler(
    context: cl.Context, queue: cl.CommandQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COARSEN_NO_CACHE", raising=False)
    folder: Anything = str(tmp_path)
    for _ in range(2):
        recorder = Recorder()
        program = Program(context, KINDS, tune=FakeAdvisor(advice(1, (48,))), observer=recorder)
        output = filled(context)
        program.build(cache_dir=folder).free(queue, (SIZE,), (16,), output)
        np.testing.assert_array_equal(read_values(queue, output), 3 * np.arange(SIZE))
        assert recorder.seen[0][2].local_size == (48,)
        monkeypatch.setattr("coarsen.api.coarsen_variant", None)
