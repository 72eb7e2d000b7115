"""BiCGSTAB, the stabilised method of biconjugate gradients, for dense systems A x = b.

A step is eleven operations on vectors (van der Vorst, "Bi-CGSTAB", 1992); r̂ stays the first residual:

    1 v = A p      2 r̂·v      3 r -= (ρ / r̂·v) v      4 t = A r      5 t·r      6 t·t      ω = t·r / t·t
    7 x += (ρ / r̂·v) p + ω r  8 r -= ω t              9 ρ = r̂·r     10 r·r     11 p = r + β (p - ω v)

Without fusion these are eleven launches. With it, 5 and 6 are one `Reduce` to a `float2`, so are 9 and 10, and 7 and
8 are one kernel by `coarsen.fuse`: eight. A reduction of large vectors takes a launch more.
Scalars stay on the device: the kernels read ρ, r̂·v, t·r and t·t from memory, and the host reads r·r alone, to stop.
Kernels are fused beforehand, since the steps are always the same; `Program.together` fuses launches as they come, and
looks at each region anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.cltypes import float2

import coarsen
from coarsen.opencl_bench.streams import Problem, Program, Run
from coarsen.opencl_bench.streams.products import PLAIN, product
from coarsen.opencl_bench.streams.yardsticks import CLBlast, one_version
from coarsen.stream import Reduce

# `norms` is ρ and r·r, `stable` is t·r and t·t. Where nothing is left to do, 0 / 0 is none.
STEPS = """
float ratio(float a, float b)
{
    return b == 0 ? 0 : a / b;
}

kernel void half_step(global const float *norms, global const float *rv, global const float *v, global float *r)
{
    const int i = get_global_id(0);
    r[i] -= ratio(norms[0], rv[0]) * v[i];
}

kernel void solution(global const float *norms, global const float *rv, global const float *stable,
                     global const float *p, global const float *r, global float *x)
{
    const int i = get_global_id(0);
    x[i] += ratio(norms[0], rv[0]) * p[i] + ratio(stable[0], stable[1]) * r[i];
}

kernel void residual(global const float *stable, global const float *t, global float *r)
{
    const int i = get_global_id(0);
    r[i] -= ratio(stable[0], stable[1]) * t[i];
}

kernel void direction(global const float *norms, global const float *rv, global const float *stable,
                      global const float *r, global const float *v, global float *p)
{
    const int i = get_global_id(0);
    p[i] = r[i] + ratio(norms[0], rv[0]) * (ratio(stable[1], stable[0]) * p[i] - v[i]);
}
"""
ARRAYS = "const float *a, const float *b"


class Solver:
    """A solver of systems with one matrix.

    Args:
        queue: where, in order.
        matrix: n × n floats on the device.
        without: what is switched off, of `fusion` and `choice`.

    Attributes:
        x: the solution so far.
        reductions: those that a step calls, in their order.
    """

    def __init__(self, queue: cl.CommandQueue, matrix: cl.array.Array, without: Collection[str] = ()) -> None:
        n = matrix.shape[0]
        self._queue, self._right = queue, cl.array.zeros(queue, n, np.float32)
        p, r, t, v, self.x = vectors = [cl.array.zeros(queue, n, np.float32) for _ in range(5)]
        norms, rv, stable = sums = [cl.array.zeros(queue, size, np.float32) for size in (2, 1, 2)]
        memory = {name: each.data for name, each in zip("prtvx", vectors, strict=True)}
        memory |= {name: each.data for name, each in zip(("norms", "rv", "stable"), sums, strict=True)}
        self._started, self._norms = (r, p), norms

        def launch(text: str, name: str, arguments: Iterable[str]) -> Run:
            kernel = getattr(coarsen.Program(queue.context, text).build(), name)
            return partial(kernel, queue, (n,), None, *(memory[each] for each in arguments))

        def reduce(made: Reduce, *given: cl.array.Array, out: cl.array.Array) -> Run:
            self.reductions.append(made if "choice" not in without else one_version(made, queue.device))
            return partial(self.reductions[-1], queue, *given, out=out)

        def dots(one: cl.array.Array, other: cl.array.Array, out: cl.array.Array) -> list[Run]:
            """Return what computes one · other and other · other, at one reading or at two."""
            if "fusion" in without:
                return [reduce(dot(), one, other, out=out[:1]), reduce(dot(), other, other, out=out[1:])]
            return [reduce(both(), one, other, out=out.view(float2))]

        self.reductions: list[Reduce] = []
        self._steps = [
            reduce(product(), matrix, p, out=v),
            reduce(dot(), self._right, v, out=rv),
            launch(STEPS, "half_step", ("norms", "rv", "v", "r")),
            reduce(product(), matrix, r, out=t),
            *dots(r, t, stable),
        ]
        if "fusion" in without:
            self._steps.append(launch(STEPS, "solution", ("norms", "rv", "stable", "p", "r", "x")))
            self._steps.append(launch(STEPS, "residual", ("stable", "t", "r")))
        else:
            fused = coarsen.fuse(STEPS, "solution", "residual")
            self._steps.append(launch(fused.opencl_c, fused.kernel.name, fused.kernel.argument_names))
        self._first = dots(self._right, r, norms)
        self._steps += self._first
        self._steps.append(launch(STEPS, "direction", ("norms", "rv", "stable", "r", "v", "p")))

    def start(self, right: cl.array.Array) -> None:
        """Begin anew for a right-hand side, n floats, at x = 0."""
        for each in (self._right, *self._started):
            cl.enqueue_copy(self._queue, each.data, right.data)
        self.x.fill(0)
        for each in self._first:
            each()

    def step(self) -> None:
        """Do a step; it does not wait for the device."""
        for each in self._steps:
            each()

    def solve(self, right: cl.array.Array, tolerance: float = 1e-6, most: int = 1000) -> int:
        """Solve for a right-hand side, and return how many steps it took; the solution is `x`.

        Args:
            right: n floats.
            tolerance: the largest residual, as a share of the right-hand side, both by their lengths.
            most: steps.
        """
        self.start(right)
        first = float(self._norms.get()[1])
        for number in range(most):
            if not self._norms.get()[1] > tolerance**2 * first:
                return number
            self.step()
        return most


def dot() -> Reduce:
    """Return the scalar product a · b."""
    return Reduce("a + b", identity="0", map="a[i] * b[i]", arguments=ARRAYS)


def both() -> Reduce:
    """Return the scalar products a · b and b · b side by side."""
    return Reduce("a + b", identity="0", map="(float2)(a[i] * b[i], b[i] * b[i])", arguments=ARRAYS, dtype=float2)


class _ByArrays:
    """Operations on vectors as `pyopencl.array` has them."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self._queue, self._kernel = queue, cl.Program(queue.context, PLAIN).build().rows

    def product(self, m: cl.array.Array, v: cl.array.Array, to: cl.array.Array) -> None:
        """Multiply a matrix by a vector."""
        self._kernel(self._queue, m.shape[:1], None, np.int32(m.shape[1]), m.data, v.data, to.data)

    def dot(self, one: cl.array.Array, other: cl.array.Array) -> float:
        """Return a scalar product."""
        return float(cl.array.dot(one, other, queue=self._queue).get())

    def add(self, factor: float, one: cl.array.Array, to: cl.array.Array) -> None:
        """Add a multiple of a vector to another."""
        to += np.float32(factor) * one

    def scale(self, factor: float, to: cl.array.Array) -> None:
        """Multiply a vector by a number."""
        to *= np.float32(factor)


class _ByCLBlast:
    """The same as CLBlast's functions."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self._call, self._found = CLBlast(queue), cl.array.zeros(queue, 1, np.float32)
        self.product = self._call.product

    def dot(self, one: cl.array.Array, other: cl.array.Array) -> float:
        self._call("Sdot", one.size, self._found, one, 1, other, 1)
        return float(self._found.get()[0])

    def add(self, factor: float, one: cl.array.Array, to: cl.array.Array) -> None:
        self._call("Saxpy", one.size, factor, one, 1, to, 1)

    def scale(self, factor: float, to: cl.array.Array) -> None:
        self._call("Sscal", to.size, factor, to, 1)


def by_calls(
    calls: _ByArrays | _ByCLBlast, matrix: cl.array.Array, right: cl.array.Array, steps: int
) -> cl.array.Array:
    """Do so many steps by calls of a library, one operation each, and return the solution.

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


_TIMED_STEPS = 10


def system(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return ten steps for a system of `size` equations; its matrix is such that they solve it."""
    (n,) = size
    generator = np.random.default_rng(n)
    matrix = (np.eye(n) + generator.uniform(-0.3, 0.3, (n, n)) / np.sqrt(n)).astype(np.float32)
    right = generator.uniform(-1, 1, n).astype(np.float32)
    own, given = cl.array.to_device(queue, matrix), cl.array.to_device(queue, right)
    solver = Solver(queue, own, without)

    def ours() -> cl.array.Array:
        solver.start(given)
        for _ in range(_TIMED_STEPS):
            solver.step()
        return solver.x

    runs: dict[str, Run] = {
        "coarsen": ours,
        "plain": partial(by_calls, _ByArrays(queue), own, given, _TIMED_STEPS),
    }
    with suppress(OSError):
        runs["clblast"] = partial(by_calls, _ByCLBlast(queue), own, given, _TIMED_STEPS)
    wanted = np.linalg.solve(matrix.astype(np.float64), right)
    return Problem(runs, wanted, 1e-4 * np.abs(wanted).max(), steps=_TIMED_STEPS)


PROGRAMS = {"bicgstab": Program(("n",), (500,), (64,), (4096,), 4096, system)}
