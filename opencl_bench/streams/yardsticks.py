"""What programs are compared with: one version at all sizes, plain kernels, CLBlast's functions."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.dispatch.tree import Leaf, answer
from coarsen.opencl_bench.streams import Run
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_choice import default_file

_ROWS = 4096


def one_version(reduction: Reduce, device: cl.Device) -> Reduce:
    """Make a reduction take one version at all sizes, and return it: that for 2²⁴ elements, 4096 rows of 4096."""
    operation = reduction._operation
    file = default_file(operation, reduction.source, device, is_pinned=False)
    sizes = {operation.length: _ROWS if operation.rows else _ROWS**2, operation.rows: _ROWS}
    reduction._files = (replace(file, tree=Leaf(answer(file.tree, sizes))),)
    return reduction


@cache
def _plain(context: cl.Context) -> cl.Program:
    return cl.Program(context, Path(__file__).with_name("plain.cl").read_text(encoding="utf-8")).build()


def plain(queue: cl.CommandQueue, kernel: str, size: Sequence[int], *given: Any, local: int = 0) -> Run:  # noqa: ANN401
    """Return a launch of a kernel of `plain.cl`.

    Args:
        queue: where.
        kernel: its name.
        size: the work-items.
        given: what it is passed: arrays of PyOpenCL's, an `int`, a `float`.
        local: the work-items of a work-group; the device chooses if 0.
    """
    kinds = {int: np.int32, float: np.float32}
    passed = [each.data if hasattr(each, "data") else kinds[type(each)](each) for each in given]
    return partial(cl.Kernel(_plain(queue.context), kernel), queue, size, (local,) if local else None, *passed)


def one_by_one(*runs: Run) -> Run:
    """Return a run of several, one after the other."""

    def run() -> None:
        for each in runs:
            each()

    return run


class CLBlast:
    """CLBlast's functions of floats on arrays of PyOpenCL's, in a queue.

    Raises:
        OSError: it isn't installed (Debian's libclblast1).
    """

    def __init__(self, queue: cl.CommandQueue) -> None:
        self._library = ctypes.CDLL("libclblast.so.1")
        self._queue, self._found = ctypes.c_void_p(queue.int_ptr), cl.array.zeros(queue, 1, np.float32)

    def __call__(self, name: str, *given: cl.array.Array | float) -> None:
        """Call a function, `("Saxpy", n, 2.0, x, 1, y, 1)`: an array is a buffer and an offset."""
        words: list[Any] = []
        for each in given:
            if isinstance(each, cl.array.Array):
                words += [ctypes.c_void_p(each.base_data.int_ptr), ctypes.c_size_t(each.offset // 4)]
            else:
                words.append((ctypes.c_size_t if isinstance(each, int) else ctypes.c_float)(each))
        status = getattr(self._library, f"CLBlast{name}")(*words, ctypes.byref(self._queue), None)
        if status:
            raise RuntimeError(f"CLBlast{name}: error {status}")

    def product(self, m: cl.array.Array, v: cl.array.Array, to: cl.array.Array) -> cl.array.Array:
        """Multiply a matrix by a vector, and return the result, whose numbers must be some before."""
        row_major, as_it_is, (rows, width) = 101, 111, m.shape
        self("Sgemv", row_major, as_it_is, rows, width, 1.0, m, width, v, 1, 0.0, to, 1)
        return to

    def dot(self, one: cl.array.Array, other: cl.array.Array) -> float:
        """Return a scalar product, read by the host."""
        self("Sdot", one.size, self._found, one, 1, other, 1)
        return float(self._found.get()[0])

    def add(self, factor: float, one: cl.array.Array, to: cl.array.Array) -> None:
        """Add a multiple of a vector to another."""
        self("Saxpy", one.size, factor, one, 1, to, 1)

    def scale(self, factor: float, to: cl.array.Array) -> None:
        """Multiply a vector by a number."""
        self("Sscal", to.size, factor, to, 1)
