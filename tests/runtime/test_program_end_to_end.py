"""`coarsen.Program` with the real compiler behind it: every call form, fallbacks, refusals."""

from __future__ import annotations

import gc
import logging
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

import coarsen
from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.runtime.toolchain import Code, Form, Toolchain
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind, Transforms, transforms_of
from coarsen.variant.variant import Variant

SOURCE = """
kernel void scale(global const int *in, global int *out, int by) {
    size_t id = get_global_id(0);
    out[id] = in[id] * by + (int)get_local_id(0);
}
kernel void reverse(global const int *in, global int *out, local int *tile) {
    size_t item = get_local_id(0), items = get_local_size(0);
    tile[item] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[items - 1 - item];
}
"""
REFUSED = """
kernel void refused(global int *out, int n) {
    int i = 0;
    if (n > 3) goto middle;
start:
    out[i] = 1;
    i++;
middle:
    out[i + 1] = 2;
    i++;
    if (i < n) goto start;
}
"""
ITEMS = 96
Numbers = NDArray[np.int32]


def buffers(context: cl.Context) -> tuple[Numbers, cl.Buffer, cl.Buffer]:
    values = np.random.default_rng(5).integers(0, 1000, ITEMS).astype(np.int32)
    flags = cl.mem_flags
    source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
    return values, source, cl.Buffer(context, flags.READ_WRITE, values.nbytes)


def read(queue: cl.CommandQueue, buffer: cl.Buffer) -> Numbers:
    result = np.empty(ITEMS, np.int32)
    cl.enqueue_copy(queue, result, buffer)
    return result


def scaled(values: Numbers, by: int, local_size: int) -> Numbers:
    return values * by + np.arange(ITEMS, dtype=np.int32) % local_size


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("stride", [1, 2])
def test_the_launch_keeps_its_sizes(factor: int, stride: int, context: cl.Context, queue: cl.CommandQueue) -> None:
    program = Program(context, SOURCE, factor=factor, stride=stride).build()
    values, source, result = buffers(context)
    program.scale(queue, (ITEMS,), (24,), source, result, np.int32(3))
    np.testing.assert_array_equal(read(queue, result), scaled(values, 3, 24))
    program.reverse(queue, (ITEMS,), (24,), source, result, cl.LocalMemory(24 * 4))
    np.testing.assert_array_equal(read(queue, result), values.reshape(-1, 24)[:, ::-1].ravel())


GUARDED = """
kernel void guarded(global int *values, global const int *lengths, int count) {
    int item = get_global_id(0);
    if (item < count) {
        int sum = 0;
        for (int i = 0; i < lengths[item]; ++i)
            sum += lengths[(item + i) % 8] + get_global_size(0) / 3;
        values[item] = sum;
    }
}
"""


@pytest.mark.parametrize(
    "chosen",
    [
        {"fast_path": "never", "lock_step": "never"},
        {"fast_path": "always", "lock_step": "always"},
        {"clean_up": False},
    ],
)
def test_transforms_are_chosen(chosen: dict[str, Any], context: cl.Context, queue: cl.CommandQueue) -> None:
    asked: list[Transforms] = []

    class Recording(Toolchain):
        def coarsen_anew(
            self, source: str, options: Sequence[str], kernel: str, variant: Variant, form: Form
        ) -> Code:
            asked.append(variant.transforms)
            return super().coarsen_anew(source, options, kernel, variant, form)

    program = Program(context, GUARDED, factor=4, toolchain=Recording(), **chosen).build()
    assert replace(asked[0], device_kind=DeviceKind.ANY) == transforms_of(**chosen)
    rounds, lengths, result = buffers(context)
    cl.enqueue_copy(queue, result, np.zeros(ITEMS, np.int32))
    program.guarded(queue, (ITEMS,), (24,), result, lengths, np.int32(90))
    sums = [sum(rounds[(item + i) % 8] + ITEMS // 3 for i in range(count)) for item, count in enumerate(rounds)]
    expected = np.where(np.arange(ITEMS) < 90, sums, 0)
    np.testing.assert_array_equal(read(queue, result), expected)


@pytest.mark.parametrize("name", ["fast_path", "lock_step"])
def test_unknown_uses_are_refused(name: str, context: cl.Context) -> None:
    chosen: dict[str, Any] = {name: "often"}
    with pytest.raises(InvalidInputError, match=f"{name} is 'auto', 'always' or 'never', not 'often'"):
        Program(context, GUARDED, **chosen)


def test_a_program_is_released_with_its_last_reference(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = Program(context, SOURCE, factor=2).build()
    _, source, target = buffers(context)
    program.scale(queue, (ITEMS,), (8,), source, target, np.int32(3)).wait()
    there = weakref.ref(program)
    gc.disable()
    try:
        del program
        assert there() is None
    finally:
        gc.enable()


def test_arguments_set_beforehand(context: cl.Context, queue: cl.CommandQueue) -> None:
    kernel = Program(context, SOURCE, factor=4).build().scale
    values, source, result = buffers(context)
    kernel.set_args(source, result, np.int32(7))
    coarsen.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (12,))
    np.testing.assert_array_equal(read(queue, result), scaled(values, 7, 12))
    kernel.set_arg(2, np.int32(2))
    coarsen.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (12,))
    np.testing.assert_array_equal(read(queue, result), scaled(values, 2, 12))


def test_sizes_that_do_not_divide(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    kernel = Program(context, SOURCE, factor=8).build().scale
    values, source, result = buffers(context)
    with caplog.at_level(logging.WARNING, "coarsen"):
        for _ in range(2):
            kernel(queue, (ITEMS,), (12,), source, result, np.int32(3))
    np.testing.assert_array_equal(read(queue, result), scaled(values, 3, 12))
    assert kernel.divided(queue.device, (ITEMS,), (12,)).coarsenings == (Coarsening(6),)
    assert sum("does not divide" in record.message for record in caplog.records) == 1


def test_a_local_size_left_open(context: cl.Context, queue: cl.CommandQueue) -> None:
    source_text = "kernel void add(global int *out) { out[get_global_id(0)] += (int)get_global_id(0); }"
    values, _, result = buffers(context)
    for factor, stride in ((4, 1), (4, 2)):
        cl.enqueue_copy(queue, result, values)
        Program(context, source_text, factor=factor, stride=stride).build().add(queue, (ITEMS,), None, result)
        np.testing.assert_array_equal(read(queue, result), values + np.arange(ITEMS, dtype=np.int32))


def test_spirv_form(context: cl.Context, queue: cl.CommandQueue, device: DeviceDescription) -> None:
    if not device.takes_spirv:
        with pytest.raises(coarsen.DeviceError, match="takes no SPIR-V"):
            Program(context, SOURCE, factor=4, form="spirv").build()
        return
    program = Program(context, SOURCE, factor=4, form="spirv").build()
    values, source, result = buffers(context)
    program.scale(queue, (ITEMS,), (24,), source, result, np.int32(3))
    np.testing.assert_array_equal(read(queue, result), scaled(values, 3, 24))


def test_spirv_form_of_a_kernel_with_atomics_of_opencl_2(
    context: cl.Context, queue: cl.CommandQueue, device: DeviceDescription
) -> None:
    if not device.takes_spirv:
        return
    source_text = "kernel void count(global atomic_int *counter) { atomic_fetch_add(counter, 3); }"
    program = Program(context, source_text, factor=4, form="spirv").build("-cl-std=CL2.0")
    _, _, counter = buffers(context)
    cl.enqueue_copy(queue, counter, np.zeros(1, np.int32))
    program.count(queue, (ITEMS,), (24,), counter)
    assert read(queue, counter)[0] == 3 * ITEMS


def test_by_default_nothing_runs_that_nobody_measured(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.prediction.predict_by_launch_model", None)
    values, source, result = buffers(context)
    kernel = Program(context, SOURCE).build().scale
    kernel(queue, (ITEMS,), (24,), source, result, np.int32(3))
    np.testing.assert_array_equal(read(queue, result), scaled(values, 3, 24))
    assert kernel.divided(queue.device, (ITEMS,), (24,)).coarsenings == ()
    assert caplog.messages == []


@pytest.mark.compiled_devices
def test_refusals(context: cl.Context, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(RefusalError, match=r"\[irreducible\]"):
        Program(context, REFUSED, factor=4).build()
    with caplog.at_level(logging.WARNING, "coarsen"):
        Program(context, SOURCE + REFUSED, factor=4).build()
    assert any("kernel refused stays as it is" in record.message for record in caplog.records)
