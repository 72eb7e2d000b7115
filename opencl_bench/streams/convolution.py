"""Stencils of an image: a separable convolution and an ocean's slopes, as NVIDIA's SDK has them; and a mean.

The separable one is two stencils, along rows and along columns. An element of the first is looked at 17 times by
the second, so that by default it is stored: two kernels. Tuning may choose one, which computes it 17 times. There
is nothing else of it to be switched off.

The slopes of a field of heights (oceanFFT's, for its light) are two results of each element, along x and along y.
Two stencils in a `SplitJoin` are one kernel, which reads the heights once; what they put out is joined by turns,
and so lies in memory as an array of `float2`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from numpy.typing import NDArray

from coarsen.opencl_bench.streams import Problem, Program, Sizes, Without, left_in, plain
from coarsen.stream import Actor, SplitJoin, Stencil, Stream, pipeline

RADIUS = 8
_REACH = range(-RADIUS, RADIUS + 1)
# At the border of the field there is no slope.
_INSIDE = "x > 0 && y > 0 && x < width - 1 && y < height - 1"
ALONG_X = Stencil("along_x", f"{_INSIDE} ? u(1, 0) - u(-1, 0) : 0", border="0")
ALONG_Y = Stencil("along_y", f"{_INSIDE} ? u(0, 1) - u(0, -1) : 0", border="0")


def separable() -> Stream:
    """Return the convolution with a row and a column of 17 weights; outside of the image there is 0."""

    def along(name: str, neighbour: str) -> Actor:
        terms = (f"taps[{RADIUS + k}] * {neighbour.format(k)}" for k in _REACH)
        return Stencil(name, " + ".join(terms), border="0", arguments="const float *taps")

    return pipeline(along("along_rows", "u({}, 0)"), along("along_columns", "u(0, {})"))


def five_point() -> Stream:
    """Return the mean of each element and its four neighbours; outside of the image there is 0."""
    mean = "0.2f * (u(0, 0) + u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1))"
    return pipeline(Stencil("mean", mean, border="0"))


def convolved(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return the separable convolution of an image; `size` is its width and its height."""
    image, taps = _image(size), np.random.default_rng(1).uniform(-1, 1, len(_REACH)).astype(np.float32)
    own, weights = (cl.array.to_device(queue, each) for each in (image, taps))
    between, first, second = (cl.array.empty_like(own) for _ in range(3))
    rows = plain(queue, "along", size, 1, 0, weights, own, between)
    columns = plain(queue, "along", size, 0, 1, weights, between, second)
    ways = {
        "coarsen": left_in([first], partial(separable(), queue, own, out=first, taps=weights)),
        "plain": left_in([second], rows, columns),
    }
    half = sum(taps[RADIUS + k] * _moved(image, k, 0) for k in _REACH)
    wanted = sum(taps[RADIUS + k] * _moved(half, 0, k) for k in _REACH)
    return Problem(ways, wanted, 1e-6 * np.abs(taps).sum() ** 2)


def averaged(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return the means of five points of an image; `size` is its width and its height."""
    image = _image(size)
    own = cl.array.to_device(queue, image)
    first, second = (cl.array.empty_like(own) for _ in range(2))
    ways = {
        "coarsen": left_in([first], partial(five_point(), queue, own, out=first)),
        "plain": left_in([second], plain(queue, "mean_of_five", size, own, second)),
    }
    wanted = sum(_moved(image, dx, dy) for dx, dy in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))) / 5
    return Problem(ways, wanted, 1e-6)


def slopes(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return the slopes of a field of heights; `size` is its width and its height."""
    width, height = size
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    waves = np.random.default_rng(width).uniform(-0.3, 0.3, (20, 3))
    heights = np.sum([np.sin(a * x + b * y + 20 * c) for a, b, c in waves], axis=0).astype(np.float32)
    own = cl.array.to_device(queue, heights)
    both, *apart = (cl.array.empty(queue, each * own.size, np.float32) for each in (2, 1, 1))
    wanted, inner = np.zeros((height, width, 2)), heights.astype(np.float64)
    wanted[1:-1, 1:-1, 0] = inner[1:-1, 2:] - inner[1:-1, :-2]
    wanted[1:-1, 1:-1, 1] = inner[2:, 1:-1] - inner[:-2, 1:-1]

    def read(found: list[Any]) -> Any:  # noqa: ANN401 (an array)
        return np.stack(found, axis=-1).reshape(wanted.shape)

    ours = left_in(
        [both], partial(pipeline(SplitJoin(ALONG_X, ALONG_Y, name="slope")), queue, own, out=both), read=read
    )
    if "fusion" in without:
        steps = zip((ALONG_X, ALONG_Y), apart, strict=True)
        ours = left_in(apart, *(partial(pipeline(each), queue, own, out=to) for each, to in steps), read=read)
    others = [plain(queue, "slope", size, dx, 1 - dx, own, to) for dx, to in zip((1, 0), apart, strict=True)]
    return Problem({"coarsen": ours, "plain": left_in(apart, *others, read=read)}, wanted, 1e-5)


def _image(size: Sizes) -> NDArray[np.float32]:
    return np.random.default_rng(size[0]).uniform(-1, 1, size[::-1]).astype(np.float32)


def _moved(image: Any, dx: int, dy: int) -> NDArray[np.float64]:  # noqa: ANN401 (of numbers of any type)
    """Return the neighbours of all elements."""
    height, width = image.shape
    padded = np.pad(image.astype(np.float64), RADIUS)
    return padded[RADIUS + dy : RADIUS + dy + height, RADIUS + dx : RADIUS + dx + width]


_SIZES: Any = {"width": 1000, "height": 1000}, ((64, 8192), (64, 8192)), 1 << 26
PROGRAMS = {
    name: Program(make, *_SIZES)
    for name, make in (("convolution", convolved), ("five-point", averaged), ("ocean", slopes))
}
