"""Calls of a tuned kernel in every form that PyOpenCL has, and its kernel objects."""

from __future__ import annotations

import threading
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from pyopencl.tools import VectorArg

import coarsen
from coarsen.dispatch.features import Feature
from coarsen.dispatch.tree import Leaf, Split
from coarsen.errors import InvalidInputError
from tests.runtime.tuned_files import Product, Seen, built, small_file, tuned

pytestmark = pytest.mark.compiled_devices


def test_the_older_route_is_chosen_for_too(context: cl.Context, queue: cl.CommandQueue) -> None:
    seen = Seen()
    program = built(context, small_file(context.devices[0]), observer=seen)
    product, wide, kernel = Product(queue, 64, 64), Product(queue, 61, 70), program.mv
    kernel.set_args(*product.arguments)
    cl.enqueue_nd_range_kernel(queue, kernel, *product.sizes)
    product.check()
    kernel(queue, *wide.sizes, *wide.arguments)
    wide.check()
    # As in PyOpenCL, the arguments of a call are set.
    cl.enqueue_nd_range_kernel(queue, kernel, *wide.sizes)
    wide.check()
    kernel.set_args(*wide.arguments)
    cl.enqueue_nd_range_kernel(queue, kernel, *wide.sizes)
    wide.check()
    assert [divided.local_size for _, divided in seen.launches] == [(32,), (32,), (16,), (32,)]


def test_what_was_set_is_of_one_object(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    first, second = Product(queue, 64, 64), Product(queue, 64, 32)
    one = program.mv
    one.set_args(*first.arguments)
    other = program.mv
    other.set_args(*second.arguments)
    cl.enqueue_nd_range_kernel(queue, one, *first.sizes)
    cl.enqueue_nd_range_kernel(queue, other, *second.sizes)
    first.check()
    second.check()


def test_a_real_number_is_no_whole_one_once_that_is_known(context: cl.Context, queue: cl.CommandQueue) -> None:
    """Equal numbers of other types have other bytes: 64.0 must not run what was decided for 64."""
    program = built(context, small_file(context.devices[0]))
    product, kernel = Product(queue, 64, 64), tuned(program)
    for _ in range(2):
        kernel.launch(queue, *product.arguments)
        product.check()
    real = [np.float32(value) if isinstance(value, np.int32) else value for value in product.arguments]
    with pytest.raises(InvalidInputError):
        kernel.launch(queue, *real)


def test_every_form_of_a_call(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    product, kernel = Product(queue, 64, 64), tuned(program)
    event = cl.enqueue_marker(queue)
    kernel(queue, [64], [16], *product.arguments)
    product.check()
    kernel(queue, (4,), (16,), *product.arguments, g_times_l=True)
    product.check()
    kernel(queue, (64,), (16,), *product.arguments, wait_for=[event])
    product.check()
    kernel(queue, (64,), (16,), *product.arguments, None, False, False, [event])
    product.check()
    kernel(queue, (64,), (16,), *product.arguments[:4], arg4=product.result)
    product.check()
    kernel.set_arg_types((None, None, np.int32, np.int32, None))
    kernel(queue, (64,), (16,), product.matrix, product.vector, 64, 64, product.result)
    product.check()
    kernel.launch(queue, product.matrix, product.vector, 64, 64, product.result)
    product.check()


def test_typed_arguments_that_were_set_are_chosen_by(context: cl.Context, queue: cl.CommandQueue) -> None:
    seen = Seen()
    program = built(context, small_file(context.devices[0]), observer=seen)
    product, kernel = Product(queue, 64, 64), program.mv
    kernel.set_arg_types((None, None, np.int32, np.int32, None))
    kernel.set_args(product.matrix, product.vector, 64, 64, product.result)
    cl.enqueue_nd_range_kernel(queue, kernel, *product.sizes)
    product.check()
    assert [divided.local_size for _, divided in seen.launches] == [(32,)]


def test_an_array_is_passed_as_its_buffer(context: cl.Context, queue: cl.CommandQueue) -> None:
    """Its number of elements isn't its size in bytes, by which a file may choose."""
    size = Feature("size", "bytes_a")
    file = small_file(context.devices[0], features=(size,), tree=Split("size", 16383.0, Leaf(0), Leaf(1)))
    seen = Seen()
    program, product = built(context, file, observer=seen), Product(queue, 64, 64)
    kernel = tuned(program)
    kernel.set_arg_types((VectorArg(np.int32, "a"), None, np.int32, np.int32, None))
    matrix = pyopencl.array.Array(queue, (64 * 64,), np.int32, data=product.matrix)
    arguments = matrix, product.vector, 64, 64, product.result
    for _ in range(2):
        kernel(queue, *product.sizes, *arguments)
        product.check()
    kernel.launch(queue, *arguments)
    product.check()
    assert [divided.local_size for _, divided in seen.launches] == [(32,)] * 3


def test_numbers_in_arrays_are_told_apart(context: cl.Context, queue: cl.CommandQueue) -> None:
    """PyOpenCL takes an array without dimensions for a number."""
    seen = Seen()
    program = built(context, small_file(context.devices[0]), observer=seen)
    kernel = program.mv
    kernel.set_arg_types((None, None, np.int32, np.int32, None))
    for height in (50, 63, 50, 63):
        product = Product(queue, height, 55)
        width, rows = np.array(55), np.array(height)
        kernel(queue, (64,), (16,), product.matrix, product.vector, width, rows, product.result)
        product.check()
    assert [divided.local_size for _, divided in seen.launches] == [(32,), (16,), (32,), (16,)]


def test_a_kernel_whose_address_was_given_away_runs_as_written(
    context: cl.Context, queue: cl.CommandQueue
) -> None:
    program = built(context, small_file(context.devices[0]))
    product, kernel = Product(queue, 64, 64), program.mv
    kernel.set_args(*product.arguments)
    assert kernel.int_ptr
    cl.enqueue_nd_range_kernel(queue, kernel, *product.sizes)
    product.check()


def test_what_pyopencl_refuses_is_refused(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    product, kernel = Product(queue, 64, 64), tuned(program)
    with pytest.raises((cl.Error, TypeError, ValueError)):
        kernel(queue, (64,), (16,), *product.arguments[:3])
    with pytest.raises((cl.Error, TypeError, ValueError)):
        kernel(queue, (64,), (16,), product.matrix, product.vector, "64", np.int32(64), product.result)
    with pytest.raises((cl.Error, TypeError, ValueError)):
        kernel(queue, (64,), cast("Any", 0), *product.arguments)
    with pytest.raises(InvalidInputError, match="takes 5 arguments, 4 were given"):
        kernel.launch(queue, *product.arguments[:4])
    kernel(queue, *product.sizes, *product.arguments)
    product.check()


def test_a_call_enqueues_once_and_reads_nothing(
    context: cl.Context, queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = built(context, small_file(context.devices[0]))
    product = Product(queue, 500, 7)
    counted: list[str] = []
    enqueue = coarsen.runtime.kernel.ENQUEUE

    def count(*args: Any) -> Any:  # noqa: ANN401
        counted.append("launch")
        return enqueue(*args)

    def read(*_: object, **__: object) -> None:
        raise AssertionError("a buffer is read")

    for module in ("kernel", "enqueue"):
        monkeypatch.setattr(f"coarsen.runtime.{module}.ENQUEUE", count)
    for name in ("enqueue_copy", "enqueue_map_buffer", "enqueue_nd_range_kernel", "enqueue_marker"):
        monkeypatch.setattr(cl, name, read)
    program.mv(queue, *product.sizes, *product.arguments)
    program.mv(queue, *product.sizes, *product.arguments)
    tuned(program).launch(queue, *product.arguments)
    monkeypatch.undo()
    assert counted == ["launch"] * 3
    product.check()


def test_a_thread_has_a_kernel_of_its_own(context: cl.Context) -> None:
    program = built(context, small_file(context.devices[0]))
    kernels, failures = [], []

    def work(first: int) -> None:
        try:
            queue = cl.CommandQueue(context)
            kernels.append(program.mv)
            for number in range(30):
                product = Product(queue, first + 7 * number, 1 + number % 9)
                program.mv(queue, *product.sizes, *product.arguments)
                product.check()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert kernels[0] is not kernels[1]
