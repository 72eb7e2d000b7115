"""Prices of European call options by random paths, as NVIDIA's SDK has them in MonteCarlo: means and their widths.

An option is a row, a path an element: a `Reduce` of rows adds up the payoffs and their squares side by side, as a
`float2`, from one evaluation of each. The random numbers of paths are the same for all options. What is left for
each option, a mean and half the width of its 95 % interval, is the host's part, as in the SDK.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
from numpy.typing import NDArray
from pyopencl.cltypes import float2

from coarsen.opencl_bench.streams import Problem, Program, Sizes, Without, chosen, left_in, plain
from coarsen.stream import Reduce

RATE, VOLATILITY = 0.06, 0.1
PAYOFF = """
float payoff(float price, float strike, float years, float normal)
{
    const float drift = (RATE - 0.5f * VOLATILITY * VOLATILITY) * years, spread = VOLATILITY * sqrt(years);
    return fmax(price * exp(drift + spread * normal) - strike, 0.0f);
}

float2 with_square(float value)
{
    return (float2)(value, value * value);
}
"""
_PAYOFF = "payoff(price[row], strike[row], years[row], normals[i])"


def summed(map: str, dtype: Any = np.float32) -> Reduce:  # noqa: ANN401 (whatever NumPy takes)
    """Return sums for each option."""
    return Reduce(
        "a + b",
        identity="0",
        map=map,
        arguments="const float *normals, const float *price, const float *strike, const float *years",
        dtype=dtype,
        rows="options",
        length="paths",
        preamble=f"#define RATE {RATE}f\n#define VOLATILITY {VOLATILITY}f\n{PAYOFF}",
    )


def prices(found: Sequence[NDArray[Any]], paths: int, years: NDArray[Any]) -> NDArray[np.float64]:
    """Return the price of each option, and half the width of its 95 % interval.

    Args:
        found: sums of payoffs and of their squares, each of all options; or pairs of them.
        paths: of each option.
        years: until each option ends.
    """
    total, squares = (found[0]["x"], found[0]["y"]) if len(found) == 1 else found
    variance = (paths * squares.astype(np.float64) - total.astype(np.float64) ** 2) / (paths * max(paths - 1, 1))
    width = 1.96 * np.sqrt(np.maximum(variance, 0) / paths)
    return np.exp(-RATE * years) * np.stack([total / paths, width])


def options(queue: cl.CommandQueue, size: Sizes, without: Without) -> Problem:
    """Return the pricing of options; `size` is their number and that of paths."""
    many, paths = size
    draw = np.random.default_rng(many)
    normals = draw.standard_normal(paths).astype(np.float32)
    price, strike, years = (draw.uniform(*each, many).astype(np.float32) for each in ((5, 50), (10, 25), (1, 5)))
    given = [cl.array.to_device(queue, each) for each in (normals, price, strike, years)]
    if "fusion" in without:
        reductions, dtype = [summed(_PAYOFF), summed(f"pown({_PAYOFF}, 2)")], np.dtype(np.float32)
    else:
        reductions, dtype = [summed(f"with_square({_PAYOFF})", float2)], float2
    own = [cl.array.empty(queue, many, dtype) for _ in reductions]
    launches = [
        partial(chosen(each, queue, without), queue, *given, out=to, options=many, paths=paths)
        for each, to in zip(reductions, own, strict=True)
    ]
    between, *apart = (cl.array.empty(queue, each, np.float32) for each in (many * paths, many, many))
    others = [plain(queue, "payoffs", (paths, many), RATE, VOLATILITY, *given, between)]
    others += [plain(queue, "sum_powers", (many,), 1 + n, paths, between, to) for n, to in enumerate(apart)]
    read = partial(prices, paths=paths, years=years)
    ways = {"coarsen": left_in(own, *launches, read=read), "plain": left_in(apart, *others, read=read)}
    sums = np.empty((2, many))
    for n in range(many):
        drift, spread = (RATE - VOLATILITY**2 / 2) * years[n], VOLATILITY * np.sqrt(years[n])
        payoffs = np.maximum(price[n] * np.exp(drift + spread * normals.astype(np.float64)) - strike[n], 0)
        sums[:, n] = payoffs.sum(), (payoffs**2).sum()
    wanted = read([*sums])
    # A width is as much smaller as there are more paths.
    return Problem(ways, wanted, 1e-3 * np.outer((1, paths**-0.5), 1 + wanted[0]))


_BOUNDS = (1, 4096), (256, 1 << 22)
PROGRAMS = {"monte-carlo": Program(options, {"options": 256, "paths": 16_000}, _BOUNDS, 1 << 24)}
