"""The programs of the paper on streams, written with `coarsen.stream` and `coarsen.fuse`: read them, run them.

    python -m coarsen.opencl_bench.streams tmv -d intel --size 300 4000
    python -m coarsen.opencl_bench.streams -d intel --csv --drawn 5        every program at 5 drawn sizes

| program | module | what it shows |
| --- | --- | --- |
| `tmv`, `scalar-products` | `products` | a `Reduce` of rows |
| `convolution`, `five-point` | `convolution` | pipelines of a `Stencil` or two |
| `ocean` | `ocean` | two stencils of one image in one kernel |
| `monte-carlo` | `monte_carlo` | a `Reduce` to two sums side by side |
| `bicgstab` | `bicgstab` | `Reduce` and fused kernels in a solver whose scalars stay on the device |
| `svm` | `svm` | `Reduce.argmin`, distances to two rows at once, a map in place |

After Samadi, Hormati, Mehrara, Lee, Mahlke, "Adaptive Input-aware Compilation for Graphics Engines" (PLDI 2012),
section 5. Each module has a factory for each of its programs, which returns a `Problem`, and is read from its top.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError

# The module of each program.
PROGRAMS: Mapping[str, str] = {
    "tmv": "products",
    "scalar-products": "products",
    "convolution": "convolution",
    "five-point": "convolution",
    "ocean": "ocean",
    "monte-carlo": "monte_carlo",
    "bicgstab": "bicgstab",
    "svm": "svm",
}
# What can be switched off: what is one launch, or one reading, is several; one version is taken at all sizes.
PARTS = ("fusion", "choice")
Run: TypeAlias = Callable[[], Any]


@dataclass(frozen=True)
class Problem:
    """A program at one size on a device: how to run it, and what has to come of it.

    Attributes:
        runs: what is timed, by names: `coarsen`; `plain`, the same with PyOpenCL alone; others beside them.
        wanted: the answer as NumPy has it, or another library.
        close: how far answers may be from it, each number for itself.
        steps: those of an iterative program in a run.
        answers: by the names of runs what returns the answer, where a run does not.
    """

    runs: Mapping[str, Run]
    wanted: NDArray[Any]
    close: NDArray[Any] | float
    steps: int = 1
    answers: Mapping[str, Run] = field(default_factory=dict)

    def error(self, name: str) -> float:
        """Return how far the answer of a run is from the right one, 1 for as far as it may be."""
        found = self.answers.get(name, self.runs[name])()
        found = found.get() if hasattr(found, "get") else np.asarray(found)
        numbers = found.view(np.float32) if found.dtype.names else found
        if numbers.size != self.wanted.size:
            raise ValueError(f"{name} has {numbers.size} numbers, not {self.wanted.size}")
        off = np.abs(numbers.astype(np.float64).reshape(self.wanted.shape) - self.wanted) / self.close
        # What is no number is wrong.
        return float(np.nan_to_num(off, nan=np.inf).max(initial=0))


@dataclass(frozen=True)
class Program:
    """A program of any size.

    Attributes:
        sizes: their names.
        usual: those that it has unless others are asked for.
        least: of each, those that are drawn.
        most: likewise.
        elements: the most that the sizes may have as a product.
        make: the factory: of a queue, the sizes and what is switched off.
    """

    sizes: tuple[str, ...]
    usual: tuple[int, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    elements: int
    make: Callable[[cl.CommandQueue, Sequence[int], Collection[str]], Problem]

    def problem(self, queue: cl.CommandQueue, size: Sequence[int], without: Collection[str] = ()) -> Problem:
        """Return the program at a size. Raises InvalidInputError for another number of sizes, or none of them."""
        if len(size) != len(self.sizes) or min(size) < 1:
            raise InvalidInputError(f"its size is {' and '.join(self.sizes)}, each at least 1")
        return self.make(queue, size, without)

    def drawn(self, generator: np.random.Generator) -> tuple[int, ...]:
        """Return sizes, each octave as likely as another, of which none is a power of two."""
        while True:
            bounds = np.log2(self.least), np.log2(self.most)
            found = tuple(int(each) for each in 2 ** generator.uniform(*bounds))
            if np.prod(found, dtype=np.int64) <= self.elements and all(each & (each - 1) for each in found):
                return found


def found(name: str) -> Program:
    """Return a program by its name."""
    program: Program = importlib.import_module(f"{__name__}.{PROGRAMS[name]}").PROGRAMS[name]
    return program
