"""What others compute of the same: CLBlast, PyTorch, JAX, loopy, Halide. What is missing is said and left out.

CLBlast comes as it is (Debian's libclblast1), PyTorch's products are cuBLAS' (TF32 off), loopy's is in tiles of
16 × 16 × 16 (`pip install loopy`). Halide's (`pip install halide`, schedules by hand) are compiled for
`host-opencl`. It opens the first device of a platform by itself, through the system's `libOpenCL.so`, `.so.1` or
the one in `LD_LIBRARY_PATH`: `prepare_loader` names the drivers for that one too, in `OCL_ICD_VENDORS`, and
`HL_OCL_PLATFORM_NAME` and `HL_OCL_DEVICE_TYPE` are set here, for one device in a process.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl

from coarsen.opencl_bench.studies.turns import Way, goes_on
from coarsen.tuning.workload.element_types import Array

Ways = Iterator[tuple[str, Way]]
Taps = Mapping[tuple[int, int], float]
# Modules without annotations, and what is theirs.
Theirs: TypeAlias = Any


def installed(**makers: Callable[[], Ways]) -> Ways:
    """Yield the ways of those that are installed."""
    for name, make in makers.items():
        with goes_on(name):
            yield from make()


def torch_on_gpu() -> Theirs:
    """Return PyTorch. Raises ImportError where it isn't installed or finds no GPU."""
    import torch

    if not torch.cuda.is_available():
        raise ImportError("PyTorch finds no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch


def cublas(a: Array, b: Array) -> Ways:
    """Yield PyTorch's product of a matrix with another one or with a vector."""
    torch = torch_on_gpu()
    # The strides of a transposed matrix are kept.
    there = [torch.from_numpy(each).cuda() for each in (a, b)]
    out = torch.matmul(*there)

    def run() -> object:
        torch.matmul(*there, out=out)
        # The queue that is waited for is not PyTorch's.
        return torch.cuda.synchronize

    yield "cublas", Way(run, lambda _: out.cpu().numpy())


def jax_compiled(queue: cl.CommandQueue, compute: Callable[[Theirs], Theirs], values: Array) -> Ways:
    """Yield what `jax.jit` makes of a function of an array, on a device of the queue's kind."""
    import jax

    kind = "gpu" if queue.device.type & cl.device_type.GPU else "cpu"
    try:
        there = jax.device_put(values, jax.devices(kind)[0])
    except RuntimeError as error:
        raise ImportError(str(error)) from None
    compiled, waiting = jax.jit(compute), list[Theirs]()

    def finish() -> None:
        jax.block_until_ready(waiting)
        waiting.clear()

    def run() -> object:
        waiting.append(compiled(there))
        return finish

    yield "jax.jit", Way(run, lambda _: np.asarray(compiled(there)))


class CLBlast:
    """CLBlast's functions in a queue. Raises ImportError where it isn't installed."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        try:
            self._library = ctypes.CDLL("libclblast.so.1")
        except OSError as error:
            raise ImportError(str(error)) from None
        self._queue = ctypes.c_void_p(queue.int_ptr)

    def __call__(self, name: str, *given: Any) -> None:  # noqa: ANN401 (a number or a buffer)
        """Call a function, `("Saxpy", n, 2.0, x, 1, y, 1)`: a buffer is itself and no offset, an `int` a size."""
        kinds = {int: ctypes.c_size_t, float: ctypes.c_float}
        words: list[Any] = []
        for each in given:
            kind = kinds.get(type(each))
            words += [kind(each)] if kind else [ctypes.c_void_p(each.int_ptr), ctypes.c_size_t(0)]
        status = getattr(self._library, f"CLBlast{name}")(*words, ctypes.byref(self._queue), None)
        if status:
            raise RuntimeError(f"CLBlast's error {status}")

    def product(self, buffers: Sequence[Any], sizes: Sequence[int], *, is_transposed: bool = False) -> None:
        """Multiply; the arguments are those of `clblast`."""
        row_major, plain, transposed, (a, b, c) = 101, 111, 112, buffers
        rows, inner, *columns = sizes
        if columns:
            how = row_major, plain, plain, rows, *columns, inner
            self("Sgemm", *how, 1.0, a, inner, b, *columns, 0.0, c, *columns)
        else:
            how = row_major, transposed if is_transposed else plain, rows, inner
            self("Sgemv", *how, 1.0, a, inner, b, 1, 0.0, c, 1)


def clblast(
    queue: cl.CommandQueue, buffers: Sequence[Any], sizes: Sequence[int], *, is_transposed: bool = False
) -> Ways:
    """Yield CLBlast's product.

    Args:
        queue: where.
        buffers: a matrix, another one or a vector, and the result, in C's order.
        sizes: the matrix's rows and columns, and the other matrix's columns; those of a vector are left out.
        is_transposed: whether the transposed matrix is multiplied by the vector.
    """
    shape = [sizes[0], sizes[2]] if len(sizes) > 2 else [sizes[1 if is_transposed else 0]]
    run = partial(CLBlast(queue).product, buffers, sizes, is_transposed=is_transposed)
    yield "clblast", Way(run, lambda _: _contents(queue, buffers[2], shape))


def _contents(queue: cl.CommandQueue, buffer: cl.Buffer, shape: Sequence[int]) -> Array:
    found = np.empty(shape, np.float32)
    cl.enqueue_copy(queue, found, buffer)
    return found


def loopy_product(queue: cl.CommandQueue, buffers: Sequence[Any], sizes: Sequence[int]) -> Ways:
    """Yield loopy's product of two matrices; none of sizes that tiles don't divide. Arguments as of `clblast`."""
    import loopy

    n, inner, m = sizes
    if any(size % 16 for size in sizes):
        return
    arrays = [loopy.GlobalArg("a,b,c", np.float32, shape=loopy.auto), loopy.ValueArg("n,m,l", np.int32)]
    domain, version = "{[i,j,k]: 0<=i<n and 0<=j<m and 0<=k<l}", loopy.MOST_RECENT_LANGUAGE_VERSION
    kernel = loopy.make_kernel(domain, "c[i,j] = sum(k, a[i,k]*b[k,j])", arrays, lang_version=version)
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


def _halide(queue: cl.CommandQueue) -> Theirs:
    """Halide, told which device it opens."""
    kind = "gpu" if queue.device.type & cl.device_type.GPU else "cpu"
    os.environ.update(HL_OCL_PLATFORM_NAME=queue.device.platform.name, HL_OCL_DEVICE_TYPE=kind)
    import halide

    return halide


def _in_blocks(hl: Theirs, out: Theirs, given: Theirs, group: Sequence[int], rows: int, arrays: Theirs) -> Way:
    """A function of columns and rows, by work-items that have some rows of a column; arrays stay on the device."""
    (x, y), (bx, by, tx, ty, row) = out.args(), map(hl.Var, ("bx", "by", "tx", "ty", "row"))
    guarded = hl.TailStrategy.GuardWithIf
    out.split(x, bx, tx, group[0], guarded).split(y, by, ty, group[1] * rows, guarded).split(ty, ty, row, rows)
    out.reorder(row, tx, ty, bx, by).unroll(row)
    call = out.gpu_blocks(bx, by).gpu_threads(tx, ty).compile_to_callable(given, hl.Target("host-opencl"))
    buffers = [hl.Buffer(each) for each in arrays]

    def run() -> object:
        call(*buffers)
        return buffers[-1].device_sync

    def read(_: object) -> Theirs:
        buffers[-1].copy_to_host()
        return arrays[-1]

    return Way(run, read)


def halide_products(queue: cl.CommandQueue, a: Array, b: Array) -> Ways:
    """Yield Halide's product of two matrices, with 1, 4 and 8 rows of a work-item's sums in registers."""
    hl = _halide(queue)
    n, inner, m = *a.shape, b.shape[1]
    for rows in (1, 4, 8):
        left, right = (hl.ImageParam(hl.Float(32), 2, name) for name in "ab")
        j, i, k = hl.Var("j"), hl.Var("i"), hl.RDom([(0, inner)], "k")
        sums, out = hl.Func("sums"), hl.Func("out")
        sums[j, i] = hl.f32(0)
        sums[j, i] += left[k.x, i] * right[j, k.x]
        out[j, i] = sums[j, i]
        sums.compute_at(out, hl.Var("tx")).unroll(i).update().reorder(j, i, k.x).unroll(i)
        out.bound(j, 0, m).bound(i, 0, n)
        arrays = [a, b, np.zeros((n, m), np.float32)]
        yield f"halide, {rows} rows", _in_blocks(hl, out, [left, right], (16, 8), rows, arrays)


def halide_blur(queue: cl.CommandQueue, image: Array, across: Taps, down: Taps) -> Ways:
    """Yield Halide's two stencils, one after the other, with the first one's tile in local memory.

    Args:
        queue: where.
        image: its rows and columns; outside of it is 0.
        across: the weights of the first one's neighbours, by columns and rows that they are away.
        down: those of the second one's.
    """
    hl = _halide(queue)

    def weighed(function: Theirs, taps: Taps) -> Theirs:
        terms = [hl.f32(weight) * function[x + dx, y + dy] for (dx, dy), weight in taps.items()]
        return sum(terms[1:], terms[0])

    x, y, (height, width) = hl.Var("x"), hl.Var("y"), image.shape
    for rows in (1, 4):
        source, first, out = hl.ImageParam(hl.Float(32), 2, "source"), hl.Func("first"), hl.Func("out")
        around = hl.BoundaryConditions.constant_exterior(source, hl.f32(0))
        is_inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        first[x, y] = hl.select(is_inside, weighed(around, across), hl.f32(0))
        out[x, y] = weighed(first, down)
        first.compute_at(out, hl.Var("bx")).split(y, y, hl.Var("other"), rows + 1).gpu_threads(x, y)
        arrays = [image, np.zeros_like(image)]
        yield f"halide, {rows} rows", _in_blocks(hl, out, [source], (32, 8), rows, arrays)
