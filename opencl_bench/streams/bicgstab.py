"""BiCGSTAB, the stabilised method of biconjugate gradients, for dense systems A x = b.

A step is eleven operations on vectors (van der Vorst, "Bi-CGSTAB", 1992); r̂ stays the first residual:

    1 v = A p      2 r̂·v      3 r -= (ρ / r̂·v) v      4 t = A r      5 t·r      6 t·t      ω = t·r / t·t
    7 x += (ρ / r̂·v) p + ω r  8 r -= ω t              9 ρ = r̂·r     10 r·r     11 p = r + β (p - ω v)

Without fusion these are eleven launches. With it, 5 and 6 are one `Reduce` to a `float2`, so are 9 and 10, and 7
and 8 are one kernel by `coarsen.fuse`: eight. A reduction of large vectors takes a launch more.
Scalars stay on the device: kernels read ρ, r̂·v, t·r and t·t from memory, and the host reads r·r alone, to stop.
Kernels are fused beforehand, since the steps are always the same; `Program.together` fuses launches as they come,
and looks at each region anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.cltypes import float2

import coarsen
from coarsen.opencl_bench.streams import Problem, Program, Sizes, Without, as_vectors, chosen, plain_program, whole
from coarsen.opencl_bench.studies.reductions import ours as reduction
from coarsen.opencl_bench.studies.turns import Run, Way, goes_on
from coarsen.opencl_bench.studies.yardsticks import CLBlast
from coarsen.stream import Reduce

SOURCE = Path(__file__).with_name("bicgstab.cl")
ARRAYS = "const float *a, const float *b"


def both() -> Reduce:
    """Return the scalar products a · b and b · b side by side."""
    return Reduce("a + b", identity="0", map="(float2)(a[i] * b[i], b[i] * b[i])", arguments=ARRAYS, dtype=float2)


class Solver:
    """A solver of systems with one matrix.

    Args:
        queue: where, in order.
        matrix: n × n floats on the device.
        without: what is switched off, of `fusion` and `choice`.

    Attributes:
        x: the solution so far.
        steps: the launches of a step.
        reductions: those among them, by what they compute.
    """

    def __init__(self, queue: cl.CommandQueue, matrix: cl.array.Array, without: Without = ()) -> None:
        self._queue, n = queue, matrix.shape[0]
        self._right, p, r, t, v, x = (cl.array.zeros(queue, n, np.float32) for _ in range(6))
        norms, rv, stable = (cl.array.zeros(queue, size, np.float32) for size in (2, 1, 2))
        named = {"norms": norms, "rv": rv, "stable": stable, "p": p, "r": r, "t": t, "v": v, "x": x}
        self.x, self._residuals, self._norms = x, (r, p), norms
        made = {"product": reduction("tmv"), "dot": reduction("dot"), "both": both()}
        self.reductions = {name: chosen(each, queue, without) for name, each in made.items()}

        def launch(source: str, name: str, arguments: Sequence[str]) -> Run:
            kernel = getattr(coarsen.Program(queue.context, source).build(), name)
            return partial(kernel, queue, (n,), None, *(named[each].data for each in arguments))

        def reduce(name: str, *given: cl.array.Array, out: cl.array.Array) -> Run:
            return partial(self.reductions[name], queue, *given, out=out)

        def dots(one: cl.array.Array, other: cl.array.Array, out: cl.array.Array) -> list[Run]:
            """Return what computes one · other and other · other, at one reading or at two."""
            if "fusion" in without:
                return [reduce("dot", one, other, out=out[:1]), reduce("dot", other, other, out=out[1:])]
            return [reduce("both", one, other, out=as_vectors(out))]

        source = SOURCE.read_text(encoding="utf-8")
        update = coarsen.fuse(source, "solution", "residual")
        self._products = dots(self._right, r, norms)
        self.steps = [
            reduce("product", matrix, p, out=v),
            reduce("dot", self._right, v, out=rv),
            launch(source, "half_step", ("norms", "rv", "v", "r")),
            reduce("product", matrix, r, out=t),
            *dots(r, t, stable),
            launch(update.opencl_c, update.kernel.name, update.kernel.argument_names),
            *self._products,
            launch(source, "direction", ("norms", "rv", "stable", "r", "v", "p")),
        ]
        if "fusion" in without:
            self.steps[6:7] = [
                launch(source, "solution", ("norms", "rv", "stable", "p", "r", "x")),
                launch(source, "residual", ("stable", "t", "r")),
            ]

    def start(self, right: cl.array.Array) -> None:
        """Begin anew for a right-hand side, n floats, at x = 0."""
        for each in (self._right, *self._residuals):
            each[:] = right
        self.x.fill(0)
        for launch in self._products:
            launch()

    def step(self) -> None:
        """Do a step; it does not wait for the device."""
        for launch in self.steps:
            launch()

    def solve(self, right: cl.array.Array, tolerance: float = 1e-6, most: int = 1000) -> int:
        """Solve for a right-hand side, and return how many steps it took; the solution is `x`.

        Args:
            right: n floats.
            tolerance: the largest residual, as a share of the right-hand side, both by their lengths.
            most: steps; if it takes them all, the residual may be larger.

        Raises:
            ArithmeticError: the square of the residual's length is too large or too small for a float.
        """
        self.start(right)
        first = norm = float(self._norms.get()[1])
        enough = tolerance**2 * first
        if 0 < enough < np.finfo(np.float32).tiny or (first == 0 and right.get().any()):
            raise ArithmeticError(f"r·r is {first} at the start, and floats have no {enough}: scale the system")
        for number in range(most):
            if not math.isfinite(norm):
                raise ArithmeticError(f"r·r is {norm} after {number} steps: scale the system, or correct it")
            if norm <= enough:
                return number
            self.step()
            norm = float(self._norms.get()[1])
        return most


class _ByArrays:
    """Operations on vectors as `pyopencl.array` has them, and a kernel for products."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self._queue, self._rows = queue, cast(Any, cl.Kernel(plain_program(queue.context), "rows"))

    def product(self, m: cl.array.Array, v: cl.array.Array, to: cl.array.Array) -> None:
        self._rows(self._queue, *whole(m.shape[:1]), *map(np.int32, m.shape), m.data, v.data, to.data)

    def dot(self, one: cl.array.Array, other: cl.array.Array) -> float:
        return float(cl.array.dot(one, other, queue=self._queue).get())

    def add(self, factor: float, one: cl.array.Array, to: cl.array.Array) -> None:
        to += np.float32(factor) * one

    def scale(self, factor: float, to: cl.array.Array) -> None:
        to *= np.float32(factor)


class _ByCLBlast:
    """The same as CLBlast's functions."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self._call, self._found = CLBlast(queue), cl.array.zeros(queue, 1, np.float32)

    def product(self, m: cl.array.Array, v: cl.array.Array, to: cl.array.Array) -> None:
        self._call.product((m.base_data, v.base_data, to.base_data), m.shape)

    def dot(self, one: cl.array.Array, other: cl.array.Array) -> float:
        self._call("Sdot", one.size, self._found.base_data, one.base_data, 1, other.base_data, 1)
        return float(self._found.get()[0])

    def add(self, factor: float, one: cl.array.Array, to: cl.array.Array) -> None:
        self._call("Saxpy", one.size, factor, one.base_data, 1, to.base_data, 1)

    def scale(self, factor: float, to: cl.array.Array) -> None:
        self._call("Sscal", to.size, factor, to.base_data, 1)


def by_calls(calls: _ByArrays | _ByCLBlast, matrix: cl.array.Array, right: cl.array.Array, steps: int) -> Any:  # noqa: ANN401
    """Do so many steps by calls of a library, one operation each, and return the solution, an array.

    Scalars go through the host, where these libraries take them from.
    """
    r, p = right.copy(), right.copy()
    v, t, x = (cl.array.zeros_like(right) for _ in range(3))
    rho = calls.dot(right, r)
    for _ in range(steps):
        calls.product(matrix, p, v)
        alpha = _ratio(rho, calls.dot(right, v))
        calls.add(-alpha, v, r)
        calls.product(matrix, r, t)
        omega = _ratio(calls.dot(t, r), calls.dot(t, t))
        calls.add(alpha, p, x)
        calls.add(omega, r, x)
        calls.add(-omega, t, r)
        old, rho = rho, calls.dot(right, r)
        calls.add(-omega, v, p)
        calls.scale(_ratio(rho, old) * _ratio(alpha, omega), p)
        calls.add(1.0, r, p)
    return x


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


_STEPS = 10


def system(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return ten steps for a system of `size` equations; its matrix is such that they solve it."""
    (n,) = size
    draw = np.random.default_rng(n)
    matrix = (np.eye(n) + draw.uniform(-0.3, 0.3, (n, n)) / np.sqrt(n)).astype(np.float32)
    right = draw.uniform(-1, 1, n).astype(np.float32)
    own, given = cl.array.to_device(queue, matrix), cl.array.to_device(queue, right)
    solver = Solver(queue, own, without)

    def ours() -> cl.array.Array:
        solver.start(given)
        for _ in range(_STEPS):
            solver.step()
        return solver.x

    ways = {"coarsen": Way(ours), "plain": Way(partial(by_calls, _ByArrays(queue), own, given, _STEPS))}
    with goes_on("clblast"):
        ways["clblast"] = Way(partial(by_calls, _ByCLBlast(queue), own, given, _STEPS))
    wanted = np.linalg.solve(matrix.astype(np.float64), right)
    return Problem(ways, wanted, 1e-4 * np.abs(wanted).max(), _STEPS)


PROGRAMS = {"bicgstab": Program(system, {"n": 500}, ((64, 4096),), 4096)}
