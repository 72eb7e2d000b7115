"""Training of a support-vector machine with radial basis functions, two points at a time, as GPUSVM does it.

Sequential minimal optimisation (Platt 1998) with the choice of both points by Keerthi et al. (2001), in parallel
as Catanzaro, Sundaram and Keutzer have it, "Fast Support Vector Machine Training and Classification on Graphics
Processors" (ICML 2008). A step, with f the gradients, which are the sums of α y K less y:

    high = argmin f, low = argmax f    of the points that may still move up, and down: a `Reduce` each
    distances of all points to both    a `Reduce` of rows to a `float2`: the points are read once
    how far both move                  a kernel of one work-item
    f += t (K(high) - K(low))          a `Map` in place

Five launches, seven without fusion; their scalars stay on the device. The host reads the gap between both
gradients every 64 steps, to stop. The two selections are two launches: a `Reduce` finds one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
import pyopencl.array
from numpy.typing import NDArray
from pyopencl.cltypes import float2

import coarsen
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.streams import Problem, Program, Sizes, Without, as_vectors, chosen, plain
from coarsen.opencl_bench.studies.turns import Run, Way
from coarsen.stream import Map, Reduce, pipeline

SOURCE = Path(__file__).with_name("svm.cl")
STATE = "const float *f, const float *y, const float *alpha, float penalty"
# Whose gradients count: a point at its bound moves only one way.
HIGH = "(y[i] > 0 ? alpha[i] < penalty : alpha[i] > 0) ? f[i] : INFINITY"
LOW = "(y[i] > 0 ? alpha[i] > 0 : alpha[i] < penalty) ? f[i] : -INFINITY"
SQUARE = "(m[row][i] - m[{place}[0] * features + i]) * (m[row][i] - m[{place}[0] * features + i])"
GIVEN = "const float *d, const float *moved, float gamma"
_Array: TypeAlias = cl.array.Array


def distances(places: Sequence[str]) -> Reduce:
    """Return the squared distances of all points to one, a float each, or to two, a `float2`."""
    squares = ", ".join(SQUARE.format(place=place) for place in places)
    return Reduce(
        "a + b",
        identity="0",
        map=f"(float2)({squares})" if len(places) == 2 else squares,
        arguments=", ".join(["const float *m", *(f"const long *{place}" for place in places)]),
        dtype=float2 if len(places) == 2 else np.float32,
        rows="points",
        length="features",
    )


class Trainer:
    """The training for one set of points.

    Args:
        queue: where, in order.
        points: n × features floats on the device.
        labels: n floats, of which each is 1 or -1.
        penalty: the largest weight of a point, C.
        gamma: of the kernel exp(-γ |x - y|²).
        without: what is switched off, of `fusion` and `choice`; `coarsen` for kernels of `plain.cl` alone.

    Attributes:
        alpha: the weights of the points, floats on the device.
        steps: the launches of a step.
    """

    def __init__(
        self,
        queue: cl.CommandQueue,
        points: _Array,
        labels: NDArray[np.float32],
        penalty: float,
        gamma: float,
        without: Without = (),
    ) -> None:
        if {*np.unique(labels)} != {-1, 1}:
            raise InvalidInputError("labels are 1 and -1, and there have to be points of both")
        self._queue, self._penalty, self._gamma, self._without = queue, penalty, gamma, without
        n = points.shape[0]
        self._y = y = cl.array.to_device(queue, labels)
        self._f, self.alpha = f, alpha = [cl.array.zeros(queue, n, np.float32) for _ in range(2)]
        self._moved = cl.array.zeros(queue, 2, np.float32)
        places = [cl.array.zeros(queue, 1, np.int64) for _ in range(2)]
        is_fused = not {"fusion", "coarsen"} & {*without}
        # Distances to both places lie side by side, or apart.
        near = [cl.array.zeros(queue, each, np.float32) for each in ((2 * n,) if is_fused else (n, n))]
        total = "alpha[i] - 0.5f * alpha[i] * y[i] * (f[i] + y[i])"
        dual = Reduce("a + b", identity="0", map=total, arguments=STATE)
        self._dual = partial(dual, queue, f, y, alpha, np.float32(penalty))
        kernel = coarsen.Program(queue.context, SOURCE.read_text(encoding="utf-8")).build().take_step
        words = np.int32(3 - len(near)), near[0].data, np.float32(gamma), np.float32(penalty)
        moving = (each.data for each in (f, y, alpha, self._moved))
        step = partial(kernel, queue, (1,), None, *(each.data for each in places), *words, *moving)
        made = self._plain_steps if "coarsen" in without else self._steps
        self.steps: list[Run] = made(points, places, near, step)

    def _plain_steps(
        self, points: _Array, places: Sequence[_Array], near: Sequence[_Array], step: Run
    ) -> list[Run]:
        """Return the launches of a step by kernels of `plain.cl`, a kernel for each operation."""
        queue, f, (n, features) = self._queue, self._f, points.shape
        state = self._penalty, f, self._y, self.alpha
        apart = [*zip(places, near, (1.0, -1.0), strict=True)]
        return [
            plain(queue, "select_two", (256,), n, *state, *places, local=256),
            *(plain(queue, "square_distance", (n,), features, points, place, d) for place, d, _ in apart),
            step,
            *(plain(queue, "update", (n,), sign, self._gamma, self._moved, d, f) for _, d, sign in apart),
        ]

    def _steps(self, points: _Array, places: Sequence[_Array], near: Sequence[_Array], step: Run) -> list[Run]:
        """Return the launches of a step by reductions and pipelines."""
        f, state = self._f, (self._f, self._y, self.alpha, np.float32(self._penalty))

        def reduce(made: Reduce, *given: Any, out: _Array) -> Run:  # noqa: ANN401
            return partial(chosen(made, self._queue, self._without), self._queue, *given, out=out)

        def update(expression: str, d: _Array) -> Run:
            made = pipeline(Map("update", expression, arguments=GIVEN))
            return partial(made, self._queue, f, out=f, d=d, moved=self._moved, gamma=self._gamma)

        ends = (Reduce.argmin(STATE, map=HIGH), Reduce.argmax(STATE, map=LOW))
        steps = [reduce(each, *state, out=place) for each, place in zip(ends, places, strict=True)]
        if len(near) == 1:
            both = reduce(distances(("high", "low")), points, *places, out=as_vectors(near[0]))
            moved = "u + moved[0] * (exp(-gamma * d[2 * i]) - exp(-gamma * d[2 * i + 1]))"
            return [*steps, both, step, update(moved, near[0])]
        to_one = distances(("to",))
        return [
            *steps,
            *(reduce(to_one, points, place, out=d) for place, d in zip(places, near, strict=True)),
            step,
            *(update(f"u {sign} moved[0] * exp(-gamma * d[i])", d) for sign, d in zip("+-", near, strict=True)),
        ]

    def start(self) -> None:
        """Begin anew, with no weights."""
        self._f[:] = -self._y
        self.alpha.fill(0)

    def step(self) -> None:
        """Move two points; it does not wait for the device."""
        for launch in self.steps:
            launch()

    def train(self, gap: float = 1e-3, most: int = 100_000) -> int:
        """Train until no two gradients are more than twice `gap` apart, and return the number of steps."""
        self.start()
        for number in range(1, most + 1):
            self.step()
            if number % 64 == 0 and self._moved.get()[1] <= 2 * gap:
                return number
        return most

    def dual(self) -> float:
        """Return the dual objective, Σ α - ½ ΣΣ α α y y K, which training makes as large as it can."""
        return float(self._dual().get())


_STEPS, _PENALTY = 50, 1.0


def training(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return fifty steps of a training; `size` is the number of points and of their features.

    The answer is the dual objective of a whole training; that of scikit-learn is wanted.
    """
    n, features = size
    generator = np.random.default_rng(n)
    points = generator.standard_normal((n, features)).astype(np.float32)
    lengths = (points**2).sum(axis=1)
    is_outside = (lengths > np.median(lengths)) ^ (generator.random(n) < 0.05)
    labels = np.where(is_outside, 1, -1).astype(np.float32)
    labels[:2] = (1, -1)[:n]
    given = queue, cl.array.to_device(queue, points), labels, _PENALTY, 1 / features

    def way(trainer: Trainer) -> Way:
        def some() -> None:
            trainer.start()
            for _ in range(_STEPS):
                trainer.step()

        def dual(_: object) -> float:
            trainer.train()
            return trainer.dual()

        return Way(some, dual, 1e-3)

    ways = {"coarsen": way(Trainer(*given, without)), "plain": way(Trainer(*given, ("coarsen",)))}
    return Problem(ways, _dual_of_scikit_learn(points, labels, 1 / features), 0, _STEPS)


def _dual_of_scikit_learn(points: NDArray[np.float32], labels: NDArray[np.float32], gamma: float) -> float:
    try:
        from sklearn.metrics.pairwise import rbf_kernel
        from sklearn.svm import SVC
    except ImportError:
        raise InvalidInputError("svm is compared with scikit-learn: pip install 'coarsen[train]'") from None
    machine = SVC(C=_PENALTY, gamma=gamma).fit(points, labels)
    weights, vectors = machine.dual_coef_[0], machine.support_vectors_
    return float(np.abs(weights).sum() - weights @ rbf_kernel(vectors, gamma=gamma) @ weights / 2)


PROGRAMS = {"svm": Program(training, {"points": 1000, "features": 20}, ((64, 8192), (2, 256)), 1 << 20)}
