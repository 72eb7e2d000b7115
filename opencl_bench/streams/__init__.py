"""The programs of the paper on streams, written with `coarsen.stream` and `coarsen.fuse`: read them, run them.

    python -m coarsen.opencl_bench.streams tmv -d intel --size 300 4000
    python -m coarsen.opencl_bench.streams -d intel --drawn 5              every program at 5 drawn sizes

| program | module | what it shows |
| --- | --- | --- |
| `tmv`, `scalar-products` | `products` | a `Reduce` of rows |
| `convolution`, `five-point` | `convolution` | pipelines of a `Stencil` or two |
| `ocean` | `convolution` | two stencils of one image in one kernel |
| `monte-carlo` | `monte_carlo` | a `Reduce` to two sums side by side |
| `bicgstab` | `bicgstab` | `Reduce` and fused kernels in a solver whose scalars stay on the device |
| `svm` | `svm` | `Reduce.argmin`, distances to two rows at once, a map in place |

After Samadi, Hormati, Mehrara, Lee, Mahlke, "Adaptive Input-aware Compilation for Graphics Engines" (PLDI 2012),
section 5. What a program is compared with, one kernel for each operation as one writes them first, is in
`plain.cl`. For developers and readers, in a clone; not part of the installed package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
from pyopencl.cltypes import float2

from coarsen.dispatch.tree import answer
from coarsen.opencl_bench.studies.reductions import fixed
from coarsen.opencl_bench.studies.turns import Run, Way
from coarsen.stream.reduce import Reduce
from coarsen.stream.reduction_choice import default_file
from coarsen.stream.versions import LOCAL_SIZES

# What can be switched off: several operations as one; a version for each size.
PARTS = ("fusion", "choice")
Sizes = Sequence[int]
Without = Collection[str]


@dataclass(frozen=True)
class Problem:
    """A program at one size on a device.

    Attributes:
        ways: to run it: `coarsen`; `plain`, with PyOpenCL alone; others beside them.
        wanted: the answer of NumPy or another library, numbers.
        close: how far from it an answer may be, each number for itself.
        steps: those of an iterative program in a run.
    """

    ways: Mapping[str, Way]
    wanted: Any
    close: Any
    steps: int = 1


@dataclass(frozen=True)
class Program:
    """A program of any size.

    Attributes:
        make: the program of a queue, its sizes, and what is switched off.
        usual: the sizes that it has unless others are asked for, by their names.
        bounds: of each, the least and the most that is drawn.
        elements: the most that drawn sizes have as a product.
    """

    make: Callable[[cl.CommandQueue, Sizes, Without], Problem]
    usual: Mapping[str, int]
    bounds: tuple[tuple[int, int], ...]
    elements: int

    def drawn(self, generator: np.random.Generator) -> tuple[int, ...]:
        """Return sizes, each octave as likely as another, of which none is a power of two."""
        while True:
            found = tuple(int(2 ** generator.uniform(*np.log2(each))) for each in self.bounds)
            if np.prod(found) <= self.elements and all(each & (each - 1) for each in found):
                return found


def chosen(reduction: Reduce, queue: cl.CommandQueue, without: Without) -> Reduce:
    """Return a reduction; without choice, changed to have one version: that for 4096 rows of 4096, or for 2²⁴."""
    if "choice" not in without:
        return reduction
    length, *rows = reduction.sizes
    sizes = {length: 4096, rows[0]: 4096} if rows else {length: 1 << 24}
    file = default_file(reduction._operation, reduction.source, queue.device, is_pinned=False)
    return fixed(reduction, file.versions[answer(file.tree, sizes)], queue.device)


@cache
def plain_program(context: cl.Context) -> cl.Program:
    """Return the kernels of `plain.cl`, built."""
    text = Path(__file__).with_name("plain.cl").read_text(encoding="utf-8")
    built: cl.Program = cl.Program(context, text).build()
    return built


def plain(queue: cl.CommandQueue, kernel: str, size: Sizes, *given: Any, local: int = 0) -> Run:  # noqa: ANN401
    """Return a launch of a kernel of `plain.cl`.

    Args:
        queue: where.
        kernel: its name.
        size: the work-items.
        given: what it is passed: arrays of PyOpenCL's, an `int`, a `float`.
        local: the work-items of a work-group that it demands; 0 for whole groups of a usual size, of which the
            kernel, which is passed `size` first, leaves out what is beyond.
    """
    kinds = {int: np.int32, float: np.float32}
    first = () if local else (int(each) for each in size)
    passed = [each.data if hasattr(each, "data") else kinds[type(each)](each) for each in (*first, *given)]
    made = cl.Kernel(plain_program(queue.context), kernel)
    return partial(made, queue, *((tuple(size), (local,)) if local else whole(size)), *passed)


def whole(size: Sizes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the global and the local size of a launch in whole work-groups, as large as those of pipelines."""
    group = tuple(map(int, LOCAL_SIZES[len(size)]))
    return tuple(-(-each // own) * own for each, own in zip(size, group, strict=True)), group


def as_vectors(array: Any) -> Any:  # noqa: ANN401 (of PyOpenCL's, whose types are unfinished)
    """Return an array of floats as one of `float2`."""
    return array.view(float2)


def left_in(arrays: Sequence[Any], *runs: Run, read: Callable[[list[Any]], Any] = np.concatenate) -> Way:
    """Return a way of one run after the other, which leave the answer in arrays.

    Args:
        arrays: PyOpenCL's.
        runs: in their order.
        read: makes the answer of the arrays, as NumPy's; one after the other where it is left out.
    """

    def run() -> None:
        for each in runs:
            each()

    return Way(run, lambda _: read([each.get() for each in arrays]), 0)
