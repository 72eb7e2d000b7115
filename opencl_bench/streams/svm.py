"""Training of a support-vector machine with radial basis functions, two points at a time, as GPUSVM does it.

Sequential minimal optimisation (Platt 1998) with the choice of both points by Keerthi et al. (2001), in parallel as
Catanzaro, Sundaram and Keutzer have it, "Fast Support Vector Machine Training and Classification on Graphics
Processors" (ICML 2008). A step, with f the gradients, which are the sums of α y K less y:

    high = argmin f, low = argmax f    of the points that may still move up, and down: a `Reduce` each
    distances of all points to both    a `Reduce` of rows to a `float2`: the points are read once
    how far both move                  a kernel of one work-item
    f += t (K(high) - K(low))          a `Map` in place

Five launches; their scalars stay on the device. The host reads the gap between both gradients every 64 steps, to
stop. Two different reductions are two launches: a `Reduce` finds one place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from numpy.typing import NDArray
from pyopencl.cltypes import float2

import coarsen
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.streams import Problem, Program, Run
from coarsen.opencl_bench.streams.yardsticks import best_place, one_version
from coarsen.stream import Map, Reduce, pipeline

STATE = "const float *f, const float *y, const float *alpha, float penalty"
# Whose gradients count: a point at its bound moves only one way.
HIGH = "((y[i] > 0 ? alpha[i] < penalty : alpha[i] > 0) ? f[i] : INFINITY)"
LOW = "((y[i] > 0 ? alpha[i] > 0 : alpha[i] < penalty) ? f[i] : -INFINITY)"
SQUARE = "(m[row][i] - m[{place}[0] * features + i]) * (m[row][i] - m[{place}[0] * features + i])"

# `moved` is how far both points move, and the gap before.
STEP = """
float at(float alpha, int is_up, float way, float penalty)
{
    return is_up ? (way >= penalty - alpha ? penalty : alpha + way) : alpha - way;
}

void step_of(long i, long j, float distance, float gamma, float penalty, global const float *f,
             global const float *y, global float *alpha, global float *moved)
{
    const float gap = f[j] - f[i];
    const float room = fmin(y[i] > 0 ? penalty - alpha[i] : alpha[i], y[j] > 0 ? alpha[j] : penalty - alpha[j]);
    const float way = gap > 0 ? fmin(gap / fmax(2 - 2 * exp(-gamma * distance), 1e-6f), room) : 0;
    moved[0] = way;
    moved[1] = gap;
    if (way > 0) {
        alpha[i] = at(alpha[i], y[i] > 0, way, penalty);
        alpha[j] = at(alpha[j], y[j] < 0, way, penalty);
    }
}

kernel void take_step(global const PLACE *high, global const PLACE *low, int stride, global const float *distances,
                      float gamma, float penalty, global const float *f, global const float *y,
                      global float *alpha, global float *moved)
{
    step_of(AT(high), AT(low), distances[stride * AT(low)], gamma, penalty, f, y, alpha, moved);
}
"""
OURS = """
#define PLACE long
#define AT(found) (found)[0]
"""
PLAIN = """
typedef struct {
    float value;
    long place;
} placed;
#define PLACE placed
#define AT(found) (found)->place

kernel void square_distance(int features, global const float *m, global const placed *to, global float *distances)
{
    const size_t row = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < features; ++i) {
        const float off = m[row * features + i] - m[to->place * features + i];
        sum += off * off;
    }
    distances[row] = sum;
}

kernel void update(float sign, float gamma, global const float *moved, global const float *distances,
                   global float *f)
{
    const size_t i = get_global_id(0);
    f[i] += sign * moved[0] * exp(-gamma * distances[i]);
}
"""


class Trainer:
    """The training for one set of points.

    Args:
        queue: where, in order.
        points: n × features floats on the device.
        labels: n floats, of which each is 1 or -1.
        penalty: the largest weight of a point, C.
        gamma: of the kernel exp(-γ |x - y|²).
        without: what is switched off, of `fusion` and `choice`.

    Attributes:
        alpha: the weights of the points, floats on the device.
        f: their gradients, likewise.
    """

    def __init__(
        self,
        queue: cl.CommandQueue,
        points: cl.array.Array,
        labels: NDArray[np.float32],
        penalty: float,
        gamma: float,
        without: Collection[str] = (),
    ) -> None:
        if {*np.unique(labels)} != {-1, 1}:
            raise InvalidInputError("labels are 1 and -1, and there have to be points of both")
        self.queue, self.points, self.penalty, self.gamma = queue, points, np.float32(penalty), np.float32(gamma)
        self.y = cl.array.to_device(queue, labels)
        self.f, self.alpha = (cl.array.zeros_like(self.y) for _ in range(2))
        self.moved = cl.array.zeros(queue, 2, np.float32)
        total = "alpha[i] - 0.5f * alpha[i] * y[i] * (f[i] + y[i])"
        self._dual = Reduce("a + b", identity="0", map=total, arguments=STATE)
        self._steps = self._made(without)

    def _made(self, without: Collection[str]) -> list[Run]:
        """Return the launches of a step."""
        queue, n = self.queue, len(self.y)
        places = high, low = [cl.array.zeros(queue, 1, np.int64) for _ in range(2)]
        # Distances to both places lie side by side, or apart.
        near = [cl.array.zeros(queue, each, np.float32) for each in ((n, n) if "fusion" in without else (2 * n,))]
        steps: list[Run] = []

        def reduce(made: Reduce, *given: Any, out: cl.array.Array, **sizes: int) -> None:  # noqa: ANN401
            chosen = one_version(made, queue.device) if "choice" in without else made
            steps.append(partial(chosen, queue, *given, out=out, **sizes))

        state = self.f, self.y, self.alpha, self.penalty
        reduce(Reduce.argmin(STATE, map=HIGH), *state, out=high)
        reduce(Reduce.argmax(STATE, map=LOW), *state, out=low)
        if "fusion" in without:
            for place, to in zip(places, near, strict=True):
                reduce(distances(SQUARE.format(place="to"), "const long *to"), self.points, place, out=to)
            moves = [
                ("u + moved[0] * exp(-gamma * d[i])", near[0]),
                ("u - moved[0] * exp(-gamma * d[i])", near[1]),
            ]
        else:
            both = ", ".join(SQUARE.format(place=place) for place in ("high", "low"))
            made = distances(f"(float2)({both})", "const long *high, const long *low", float2)
            reduce(made, self.points, high, low, out=near[0].view(float2))
            moves = [("u + moved[0] * (exp(-gamma * d[2 * i]) - exp(-gamma * d[2 * i + 1]))", near[0])]
        kernel = coarsen.Program(queue.context, OURS + STEP).build().take_step
        words = high.data, low.data, np.int32(3 - len(near)), near[0].data, self.gamma, self.penalty
        memory = (each.data for each in (self.f, self.y, self.alpha, self.moved))
        steps.append(partial(kernel, queue, (1,), None, *words, *memory))
        for expression, d in moves:
            update = pipeline(
                Map("update", expression, arguments="const float *d, const float *moved, float gamma")
            )
            steps.append(partial(update, queue, self.f, out=self.f, d=d, moved=self.moved, gamma=self.gamma))
        return steps

    def start(self) -> None:
        """Begin anew, with no weights."""
        self.f[:] = -self.y
        self.alpha.fill(0)

    def step(self) -> None:
        """Move two points; it does not wait for the device."""
        for each in self._steps:
            each()

    def train(self, gap: float = 1e-3, most: int = 100_000) -> int:
        """Train until no two gradients are more than twice `gap` apart, and return the number of steps."""
        self.start()
        for number in range(1, most + 1):
            self.step()
            if number % 64 == 0 and self.moved.get()[1] <= 2 * gap:
                return number
        return most

    def dual(self) -> float:
        """Return the dual objective, Σ α - ½ ΣΣ α α y y K, which training makes as large as it can."""
        return float(self._dual(self.queue, self.f, self.y, self.alpha, self.penalty).get())


def distances(square: str, places: str, dtype: Any = np.float32) -> Reduce:  # noqa: ANN401 (a vector's)
    """Return the squared distances of all points to one, or to two."""
    arguments = f"const float *m, {places}"
    return Reduce(
        "a + b", identity="0", map=square, arguments=arguments, dtype=dtype, rows="points", length="features"
    )


class PlainTrainer(Trainer):
    """The same with PyOpenCL alone: its reductions to structures, and kernels, one for each operation."""

    def _made(self, without: Collection[str]) -> list[Run]:
        queue, n = self.queue, len(self.y)
        finds = [best_place(queue.context, *each, STATE) for each in (("<", HIGH), (">", LOW))]
        program = cl.Program(queue.context, PLAIN + STEP).build()
        *both, take_step = [cl.Kernel(program, name) for name in (*["square_distance", "update"] * 2, "take_step")]
        near = [cl.array.zeros(queue, n, np.float32) for _ in finds]

        def step() -> None:
            found = [each(self.f, self.y, self.alpha, self.penalty, queue=queue) for each in finds]
            width = np.int32(self.points.shape[1])
            for kernel, place, to in zip(both[::2], found, near, strict=True):
                kernel(queue, (n,), None, width, self.points.data, place.data, to.data)
            words = (*(each.data for each in found), np.int32(1), near[0].data, self.gamma, self.penalty)
            memory = (each.data for each in (self.f, self.y, self.alpha, self.moved))
            take_step(queue, (1,), None, *words, *memory)
            for kernel, sign, to in zip(both[1::2], (1, -1), near, strict=True):
                kernel(queue, (n,), None, np.float32(sign), self.gamma, self.moved.data, to.data, self.f.data)

        return [step]


_TIMED_STEPS, _PENALTY = 50, 1.0


def training(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
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
    given = cl.array.to_device(queue, points), labels, _PENALTY, 1 / features
    trainers = {"coarsen": Trainer(queue, *given, without), "plain": PlainTrainer(queue, *given)}

    def some(trainer: Trainer) -> None:
        trainer.start()
        for _ in range(_TIMED_STEPS):
            trainer.step()

    def dual(trainer: Trainer) -> NDArray[np.float64]:
        trainer.train()
        return np.array([trainer.dual()])

    wanted = np.array([_dual_of_scikit_learn(points, labels, 1 / features)])
    runs = {name: partial(some, each) for name, each in trainers.items()}
    answers = {name: partial(dual, each) for name, each in trainers.items()}
    return Problem(runs, wanted, 1e-3 * np.abs(wanted), steps=_TIMED_STEPS, answers=answers)


def _dual_of_scikit_learn(points: NDArray[np.float32], labels: NDArray[np.float32], gamma: float) -> float:
    try:
        from sklearn.metrics.pairwise import rbf_kernel
        from sklearn.svm import SVC
    except ImportError:
        raise InvalidInputError("svm is compared with scikit-learn: pip install 'coarsen[train]'") from None
    machine = SVC(C=_PENALTY, gamma=gamma).fit(points, labels)
    weights, vectors = machine.dual_coef_[0], machine.support_vectors_
    return float(np.abs(weights).sum() - weights @ rbf_kernel(vectors, gamma=gamma) @ weights / 2)


PROGRAMS = {"svm": Program(("points", "features"), (1000, 20), (64, 2), (8192, 256), 1 << 20, training)}
