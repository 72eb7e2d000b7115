"""Products: a matrix by a vector (TMV), and scalar products of pairs of vectors; each is a `Reduce` of rows.

One call is right at every shape: few long rows are shared by work-groups, many short ones have a work-item each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.opencl_bench.streams import Problem, Program, Sizes, Without, chosen, left_in, plain
from coarsen.opencl_bench.studies.reductions import ours as reduction
from coarsen.opencl_bench.studies.turns import Run
from coarsen.opencl_bench.studies.yardsticks import clblast, installed
from coarsen.stream import Actor, Map, Reduce, pipeline


def scalar_products() -> Reduce:
    """Return the scalar products of pairs of vectors, of which each has a row of both arrays."""
    given = "const float *x, const float *y"
    return Reduce(
        "a + b", identity="0", map="x[row][i] * y[row][i]", arguments=given, rows="pairs", length="length"
    )


def tmv(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return the product of a matrix and a vector; `size` is its rows and columns."""
    rows, columns = size
    draw = np.random.default_rng(rows)
    m, v = (draw.uniform(-1, 1, each).astype(np.float32) for each in ((rows, columns), columns))
    own, vector = (cl.array.to_device(queue, each) for each in (m, v))
    first, second, third = (cl.array.zeros(queue, rows, np.float32) for _ in range(3))
    if "fusion" in without:
        multiply = Map("product", "u * v[i % columns]", arguments="const float *v, int columns")
        ours = _apart(queue, without, multiply, own, first, v=vector, columns=columns)
    else:
        ours = partial(chosen(reduction("tmv"), queue, without), queue, own, vector, out=first)
    ways = {
        "coarsen": left_in([first], ours),
        "plain": left_in([second], plain(queue, "rows", (rows,), columns, own, vector, second)),
    }
    buffers = [each.base_data for each in (own, vector, third)]
    ways |= dict(installed(clblast=partial(clblast, queue, buffers, size)))
    return Problem(ways, m.astype(np.float64) @ v, _EPSILON * (np.abs(m) @ np.abs(v)))


def pairs(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return scalar products of pairs of vectors; `size` is the number of pairs and the length of a vector."""
    many, length = size
    x, y = np.random.default_rng(many).uniform(-1, 1, (2, many, length)).astype(np.float32)
    own, other = (cl.array.to_device(queue, each) for each in (x, y))
    first, second = (cl.array.zeros(queue, many, np.float32) for _ in range(2))
    if "fusion" in without:
        multiply = Map("product", "u * other[i]", arguments="const float *other")
        ours = _apart(queue, without, multiply, own, first, other=other)
    else:
        ours = partial(chosen(scalar_products(), queue, without), queue, own, other, out=first)
    by_groups = plain(queue, "pairs", (256 * many,), length, own, other, second, local=256)
    ways = {"coarsen": left_in([first], ours), "plain": left_in([second], by_groups)}
    return Problem(ways, (x.astype(np.float64) * y).sum(axis=1), _EPSILON * np.abs(x * y).sum(axis=1))


def _apart(queue: cl.CommandQueue, without: Without, multiply: Actor, *arrays: Any, **given: Any) -> Run:  # noqa: ANN401
    """Return what has products in memory, and then the sums of their rows."""
    (own, to), between = arrays, cl.array.empty_like(arrays[0])
    sums = Reduce("a + b", identity="0", arguments="const float *m", rows="rows", length="width")
    products, sums = pipeline(multiply), chosen(sums, queue, without)
    return lambda: sums(queue, products(queue, own, out=between, **given), out=to)


# Errors of sums grow with their length, those of random signs far less.
_EPSILON = 2e-5
_BOUNDS = (4, 1 << 20), (4, 1 << 20)
PROGRAMS = {
    "tmv": Program(tmv, {"rows": 1000, "columns": 1000}, _BOUNDS, 1 << 24),
    "scalar-products": Program(pairs, {"pairs": 1000, "length": 1000}, _BOUNDS, 1 << 23),
}
