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

from coarsen.opencl_bench.streams import Problem, Program, Run
from coarsen.opencl_bench.streams.yardsticks import CLBlast, one_version
from coarsen.stream import Actor, Map, Reduce, pipeline


def product() -> Reduce:
    """Return the product of a matrix and a vector."""
    return Reduce(
        "a + b",
        identity="0",
        map="m[row][i] * v[i]",
        arguments="const float *m, const float *v",
        rows="rows",
        length="width",
    )


def scalar_products() -> Reduce:
    """Return the scalar products of pairs of vectors, of which each has a row of both arrays."""
    return Reduce(
        "a + b",
        identity="0",
        map="x[row][i] * y[row][i]",
        arguments="const float *x, const float *y",
        rows="pairs",
        length="length",
    )


# As one writes it first: a work-item for a row; a work-group for a pair, as NVIDIA's SDK has it.
PLAIN = """
kernel void rows(int width, global const float *m, global const float *v, global float *result)
{
    const size_t row = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < width; ++i)
        sum += m[row * width + i] * v[i];
    result[row] = sum;
}

kernel void pairs(int length, global const float *x, global const float *y, global float *result,
                  local float *sums)
{
    const size_t pair = get_group_id(0), item = get_local_id(0);
    float sum = 0;
    for (size_t i = item; i < length; i += get_local_size(0))
        sum += x[pair * length + i] * y[pair * length + i];
    sums[item] = sum;
    for (size_t reach = get_local_size(0) / 2; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < reach)
            sums[item] += sums[item + reach];
    }
    if (item == 0)
        result[pair] = sums[0];
}
"""
_GROUP = 256


def tmv(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the product of a matrix and a vector; `size` is its rows and columns."""
    rows, width = size
    generator = np.random.default_rng(rows)
    m, v = (generator.uniform(-1, 1, each).astype(np.float32) for each in ((rows, width), width))
    own, vector = (cl.array.to_device(queue, each) for each in (m, v))
    result, other = (cl.array.empty(queue, rows, np.float32) for _ in range(2))
    kernel = cl.Program(queue.context, PLAIN).build().rows

    def plain() -> cl.array.Array:
        kernel(queue, (rows,), None, np.int32(width), own.data, vector.data, result.data)
        return result

    runs: dict[str, Run] = {
        "coarsen": partial(_chosen(product(), queue, without), queue, own, vector),
        "plain": plain,
    }
    if "fusion" in without:
        made = Map("product", "u * v[i % columns]", arguments="const float *v, int columns")
        runs["coarsen"] = _apart(queue, without, made, own, v=vector, columns=width)
    with suppress(OSError):
        runs["clblast"] = partial(CLBlast(queue).product, own, vector, other)
    return Problem(runs, m.astype(np.float64) @ v, _EPSILON * (np.abs(m) @ np.abs(v)))


def pairs(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return scalar products of pairs of vectors; `size` is the number of pairs and the length of a vector."""
    many, length = size
    generator = np.random.default_rng(many)
    x, y = (generator.uniform(-1, 1, (many, length)).astype(np.float32) for _ in range(2))
    own, other = (cl.array.to_device(queue, each) for each in (x, y))
    result, shared = cl.array.empty(queue, many, np.float32), cl.LocalMemory(4 * _GROUP)
    kernel = cl.Program(queue.context, PLAIN).build().pairs

    def plain() -> cl.array.Array:
        given = np.int32(length), own.data, other.data, result.data, shared
        kernel(queue, (many * _GROUP,), (_GROUP,), *given)
        return result

    reduce = _chosen(scalar_products(), queue, without)
    runs: dict[str, Run] = {"coarsen": partial(reduce, queue, own, other), "plain": plain}
    if "fusion" in without:
        made = Map("product", "u * y[i]", arguments="const float *y")
        runs["coarsen"] = _apart(queue, without, made, own, y=other)
    return Problem(runs, (x.astype(np.float64) * y).sum(axis=1), _EPSILON * np.abs(x * y).sum(axis=1))


def _chosen(reduction: Reduce, queue: cl.CommandQueue, without: Collection[str]) -> Reduce:
    return one_version(reduction, queue.device) if "choice" in without else reduction


def _apart(
    queue: cl.CommandQueue,
    without: Collection[str],
    made: Actor,
    elements: cl.array.Array,
    **given: Any,  # noqa: ANN401 (numbers and arrays)
) -> Run:
    """Return what has products in memory, and then sums of their rows."""
    products = pipeline(made)
    sums = Reduce("a + b", identity="0", arguments="const float *m", rows="rows", length="width")
    sums = _chosen(sums, queue, without)
    return lambda: sums(queue, products(queue, elements, **given))


# Sums in one order have errors that grow with their length; those of random signs stay far below.
_EPSILON = 2e-5
PROGRAMS = {
    "tmv": Program(("rows", "columns"), (1000, 1000), (4, 4), (1 << 20, 1 << 20), 1 << 24, tmv),
    "scalar-products": Program(("pairs", "length"), (1000, 1000), (1, 4), (1 << 20, 1 << 20), 1 << 23, pairs),
}
