"""What programs are compared with: runs in turns, one version at all sizes, PyOpenCL's and CLBlast's functions."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.reduction import ReductionKernel
from pyopencl.tools import get_or_register_dtype, match_dtype_to_c_struct

from coarsen.dispatch.tree import Leaf, answer
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_choice import default_file

_ROUNDS, _SECONDS = 15, 2e-3
_ROWS = 4096
# A value and its index, as `best_place` finds it.
PLACED = np.dtype([("value", np.float32), ("place", np.int64)])


def in_turns(queue: cl.CommandQueue, runs: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return the microseconds of a call in each round, the host's part included.

    Args:
        queue: that the calls use, and nobody else.
        runs: the calls by their names; a round has as many of each as take 2 ms, 200 at most.
    """

    def seconds(run: Callable[[], Any], calls: int) -> float:
        # A device that has just done something else, such as PyTorch's, starts later.
        run()
        queue.finish()
        start = time.perf_counter()
        for _ in range(calls):
            run()
        queue.finish()
        return (time.perf_counter() - start) / calls

    calls = {name: max(1, min(200, int(_SECONDS / seconds(run, 3)))) for name, run in runs.items()}
    times = [{name: seconds(run, calls[name]) for name, run in runs.items()} for _ in range(_ROUNDS)]
    return {name: 1e6 * np.array([each[name] for each in times]) for name in runs}


def one_version(reduction: Reduce, device: cl.Device) -> Reduce:
    """Make a reduction take one version at all sizes, and return it: what it would take for 2²⁴ elements.

    Args:
        reduction: untuned; of rows it is the version for 4096 of these.
        device: where.
    """
    operation = reduction._operation
    file = default_file(operation, reduction.source, device, is_pinned=False)
    sizes = {operation.length: _ROWS if operation.rows else _ROWS**2, operation.rows: _ROWS}
    reduction._files = (replace(file, tree=Leaf(answer(file.tree, sizes))),)
    return reduction


def best_place(context: cl.Context, better: str, mapped: str, arguments: str) -> ReductionKernel:
    """Return PyOpenCL's reduction to the best value with its index, in structures of the type `PLACED`.

    Args:
        context: with the device.
        better: "<" or ">", what the best value is to others; of equal ones the first counts.
        mapped: the value of element `i`, in OpenCL C.
        arguments: what that needs.
    """
    fields, declared = match_dtype_to_c_struct(context.devices[0], "placed", PLACED)
    fields = get_or_register_dtype("placed", fields)
    preamble = (
        f"{declared} placed at(float value, long place)"
        "{ placed found; found.value = value; found.place = place; return found; }"
        "placed best(placed a, placed b)"
        f"{{ return b.value {better} a.value || (b.value == a.value && b.place < a.place) ? b : a; }}"
    )
    worst = f"at({'-' if better == '>' else ''}INFINITY, LONG_MAX)"
    return ReductionKernel(context, fields, worst, "best(a, b)", f"at({mapped}, i)", arguments, preamble=preamble)


class CLBlast:
    """CLBlast's functions of floats on arrays of PyOpenCL's, in a queue.

    Raises:
        OSError: it isn't installed (Debian's libclblast1).
    """

    def __init__(self, queue: cl.CommandQueue) -> None:
        self._library = ctypes.CDLL("libclblast.so.1")
        self._queue = ctypes.c_void_p(queue.int_ptr)

    def __call__(self, name: str, *given: cl.array.Array | float) -> None:
        """Call a function, `("Saxpy", n, 2.0, x, 1, y, 1)`: an array is a buffer and an offset, an `int` a size."""
        words: list[Any] = []
        for each in given:
            if isinstance(each, cl.array.Array):
                words += [ctypes.c_void_p(each.base_data.int_ptr), ctypes.c_size_t(each.offset // 4)]
            else:
                words.append((ctypes.c_size_t if isinstance(each, int) else ctypes.c_float)(each))
        status = getattr(self._library, f"CLBlast{name}")(*words, ctypes.byref(self._queue), None)
        if status:
            raise RuntimeError(f"CLBlast{name}: error {status}")

    def product(self, m: cl.array.Array, v: cl.array.Array, result: cl.array.Array) -> cl.array.Array:
        """Multiply a matrix by a vector; return the result."""
        row_major, plain, (rows, width) = 101, 111, m.shape
        self("Sgemv", row_major, plain, rows, width, 1.0, m, width, v, 1, 0.0, result, 1)
        return result
