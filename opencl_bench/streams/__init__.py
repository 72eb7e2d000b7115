"""The programs of the paper on streams, written with `coarsen.stream` and `coarsen.fuse`: read them, run them.

    python -m coarsen.opencl_bench.streams tmv -d intel --size 300 4000
    python -m coarsen.opencl_bench.streams -d intel --drawn 5              every program at 5 drawn sizes

| program | module | what it shows |
| --- | --- | --- |
| `tmv`, `scalar-products` | `products` | a `Reduce` of rows |
| `convolution`, `five-point` | `convolution` | pipelines of a `Stencil` or two |
| `ocean` | `ocean` | two stencils of one image in one kernel |
| `monte-carlo` | `monte_carlo` | a `Reduce` to two sums side by side |
| `bicgstab` | `bicgstab` | `Reduce` and fused kernels in a solver whose scalars stay on the device |
| `svm` | `svm` | `Reduce.argmin`, distances to two rows at once, a map in place |

After Samadi, Hormati, Mehrara, Lee, Mahlke, "Adaptive Input-aware Compilation for Graphics Engines" (PLDI 2012),
section 5. A module has a function for each of its programs, which returns a `Problem`. What a program is compared
with, one kernel for each operation as one writes them first, is in `plain.cl`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError

# The module of each program.
PROGRAMS: Mapping[str, str] = {
    **dict.fromkeys(("tmv", "scalar-products"), "products"),
    **dict.fromkeys(("convolution", "five-point"), "convolution"),
    "ocean": "ocean",
    "monte-carlo": "monte_carlo",
    "bicgstab": "bicgstab",
    "svm": "svm",
}
# What can be switched off: several operations as one; a version for each size.
PARTS = ("fusion", "choice")
Run: TypeAlias = Callable[[], Any]


@dataclass(frozen=True)
class Problem:
    """A program at one size on a device: how to run it, and what has to come of it.

    Attributes:
        runs: what is timed: `coarsen`; `plain`, with PyOpenCL alone; others beside them.
        wanted: the answer of NumPy or another library, numbers.
        close: how far from it an answer may be, each number for itself.
        answers: what returns the answer of each run, an array of NumPy's.
        steps: those of an iterative program in a run.
    """

    runs: Mapping[str, Run]
    wanted: NDArray[Any]
    close: NDArray[Any] | float
    answers: Mapping[str, Run]
    steps: int = 1

    def error(self, name: str) -> float:
        """Return how far the answer of a run is from the right one, 1 for as far as it may be."""
        found = self.answers[name]().astype(np.float64).reshape(self.wanted.shape)
        # What is no number is wrong.
        return float(np.nan_to_num(np.abs(found - self.wanted) / self.close, nan=np.inf).max(initial=0))


def answers(
    runs: Mapping[str, Run], results: Mapping[str, Sequence[Any]], read: Callable[[Any], Any] = np.concatenate
) -> dict[str, Run]:
    """Return what returns the answers of runs that leave them in arrays.

    Args:
        runs: by their names.
        results: the arrays of each, PyOpenCL's.
        read: makes the answer of NumPy's arrays; one after the other where it is left out.
    """

    def answer(name: str) -> Any:  # noqa: ANN401 (an array)
        runs[name]()
        return read([each.get() for each in results[name]])

    return {name: partial(answer, name) for name in runs}


@dataclass(frozen=True)
class Program:
    """A program of any size.

    Attributes:
        make: the program of a queue, its sizes, and what is switched off.
        sizes: their names.
        usual: those that it has unless others are asked for.
        bounds: of each, the least and the most that is drawn.
        elements: the most that drawn sizes have as a product.
    """

    make: Callable[[cl.CommandQueue, Sequence[int], Collection[str]], Problem]
    sizes: tuple[str, ...]
    usual: tuple[int, ...]
    bounds: tuple[tuple[int, int], ...]
    elements: int

    def problem(self, queue: cl.CommandQueue, size: Sequence[int], without: Collection[str] = ()) -> Problem:
        """Return the program at a size. Raises InvalidInputError for another number of sizes, or none of them."""
        if len(size) != len(self.sizes) or min(size) < 1:
            raise InvalidInputError(f"its size is {' and '.join(self.sizes)}, each at least 1")
        return self.make(queue, size, without)

    def drawn(self, generator: np.random.Generator) -> tuple[int, ...]:
        """Return sizes, each octave as likely as another, of which none is a power of two."""
        while True:
            found = tuple(int(2 ** generator.uniform(*np.log2(each))) for each in self.bounds)
            if np.prod(found) <= self.elements and all(each & (each - 1) for each in found):
                return found


def found(name: str) -> Program:
    """Return a program by its name."""
    program: Program = importlib.import_module(f"{__name__}.{PROGRAMS[name]}").PROGRAMS[name]
    return program
