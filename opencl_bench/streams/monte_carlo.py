"""Prices of European call options by random paths, as NVIDIA's SDK has them in MonteCarlo: means and their widths.

An option is a row, a path an element: a `Reduce` of rows adds up the payoffs and their squares side by side, as a
`float2`, from one evaluation of each. The random numbers of paths are the same for all options. What is left for
each option, a mean and half the width of its 95 % interval, is the host's part, as in the SDK.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
import pyopencl as cl
import pyopencl.array
import pyopencl.clmath
from numpy.typing import NDArray
from pyopencl.cltypes import float2

from coarsen.opencl_bench.streams import Problem, Program, Run
from coarsen.opencl_bench.streams.yardsticks import one_version
from coarsen.stream import Reduce

RATE, VOLATILITY = 0.06, 0.1
PAYOFF = (
    f"""
#define RATE {RATE}f
#define VOLATILITY {VOLATILITY}f
"""
    + """
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
)
ARGUMENTS = "const float *normals, const float *price, const float *strike, const float *years"
_PAYOFF = "payoff(price[row], strike[row], years[row], normals[i])"


def sums() -> Reduce:
    """Return the sums of payoffs and of their squares, a `float2` for each option."""
    return Reduce(
        "a + b",
        identity="0",
        map=f"with_square({_PAYOFF})",
        arguments=ARGUMENTS,
        dtype=float2,
        rows="options",
        length="paths",
        preamble=PAYOFF,
    )


def one_sum(map: str) -> Reduce:
    """Return one of both sums."""
    return Reduce(
        "a + b", identity="0", map=map, arguments=ARGUMENTS, rows="options", length="paths", preamble=PAYOFF
    )


def prices(sums: NDArray[np.float64], paths: int, years: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the price of each option, and half the width of its 95 % interval.

    Args:
        sums: of payoffs and of their squares, 2 × options.
        paths: of each option.
        years: until each option ends.
    """
    total, squares = sums
    deviation = np.sqrt(np.maximum(paths * squares - total**2, 0) / (paths * max(paths - 1, 1)))
    return np.exp(-RATE * years) * np.stack([total / paths, 1.96 * deviation / np.sqrt(paths)])


def options(queue: cl.CommandQueue, size: Sequence[int], without: Collection[str]) -> Problem:
    """Return the pricing of options; `size` is their number and that of paths."""
    many, paths = size
    generator = np.random.default_rng(many)
    normals = generator.standard_normal(paths).astype(np.float32)
    price, strike, years = (
        generator.uniform(*bounds, many).astype(np.float32) for bounds in ((5, 50), (10, 25), (1, 5))
    )
    given = [cl.array.to_device(queue, each) for each in (normals, price, strike, years)]
    drift, spread = (RATE - VOLATILITY**2 / 2) * years, VOLATILITY * np.sqrt(years)
    is_apart = "fusion" in without
    reductions = [one_sum(_PAYOFF), one_sum(f"pown({_PAYOFF}, 2)")] if is_apart else [sums()]
    if "choice" in without:
        reductions = [one_version(each, queue.device) for each in reductions]

    def ours() -> list[cl.array.Array]:
        return [each(queue, *given, options=many, paths=paths) for each in reductions]

    def plain() -> list[cl.array.Array]:
        found = []
        for own in range(many):
            ends = price[own] * cl.clmath.exp(given[0] * spread[own] + drift[own])
            payoffs = cl.array.maximum(ends - strike[own], cl.array.zeros_like(ends))
            found += [cl.array.sum(payoffs), cl.array.sum(payoffs * payoffs)]
        return found

    def answer(run: Run) -> NDArray[np.float64]:
        found = np.concatenate([each.get().reshape(-1).view(np.float32) for each in run()]).astype(np.float64)
        by_sums = found.reshape(2, many) if is_apart and run is ours else found.reshape(many, 2).T
        return prices(by_sums, paths, years)

    wanted = np.empty((2, many))
    for own in range(many):
        payoffs = np.maximum(
            price[own] * np.exp(drift[own] + spread[own] * normals.astype(np.float64)) - strike[own], 0
        )
        wanted[:, own] = payoffs.sum(), (payoffs**2).sum()
    runs: dict[str, Run] = {"coarsen": ours, "plain": plain}
    right = prices(wanted, paths, years)
    # A width is as much smaller as there are more paths.
    close = 1e-3 * np.outer((1, paths**-0.5), 1 + right[0])
    return Problem(runs, right, close, answers={name: partial(answer, run) for name, run in runs.items()})


PROGRAMS = {
    "monte-carlo": Program(("options", "paths"), (256, 16_000), (1, 256), (4096, 1 << 22), 1 << 24, options)
}
