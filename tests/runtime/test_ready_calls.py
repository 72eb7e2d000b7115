"""Calls that were decided before: they go to PyOpenCL's own launch at once, and do what the first one did."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.runtime.kernel import Kernel

pytestmark = pytest.mark.compiled_devices
ITEMS = 64
FLAGS = cl.mem_flags
SOURCE = """
kernel void scale(global int *out, global const int *in, int by)
{
    out[get_global_id(0)] = by * in[get_global_id(0)];
}
kernel void total(global int *out, global const int *in, local int *part)
{
    size_t item = get_local_id(0);
    part[item] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (size_t other = 0; other < get_local_size(0); other++)
        sum += part[other];
    out[get_global_id(0)] = sum;
}
kernel void add(global int *out, global const int *in, int rounds)
{
    for (int round = 0; round < rounds; round++)
        out[get_global_id(0)] += in[0];
}
"""


class Arrays:
    """An array of zeros and one of numbers."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self.queue = queue
        self.numbers = np.arange(1, ITEMS + 1, dtype=np.int32)
        self.out = cl.Buffer(queue.context, FLAGS.READ_WRITE, self.numbers.nbytes)
        self.into = cl.Buffer(queue.context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=self.numbers)
        self.clear()

    def clear(self) -> None:
        cl.enqueue_copy(self.queue, self.out, np.zeros_like(self.numbers))

    def found(self) -> list[int]:
        content = np.empty_like(self.numbers)
        cl.enqueue_copy(self.queue, content, self.out)
        self.clear()
        return [int(number) for number in content]


@pytest.fixture
def arrays(queue: cl.CommandQueue) -> Arrays:
    return Arrays(queue)


@pytest.fixture
def only_known(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make every further call that is not known yet fail."""

    def refuse(*_: Any) -> None:  # noqa: ANN401 (whatever is passed)
        raise AssertionError("decided anew")

    return lambda: monkeypatch.setattr(Kernel, "_call", refuse)


@pytest.mark.parametrize("options", [{"factor": 4}, {"tune": False}, {}])
@pytest.mark.parametrize("types", [None, [None, None, np.int32]])
def test_the_second_call_of_a_kind_is_known(
    arrays: Arrays, only_known: Callable[[], None], options: dict[str, Any], types: list[Any] | None
) -> None:
    queue = arrays.queue
    kernel = Program(queue.context, SOURCE, **options).build().scale
    if types is not None:
        kernel.set_scalar_arg_dtypes(types)
    number: Callable[[int], Any] = np.int32 if types is None else int
    for size in (ITEMS, ITEMS // 2):
        kernel(queue, (size,), (16,), arrays.out, arrays.into, number(2))
        arrays.found()
    only_known()
    for size, by in ((ITEMS // 2, 3), (ITEMS, 5), (ITEMS // 2, 7)):
        kernel(queue, (size,), (16,), arrays.out, arrays.into, number(by))
        wanted = [by * value for value in range(1, size + 1)] + [0] * (ITEMS - size)
        assert arrays.found() == wanted
    with pytest.raises(AssertionError, match="decided anew"):
        kernel(queue, (16,), (16,), arrays.out, arrays.into, number(2))


def test_the_size_of_local_memory_counts(arrays: Arrays, only_known: Callable[[], None]) -> None:
    queue = arrays.queue
    kernel = Program(queue.context, SOURCE, factor=2, level="group").build().total
    sums = {size: [sum(range(first + 1, first + size + 1)) for first in range(0, ITEMS, size)] for size in (8, 16)}
    for _ in range(2):
        for size in (8, 16):
            kernel(queue, (ITEMS,), (size,), arrays.out, arrays.into, cl.LocalMemory(4 * size))
            assert arrays.found() == [total for total in sums[size] for _ in range(size)]
    only_known()
    for size in (16, 8):
        kernel(queue, (ITEMS,), (size,), arrays.out, arrays.into, cl.LocalMemory(4 * size))
        assert arrays.found() == [total for total in sums[size] for _ in range(size)]
    with pytest.raises(AssertionError, match="decided anew"):
        kernel(queue, (ITEMS,), (8,), arrays.out, arrays.into, cl.LocalMemory(256))


def test_arguments_stay_set_as_pyopencl_has_it(arrays: Arrays) -> None:
    queue = arrays.queue
    kernel = Program(queue.context, SOURCE, factor=4).build().scale
    for by in (2, 3):
        kernel(queue, (ITEMS,), (16,), arrays.out, arrays.into, np.int32(by))
        arrays.found()
    for size in (ITEMS, 16, ITEMS):
        cl.enqueue_nd_range_kernel(queue, kernel, (size,), (16,))
        assert arrays.found()[:16] == [3 * value for value in range(1, 17)]
    kernel.set_arg(2, np.int32(5))
    for _ in range(2):
        cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (16,))
        assert arrays.found() == [5 * value for value in range(1, ITEMS + 1)]
    kernel(queue, (ITEMS,), (16,), arrays.out, arrays.into, np.int32(7))
    arrays.found()
    cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (16,))
    assert arrays.found() == [7 * value for value in range(1, ITEMS + 1)]


def test_memory_that_overlaps_is_seen_at_each_call(arrays: Arrays) -> None:
    """`in[0]` is kept in a register where it is distinct from `out`: with one buffer for both, it grows."""
    queue, rounds = arrays.queue, np.int32(3)
    kernel = Program(queue.context, SOURCE, factor=2, distinct=True).build().add
    for _ in range(2):
        kernel(queue, (2,), (2,), arrays.out, arrays.into, rounds)
        assert arrays.found()[:2] == [3, 3]
    kernel(queue, (2,), (2,), arrays.into, arrays.into, rounds)
    first = np.empty(1, np.int32)
    cl.enqueue_copy(queue, first, arrays.into)
    assert first[0] == 8
    kernel(queue, (2,), (2,), arrays.out, arrays.into, rounds)
    assert arrays.found()[:2] == [24, 24]


def test_what_can_not_be_converted_is_refused_as_pyopencl_does(arrays: Arrays) -> None:
    queue = arrays.queue
    plain = cl.Program(queue.context, SOURCE).build().scale
    kernel = Program(queue.context, SOURCE, factor=4).build().scale
    for each in (plain, kernel):
        each.set_scalar_arg_dtypes([None, None, np.int32])
        each(queue, (ITEMS,), (16,), arrays.out, arrays.into, 2)
    errors = []
    for each in (plain, kernel):
        with pytest.raises(Exception) as caught:
            each(queue, (ITEMS,), (16,), arrays.out, arrays.into, 1 << 40)
        errors.append(caught.type)
    assert errors[0] is errors[1]
    kernel(queue, (ITEMS,), (16,), arrays.out, arrays.into, 3)
    assert arrays.found() == [3 * value for value in range(1, ITEMS + 1)]


@pytest.mark.filterwarnings("ignore:Kernel")
@pytest.mark.parametrize("options", [{"factor": 4}, {"tune": False}])
def test_a_kernel_object_goes_with_its_last_reference(arrays: Arrays, options: dict[str, Any]) -> None:
    queue = arrays.queue
    kernel = Program(queue.context, SOURCE, **options).build().scale
    for _ in range(2):
        kernel(queue, (ITEMS,), (16,), arrays.out, arrays.into, np.int32(2))
    kernel.set_args(arrays.out, arrays.into, np.int32(2))
    for _ in range(2):
        cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (16,))
    gone = weakref.ref(kernel)
    gc.disable()
    try:
        del kernel
        assert gone() is None, "it refers to itself"
    finally:
        gc.enable()


@pytest.mark.parametrize("options", [{"factor": 4}, {"tune": False}])
def test_sizes_that_are_no_whole_numbers_are_refused_of_a_known_launch_too(
    arrays: Arrays, options: dict[str, Any]
) -> None:
    queue = arrays.queue
    kernel = Program(queue.context, SOURCE, **options).build().scale
    passed = arrays.out, arrays.into, np.int32(2)
    wanted = [2 * value for value in range(1, ITEMS + 1)]
    for _ in range(2):
        kernel(queue, (ITEMS,), (16,), *passed)
        assert arrays.found() == wanted
    real: Any = float(ITEMS)
    for sizes in (((real,), (16,)), ((ITEMS,), (16.0,)), ((np.float32(ITEMS),), (np.float32(16),))):
        with pytest.raises(RuntimeError):
            kernel(queue, *sizes, *passed)
    for _ in range(2):
        cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (16,))
        assert arrays.found() == wanted
    with pytest.raises(RuntimeError):
        cl.enqueue_nd_range_kernel(queue, kernel, (real,), (16,))
    kernel(queue, (np.int64(ITEMS),), (16,), *passed)
    assert arrays.found() == wanted
