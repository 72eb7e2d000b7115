"""Convolutions of an image: a separable one of radius 8, as NVIDIA's SDK has it, and a stencil of five points.

The separable one is two stencils, along rows and along columns. An element of the first is looked at 17 times by
the second, so that by default it is stored: two kernels. Tuning may choose one, which computes it 17 times.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from numpy.typing import NDArray

from coarsen.opencl_bench.streams import Problem, Program
from coarsen.stream import Stencil, Stream, pipeline

RADIUS = 8
_REACH = range(-RADIUS, RADIUS + 1)


def separable() -> Stream:
    """Return the convolution with a row and a column of 17 weights; outside of the image there is 0."""
    return pipeline(
        Stencil(
            "along_rows",
            " + ".join(f"taps[{RADIUS + k}] * u({k}, 0)" for k in _REACH),
            border="0",
            arguments="const float *taps",
        ),
        Stencil(
            "along_columns",
            " + ".join(f"taps[{RADIUS + k}] * u(0, {k})" for k in _REACH),
            border="0",
            arguments="const float *taps",
        ),
    )


def five_point() -> Stream:
    """Return the mean of each element and its four neighbours; outside of the image there is 0."""
    mean = "0.2f * (u(0, 0) + u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1))"
    return pipeline(Stencil("mean", mean, border="0"))


PLAIN = """
float at(global const float *image, int width, int height, int x, int y)
{
    return x < 0 || y < 0 || x >= width || y >= height ? 0 : image[y * width + x];
}

kernel void along(int dx, int dy, global const float *taps, global const float *from, global float *to)
{
    const int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
    float sum = 0;
    for (int k = -8; k <= 8; ++k)
        sum += taps[8 + k] * at(from, width, height, x + k * dx, y + k * dy);
    to[y * width + x] = sum;
}

kernel void mean(global const float *from, global float *to)
{
    const int x = get_global_id(0), y = get_global_id(1), width = get_global_size(0), height = get_global_size(1);
    float sum = from[y * width + x];
    sum += at(from, width, height, x - 1, y) + at(from, width, height, x + 1, y);
    sum += at(from, width, height, x, y - 1) + at(from, width, height, x, y + 1);
    to[y * width + x] = 0.2f * sum;
}
"""


def convolved(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the separable convolution of an image; `size` is its width and its height."""
    image, taps = _image(size), np.random.default_rng(1).uniform(-1, 1, len(_REACH)).astype(np.float32)
    own, weights = (cl.array.to_device(queue, each) for each in (image, taps))
    between, result = (cl.array.empty_like(own) for _ in range(2))
    step, program = separable(), cl.Program(queue.context, PLAIN).build()
    along = program.along, cl.Kernel(program, "along")

    def plain() -> cl.array.Array:
        for kernel, dx, source, to in zip(along, (1, 0), (own, between), (between, result), strict=True):
            kernel(queue, size, None, np.int32(dx), np.int32(1 - dx), weights.data, source.data, to.data)
        return result

    rows = sum(taps[RADIUS + k] * _moved(image, k, 0) for k in _REACH)
    wanted = sum(taps[RADIUS + k] * _moved(rows, 0, k) for k in _REACH)
    close = 1e-5 * np.abs(taps).sum() ** 2
    return Problem({"coarsen": lambda: step(queue, own, taps=weights), "plain": plain}, wanted, close)


def averaged(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the means of five points of an image; `size` is its width and its height."""
    image = _image(size)
    own = cl.array.to_device(queue, image)
    result, step, kernel = cl.array.empty_like(own), five_point(), cl.Program(queue.context, PLAIN).build().mean

    def plain() -> cl.array.Array:
        kernel(queue, size, None, own.data, result.data)
        return result

    wanted = sum(_moved(image, dx, dy) for dx, dy in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))) / 5
    return Problem({"coarsen": lambda: step(queue, own), "plain": plain}, wanted, 1e-5)


def _image(size: Sequence[int]) -> NDArray[np.float32]:
    width, height = size
    return np.random.default_rng(width).uniform(-1, 1, (height, width)).astype(np.float32)


def _moved(image: NDArray[Any], dx: int, dy: int) -> NDArray[np.float64]:
    """Return the neighbours of all elements, of NumPy alone."""
    height, width = image.shape
    padded = np.pad(image.astype(np.float64), RADIUS)
    return padded[RADIUS + dy : RADIUS + dy + height, RADIUS + dx : RADIUS + dx + width]


_SIZES = ("width", "height"), (1000, 1000), (64, 64), (8192, 8192), 1 << 26
PROGRAMS = {"convolution": Program(*_SIZES, convolved), "five-point": Program(*_SIZES, averaged)}
