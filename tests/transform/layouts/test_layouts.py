"""Kernels with other layouts leave what they leave as written, bit for bit, and nothing in padding or outside.

Devices (`tests/selection.py`), numbers of elements, forms of output, and whether extents are compiled in or passed
come by turns.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.ir.added_arguments import AddedArgument
from coarsen.pipeline import CoarsenedKernel, laid_out, run_pipeline
from coarsen.runtime.layout import Layout
from coarsen.tuning.measure.run import GuardedBuffer
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.data_layout import ArrayLayout, Order
from coarsen.variant.variant import Variant
from tests.selection import Turn
from tests.transform.harness import build_coarsened, form_by_turns, turns_of, workaround
from tests.transform.layouts.deep_record_kernels import DEEP_KERNELS
from tests.transform.layouts.hard_record_kernels import HARD_KERNELS
from tests.transform.layouts.record_kernels import KERNELS, MATRIX, RecordKernel

LOCAL_SIZE = 32
COUNTS = (1, 31, 33, 1000)
FACTORS = (1, 4)
# The layout of a kernel's first array, and of its second.
PAIRS = (("soa", "aos"), ("aosoa:4", "soa"), ("aosoa:32", "aosoa:5"))
DEEP_PAIRS = (
    ("deep-soa", "aos"),
    ("deep-aosoa:4", "deep-soa"),
    ("deep-aosoa:32", "deep-aosoa:5"),
    ("soa", "deep-soa"),
)
# What LLVM's SPIR-V back end mixes up the types of operands in, so that it is refused.
IN_C_ALONE = {("whole_records_and_whole_arrays", DEEP_PAIRS[0])}
SHAPES = {1: (1, 1), 31: (1, 31), 33: (3, 11), 1000: (25, 40)}
Arrays = Mapping[str, NDArray[Any]]


def contents(kernel: RecordKernel, shape: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    """Arrays whose fields hold whole numbers, each of a range of its own; padding is set, to be found if read."""
    rng = np.random.default_rng(3)
    return {name: filled(rng, dtype, shape) for name, dtype in kernel.arrays.items()}


def filled(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...], base: int = 0) -> NDArray[Any]:
    if dtype.base.names is not None and dtype.shape:
        return filled(rng, dtype.base, (*shape, *dtype.shape), base)
    if dtype.names is None:
        low = (base * 23) % 200
        return rng.integers(low, low + 40, (*shape, *dtype.shape)).astype(dtype.base)
    array = np.full(math.prod(shape) * dtype.itemsize, 0xA5, np.uint8).view(dtype).reshape(shape)
    for place, name in enumerate(dtype.names):
        array[name] = filled(rng, array.dtype[name], shape, place + 1)
    return array


@functools.lru_cache(maxsize=64)
def as_written(context: cl.Context, kernel: RecordKernel, shape: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    """What the kernel leaves as it stands."""
    built = cl.Kernel(build_uncached(context, kernel.source, workaround(context)), "k")
    arrays = contents(kernel, shape)
    return launched(cl.CommandQueue(context), built, arrays, shape)


def launched(
    queue: cl.CommandQueue,
    kernel: cl.Kernel,
    arrays: Arrays,
    shape: tuple[int, ...],
    factor: int = 1,
    added: Sequence[AddedArgument] = (),
) -> dict[str, NDArray[Any]]:
    """What the arrays hold after a launch; guard zones are as they were."""
    buffers = {name: GuardedBuffer(queue, array) for name, array in arrays.items()}
    count = math.prod(shape)
    sizes = [np.int32(count), np.int32(shape[-1])][: kernel.num_args - len(arrays) - len(added)]
    # All arrays of a kernel here have one shape.
    extents = [np.uint64(extent_of(each, shape, added)) for each in added]
    kernel.set_args(*(buffer.view for buffer in buffers.values()), *sizes, *extents)
    groups = -(-count // LOCAL_SIZE)
    local = LOCAL_SIZE // factor
    cl.enqueue_nd_range_kernel(queue, kernel, (groups * local,), (local,)).wait()
    assert all(buffer.intact() for buffer in buffers.values())
    return {name: buffer.read() for name, buffer in buffers.items()}


def extent_of(wanted: AddedArgument, shape: tuple[int, ...], added: Sequence[AddedArgument]) -> int:
    """The number of elements along a dimension, or of all where the array has but one extent."""
    assert wanted.meaning == "extent"
    alike = [each for each in added if each.like == wanted.like]
    return shape[wanted.dimension] if len(alike) > 1 else math.prod(shape)


def rewritten(
    kernel: RecordKernel, layouts: Mapping[str, Layout], shape: tuple[int, ...] | None, factor: int
) -> CoarsenedKernel:
    """The kernel with other layouts, coarsened; that its records are the host's is checked."""
    plans = tuple(each.plan(name, shape) for name, each in layouts.items())
    chosen: Configuration = (Coarsening(factor),) if factor > 1 else ()
    laid = laid_out(lower(kernel.source, "k"), plans)
    return run_pipeline(laid, Variant(coarsenings=chosen, arrays=plans))


def check(
    queue: cl.CommandQueue,
    kernel: RecordKernel,
    layouts: Mapping[str, Layout],
    shape: tuple[int, ...],
    factor: int,
    form: str,
    *,
    is_open: bool,
) -> None:
    """Run a kernel with other layouts and compare it with itself as written."""
    coarsened = rewritten(kernel, layouts, None if is_open else shape, factor)
    built = build_coarsened(queue.context, coarsened, form, ())
    packed = {name: layouts[name].pack(array) for name, array in contents(kernel, shape).items()}
    left = launched(queue, built, packed, shape, factor, coarsened.added_arguments)
    for name, wanted in as_written(queue.context, kernel, shape).items():
        unpacked = layouts[name].unpack(left[name], shape)
        assert_fields_equal(unpacked, wanted)
        # A second packing has zeros in all padding: the kernel has written none of it.
        is_moved = not layouts[name].arrangement(shape).is_as_written
        if is_moved:
            np.testing.assert_array_equal(layouts[name].pack(unpacked), left[name])


def assert_fields_equal(got: NDArray[Any], wanted: NDArray[Any]) -> None:
    if wanted.dtype.names is None:
        np.testing.assert_array_equal(got, wanted)
        return
    for name in wanted.dtype.names:
        # The fourth of three components, by the name that PyOpenCL gives it, has no value.
        if name != "padding0":
            assert_fields_equal(got[name], wanted[name])


COMBINATIONS = (
    *itertools.product(KERNELS, PAIRS),
    *itertools.product((*DEEP_KERNELS, *HARD_KERNELS), DEEP_PAIRS),
)


def number_of(kernel: RecordKernel, pair: tuple[str, str]) -> int:
    """The number of a kernel and its layouts among all."""
    return COMBINATIONS.index((kernel, pair))


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Return True if any of the factors is for the device."""
    if "count" in parameters:
        number = COUNTS.index(parameters["count"])
    elif "pair" in parameters:
        number = number_of(parameters["kernel"], parameters["pair"])
    else:
        return True
    return bool(turns_of(parameters["device"], number, len(FACTORS)))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_layouts(
    queue: cl.CommandQueue, device: DeviceDescription, kernel: RecordKernel, pair: tuple[str, str]
) -> None:
    number = number_of(kernel, pair)
    layouts = {
        name: Layout(dtype, ArrayLayout.parse(text))
        for (name, dtype), text in zip(kernel.arrays.items(), pair, strict=False)
    }
    for place, turn in turns_of(device, number, len(FACTORS)).items():
        shape = (COUNTS[(number + place) % len(COUNTS)],)
        is_open = bool((number + place) % 2)
        form = "opencl_c" if (kernel.name, pair) in IN_C_ALONE else form_by_turns(device, turn)
        check(queue, kernel, layouts, shape, FACTORS[place], form, is_open=is_open)


@pytest.mark.parametrize("kernel", (*DEEP_KERNELS, *HARD_KERNELS), ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("pair", DEEP_PAIRS, ids="-".join)
def test_arrays_inside_of_records_as_fields(
    queue: cl.CommandQueue, device: DeviceDescription, kernel: RecordKernel, pair: tuple[str, str]
) -> None:
    number = number_of(kernel, pair)
    layouts = {
        name: Layout(dtype, ArrayLayout.parse(text))
        for (name, dtype), text in zip(kernel.arrays.items(), pair, strict=True)
    }
    for place, turn in turns_of(device, number, len(FACTORS)).items():
        shape = (COUNTS[(number + place) % len(COUNTS)],)
        is_open = bool((number + place) % 2)
        form = "opencl_c" if (kernel.name, pair) in IN_C_ALONE else form_by_turns(device, turn)
        check(queue, kernel, layouts, shape, FACTORS[place], form, is_open=is_open)


@pytest.mark.parametrize(
    ("count", "texts"),
    [(1, ("soa", "aos")), (31, ("aos", "soa")), (33, ("aos", "aosoa:4")), (1000, ("aos", "aos"))],
)
def test_orders(queue: cl.CommandQueue, device: DeviceDescription, count: int, texts: tuple[str, str]) -> None:
    number = COUNTS.index(count)
    layouts = {
        name: Layout(dtype, ArrayLayout.parse(text), Order((1, 0)))
        for (name, dtype), text in zip(MATRIX.arrays.items(), texts, strict=True)
    }
    for place, turn in turns_of(device, number, len(FACTORS)).items():
        form = form_by_turns(device, turn)
        check(queue, MATRIX, layouts, SHAPES[count], FACTORS[place], form, is_open=not place)


@pytest.mark.compiled_devices
def test_a_large_array_of_15_bytes_in_16(queue: cl.CommandQueue, device: DeviceDescription) -> None:
    kernel = next(each for each in KERNELS if each.name == "in_place")
    assert (kernel.arrays["all"].itemsize, Layout.soa(kernel.arrays["all"]).record.content) == (16, 15)
    layouts = {"all": Layout.soa(kernel.arrays["all"])}
    check(queue, kernel, layouts, (1_000_003,), 4, form_by_turns(device, Turn(0, 0)), is_open=True)


def test_three_dimensions(queue: cl.CommandQueue, device: DeviceDescription) -> None:
    kernel = KERNELS[0]
    layouts = {
        "to": Layout(kernel.arrays["to"], ArrayLayout.parse("soa"), Order((2, 0, 1))),
        "from": Layout(kernel.arrays["from"], ArrayLayout.parse("aosoa:8"), Order((1, 2, 0))),
    }
    for is_open in (False, True):
        check(
            queue,
            kernel,
            layouts,
            (3, 4, 5),
            FACTORS[-1],
            form_by_turns(device, Turn(int(is_open), 0)),
            is_open=is_open,
        )
