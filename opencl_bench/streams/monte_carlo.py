"""Prices of European call options by random paths, as NVIDIA's SDK has them in MonteCarlo: means and their widths.

An option is a row, a path an element: a `Reduce` of rows adds up the payoffs and their squares side by side, as a
`float2`, from one evaluation of each. The random numbers of paths are the same for all options. What is left for
each option, a mean and half the width of its 95 % interval, is the host's part, as in the SDK.
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

from coarsen.opencl_bench.streams import Problem, Program, answers
from coarsen.opencl_bench.streams.yardsticks import one_by_one, one_version, plain
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


def both_sums() -> Reduce:
    """Return the sums of payoffs and of their squares, a `float2` for each option."""
    return summed(f"with_square({_PAYOFF})", float2)


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


def options(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the pricing of options; `size` is their number and that of paths."""
    many, paths = size
    generator = np.random.default_rng(many)
    normals = generator.standard_normal(paths).astype(np.float32)
    price, strike, years = (
        generator.uniform(*bounds, many).astype(np.float32) for bounds in ((5, 50), (10, 25), (1, 5))
    )
    given = [cl.array.to_device(queue, each) for each in (normals, price, strike, years)]
    reductions = [both_sums()]
    if "fusion" in without:
        reductions = [summed(_PAYOFF), summed(f"pown({_PAYOFF}, 2)")]
    if "choice" in without:
        reductions = [one_version(each, queue.device) for each in reductions]
    own = [cl.array.empty(queue, many, float2 if len(reductions) == 1 else np.float32) for _ in reductions]
    between, *apart = (cl.array.empty(queue, each, np.float32) for each in (many * paths, many, many))
    launches = [plain(queue, "payoffs", (paths, many), RATE, VOLATILITY, *given, between)]
    for power, to in enumerate(apart, 1):
        launches.append(plain(queue, "sum_powers", (many,), power, paths, between, to))
    sizes = {"options": many, "paths": paths}
    ours = (partial(each, queue, *given, out=to, **sizes) for each, to in zip(reductions, own, strict=True))
    runs = {"coarsen": one_by_one(*ours), "plain": one_by_one(*launches)}
    sums = np.empty((2, many))
    drift, spread = (RATE - VOLATILITY**2 / 2) * years, VOLATILITY * np.sqrt(years)
    for option in range(many):
        ends = price[option] * np.exp(drift[option] + spread[option] * normals.astype(np.float64))
        payoffs = np.maximum(ends - strike[option], 0)
        sums[:, option] = payoffs.sum(), (payoffs**2).sum()
    wanted, read = prices([*sums], paths, years), partial(prices, paths=paths, years=years)
    # A width is as much smaller as there are more paths.
    close = 1e-3 * np.outer((1, paths**-0.5), 1 + wanted[0])
    return Problem(runs, wanted, close, answers(runs, {"coarsen": own, "plain": apart}, read))


_BOUNDS = (1, 4096), (256, 1 << 22)
PROGRAMS = {"monte-carlo": Program(options, ("options", "paths"), (256, 16_000), _BOUNDS, 1 << 24)}
