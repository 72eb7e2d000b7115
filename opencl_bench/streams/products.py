"""Products: a matrix by a vector (TMV), and scalar products of pairs of vectors; each is a `Reduce` of rows.

One call is right at every shape: few long rows are shared by work-groups, many short ones have a work-item each.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.opencl_bench.streams import Problem, Program, Run, answers
from coarsen.opencl_bench.streams.yardsticks import CLBlast, one_version, plain
from coarsen.stream import Actor, Map, Reduce, pipeline


def rows_of(map: str, arguments: str) -> Reduce:
    """Return sums of rows."""
    return Reduce("a + b", identity="0", map=map, arguments=arguments, rows="rows", length="width")


def product() -> Reduce:
    """Return the product of a matrix and a vector."""
    return rows_of("m[row][i] * v[i]", "const float *m, const float *v")


def scalar_products() -> Reduce:
    """Return the scalar products of pairs of vectors, of which each has a row of both arrays."""
    return rows_of("x[row][i] * y[row][i]", "const float *x, const float *y")


def tmv(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the product of a matrix and a vector; `size` is its rows and columns."""
    rows, width = size
    generator = np.random.default_rng(rows)
    m, v = (generator.uniform(-1, 1, each).astype(np.float32) for each in ((rows, width), width))
    own, vector = (cl.array.to_device(queue, each) for each in (m, v))
    to = {name: [cl.array.zeros(queue, rows, np.float32)] for name in ("coarsen", "plain", "clblast")}
    multiply = Map("product", "u * v[i % columns]", arguments="const float *v, int columns")
    runs = {
        "coarsen": _apart(queue, without, multiply, own, *to["coarsen"], v=vector, columns=width)
        if "fusion" in without
        else partial(_chosen(product(), queue, without), queue, own, vector, out=to["coarsen"][0]),
        "plain": plain(queue, "rows", (rows,), width, own, vector, *to["plain"]),
    }
    with suppress(OSError):
        runs["clblast"] = partial(CLBlast(queue).product, own, vector, *to["clblast"])
    return Problem(runs, m.astype(np.float64) @ v, _EPSILON * (np.abs(m) @ np.abs(v)), answers(runs, to))


def pairs(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return scalar products of pairs of vectors; `size` is the number of pairs and the length of a vector."""
    many, length = size
    x, y = np.random.default_rng(many).uniform(-1, 1, (2, many, length)).astype(np.float32)
    own, other = (cl.array.to_device(queue, each) for each in (x, y))
    to = {name: [cl.array.zeros(queue, many, np.float32)] for name in ("coarsen", "plain")}
    multiply = Map("product", "u * other[i]", arguments="const float *other")
    runs = {
        "coarsen": _apart(queue, without, multiply, own, *to["coarsen"], other=other)
        if "fusion" in without
        else partial(_chosen(scalar_products(), queue, without), queue, own, other, out=to["coarsen"][0]),
        "plain": plain(queue, "pairs", (256 * many,), length, own, other, *to["plain"], local=256),
    }
    wanted = (x.astype(np.float64) * y).sum(axis=1)
    return Problem(runs, wanted, _EPSILON * np.abs(x * y).sum(axis=1), answers(runs, to))


def _chosen(reduction: Reduce, queue: cl.CommandQueue, without: Collection[str]) -> Reduce:
    return one_version(reduction, queue.device) if "choice" in without else reduction


def _apart(queue: cl.CommandQueue, without: Collection[str], multiply: Actor, *arrays: Any, **given: Any) -> Run:  # noqa: ANN401
    """Return what has products in memory, and then the sums of their rows."""
    (own, to), between = arrays, cl.array.empty_like(arrays[0])
    products, sums = pipeline(multiply), _chosen(rows_of("m[row][i]", "const float *m"), queue, without)
    return lambda: sums(queue, products(queue, own, out=between, **given), out=to)


# Errors of sums grow with their length, those of random signs far less.
_EPSILON = 2e-5
_BOUNDS = (4, 1 << 20), (4, 1 << 20)
PROGRAMS = {
    "tmv": Program(tmv, ("rows", "columns"), (1000, 1000), _BOUNDS, 1 << 24),
    "scalar-products": Program(pairs, ("pairs", "length"), (1000, 1000), _BOUNDS, 1 << 23),
}
