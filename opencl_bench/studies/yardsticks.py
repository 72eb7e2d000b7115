"""What others compute of the same: CLBlast, PyTorch, loopy, Halide; nothing of what isn't installed.

CLBlast comes as it is (Debian's libclblast1), PyTorch's products are cuBLAS' (TF32 off), loopy's is in tiles of
16 × 16 × 16 (`pip install loopy`). Halide's (`pip install halide`, schedules by hand) are compiled for
`host-opencl`. It opens the first device of a platform by itself, through the system's `libOpenCL.so`, `.so.1` or
the one in `LD_LIBRARY_PATH`: `prepare_loader` names the drivers for that one too, in `OCL_ICD_VENDORS`, and
`HL_OCL_PLATFORM_NAME` and `HL_OCL_DEVICE_TYPE` are set here, for one device in a process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl

from coarsen.opencl_bench.studies.turns import Way
from coarsen.tuning.workload.element_types import Array

Ways = Iterator[tuple[str, Way]]
Taps = Mapping[tuple[int, int], float]
# Modules without annotations, and what is theirs.
Theirs: TypeAlias = Any


def torch_on_gpu() -> Theirs:
    """Return PyTorch where it finds a GPU, else None."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def cublas(a: Array, b: Array) -> Ways:
    """Yield PyTorch's product of a matrix with another one or with a vector."""
    torch = torch_on_gpu()
    if torch is None:
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    # The strides of a transposed matrix are kept.
    there = [torch.from_numpy(each).cuda() for each in (a, b)]
    out = torch.matmul(*there)

    def run() -> object:
        torch.matmul(*there, out=out)
        # The queue that is waited for is not PyTorch's.
        return torch.cuda.synchronize

    yield "cublas", Way(run, lambda _: out.cpu().numpy())


class CLBlast:
    """CLBlast's functions in a queue. Raises OSError where it isn't installed."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self._library, self._queue = ctypes.CDLL("libclblast.so.1"), ctypes.c_void_p(queue.int_ptr)

    def __call__(self, name: str, *given: cl.MemoryObject | float) -> None:
        """Call a function, `("Saxpy", n, 2.0, x, 1, y, 1)`: a buffer is itself and no offset, an `int` a size."""
        words: list[Any] = []
        for each in given:
            if isinstance(each, int | float):
                words.append((ctypes.c_size_t if isinstance(each, int) else ctypes.c_float)(each))
            else:
                words += [ctypes.c_void_p(each.int_ptr), ctypes.c_size_t(0)]
        status = getattr(self._library, f"CLBlast{name}")(*words, ctypes.byref(self._queue), None)
        if status:
            raise RuntimeError(f"CLBlast's error {status}")

    def product(self, buffers: Sequence[Any], sizes: Sequence[int], *, is_transposed: bool = False) -> None:
        """Multiply, as `clblast` says."""
        row_major, plain, transposed, (a, b, c) = 101, 111, 112, buffers
        rows, inner, *columns = sizes
        if columns:
            words = row_major, plain, plain, rows, *columns, inner, 1.0, a, inner, b, *columns, 0.0, c, *columns
        else:
            how = transposed if is_transposed else plain
            words = row_major, how, rows, inner, 1.0, a, inner, b, 1, 0.0, c, 1
        self("Sgemm" if columns else "Sgemv", *words)


def clblast(
    queue: cl.CommandQueue, buffers: Sequence[Any], sizes: Sequence[int], *, is_transposed: bool = False
) -> Ways:
    """Yield CLBlast's product.

    Args:
        queue: where.
        buffers: a matrix, another one or a vector, and the result, in C's order.
        sizes: the matrix's rows and columns, and the other matrix's columns; those of the vector are left out.
        is_transposed: whether the transposed matrix is multiplied by the vector.
    """
    try:
        call = CLBlast(queue)
    except OSError:
        return
    shape = [sizes[0], sizes[2]] if len(sizes) > 2 else [sizes[1 if is_transposed else 0]]
    run = partial(call.product, buffers, sizes, is_transposed=is_transposed)
    yield "clblast", Way(run, lambda _: _contents(queue, buffers[2], shape))


def _contents(queue: cl.CommandQueue, buffer: cl.Buffer, shape: Sequence[int]) -> Array:
    found = np.empty(shape, np.float32)
    cl.enqueue_copy(queue, found, buffer)
    return found


def loopy_product(queue: cl.CommandQueue, buffers: Sequence[Any], sizes: Sequence[int]) -> Ways:
    """Yield loopy's product of two matrices; none of sizes that tiles don't divide. Arguments as of `clblast`."""
    try:
        import loopy
    except ImportError:
        return
    n, inner, m = sizes
    if any(size % 16 for size in sizes):
        return
    arrays = loopy.GlobalArg("a,b,c", np.float32, shape=loopy.auto)
    domain = "{[i,j,k]: 0<=i<n and 0<=j<m and 0<=k<l}"
    kernel = loopy.make_kernel(
        domain,
        "c[i,j] = sum(k, a[i,k]*b[k,j])",
        [arrays, loopy.ValueArg("n,m,l", np.int32)],
        lang_version=loopy.MOST_RECENT_LANGUAGE_VERSION,
    )
    kernel = loopy.fix_parameters(kernel, n=n, m=m, l=inner)
    kernel = loopy.split_iname(kernel, "i", 16, outer_tag="g.1", inner_tag="l.1")
    kernel = loopy.split_iname(kernel, "j", 16, outer_tag="g.0", inner_tag="l.0")
    kernel = loopy.split_iname(kernel, "k", 16)
    for array, names in (("a", ["k_inner", "i_inner"]), ("b", ["j_inner", "k_inner"])):
        outer = "i_outer,j_outer,k_outer"
        kernel = loopy.add_prefetch(kernel, array, names, fetch_outer_inames=outer, default_tag="l.auto")
    (built,) = cl.Program(queue.context, loopy.generate_code_v2(kernel).device_code()).build().all_kernels()
    run = partial(built, queue, (m, n), (16, 16), *buffers)
    yield "loopy", Way(run, lambda _: _contents(queue, buffers[2], (n, m)))


@cache
def _halide(platform: str, kind: str) -> Theirs:
    """Halide, told which device it opens; None, and a line on standard error, where it isn't installed."""
    os.environ.update(HL_OCL_PLATFORM_NAME=platform, HL_OCL_DEVICE_TYPE=kind)
    try:
        import halide
    except ImportError:
        print("Halide is not installed, and not measured", file=sys.stderr, flush=True)
        return None
    return halide


def _halide_on(queue: cl.CommandQueue) -> Theirs:
    kind = "gpu" if queue.device.type & cl.device_type.GPU else "cpu"
    return _halide(queue.device.platform.name, kind)


def _halide_way(
    hl: Theirs, function: Theirs, given: Sequence[Any], arrays: Sequence[Array], shape: Sequence[int]
) -> Way:
    """A function of Halide's, compiled, whose arrays stay on the device."""
    call, found = function.compile_to_callable(given, hl.Target("host-opencl")), np.zeros(shape, np.float32)
    *there, out = (hl.Buffer(each) for each in (*arrays, found))

    def run() -> object:
        call(*there, out)
        return out.device_sync

    def read(_: object) -> Array:
        out.copy_to_host()
        return found

    return Way(run, read)


def halide_products(queue: cl.CommandQueue, a: Array, b: Array) -> Ways:
    """Yield Halide's product of two matrices, with 1, 4 and 8 rows of a work-item's sums in registers."""
    hl = _halide_on(queue)
    if hl is None:
        return
    (n, inner), m = a.shape, b.shape[1]
    for rows in (1, 4, 8):
        left, right = (hl.ImageParam(hl.Float(32), 2, name) for name in "ab")
        j, i, bj, bi, tj, ti, row = map(hl.Var, ("j", "i", "bj", "bi", "tj", "ti", "row"))
        k = hl.RDom([(0, inner)], "k")
        sums, out = hl.Func("sums"), hl.Func("out")
        sums[j, i] = hl.f32(0)
        sums[j, i] += left[k.x, i] * right[j, k.x]
        out[j, i] = sums[j, i]
        out.bound(j, 0, m).bound(i, 0, n)
        _blocks(hl, out, (j, i, bj, bi, tj, ti, row), (16, 8), rows)
        sums.compute_at(out, tj).unroll(i)
        sums.update().reorder(j, i, k.x).unroll(i)
        yield f"halide, {rows} rows", _halide_way(hl, out, [left, right], [a, b], (n, m))


def _blocks(hl: Theirs, out: Theirs, names: Sequence[Any], group: Sequence[int], rows: int) -> None:
    """Give each work-item of a group some rows of one column."""
    j, i, bj, bi, tj, ti, row = names
    guard = hl.TailStrategy.GuardWithIf
    out.tile(j, i, bj, bi, tj, ti, group[0], group[1] * rows, guard).split(ti, ti, row, rows)
    out.reorder(row, tj, ti, bj, bi).unroll(row).gpu_blocks(bj, bi).gpu_threads(tj, ti)


def halide_blur(queue: cl.CommandQueue, image: Array, across: Taps, down: Taps) -> Ways:
    """Yield Halide's two stencils, one after the other, the first one's tile in local memory.

    Args:
        queue: where.
        image: its rows and columns; outside of it is 0.
        across: the weights of the first one's neighbours, by columns and rows that they are away.
        down: those of the second one's.
    """
    hl = _halide_on(queue)
    if hl is None:
        return
    height, width = image.shape
    for rows in (1, 4):
        source = hl.ImageParam(hl.Float(32), 2, "source")
        x, y, bx, by, tx, ty, row, other = map(hl.Var, ("x", "y", "bx", "by", "tx", "ty", "row", "other"))
        first, out = hl.Func("first"), hl.Func("out")
        around = hl.BoundaryConditions.constant_exterior(source, hl.f32(0))
        is_inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        first[x, y] = hl.select(is_inside, _weighted(hl, around, x, y, across), hl.f32(0))
        out[x, y] = _weighted(hl, first, x, y, down)
        _blocks(hl, out, (x, y, bx, by, tx, ty, row), (32, 8), rows)
        first.compute_at(out, bx).split(y, y, other, rows + 1).gpu_threads(x, y)
        yield f"halide, {rows} rows", _halide_way(hl, out, [source], [image], image.shape)


def _weighted(hl: Theirs, function: Theirs, x: Theirs, y: Theirs, taps: Taps) -> Theirs:
    terms = [hl.f32(weight) * function[x + dx, y + dy] for (dx, dy), weight in taps.items()]
    return sum(terms[1:], terms[0])
