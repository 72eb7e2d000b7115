"""blackscholes: call and put prices of European options, more options than work-items."""

from __future__ import annotations

import math

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import (
    buffers,
    float32,
    round_up,
    uint32,
    uniform,
    unwritten,
)

INTEREST = 0.02
VOLATILITY = 0.30


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Prices of 5 to 30, strikes of 1 to 100, times of a quarter of a year to ten years."""
    options = size["options"]
    prices = uniform(generator, 5, 30, options)
    strikes = uniform(generator, 1, 100, options)
    years = uniform(generator, 0.25, 10, options)

    def reference() -> dict[str, Array]:
        return _prices(prices.astype(np.float64), strikes.astype(np.float64), years.astype(np.float64))

    items = round_up(size["items"], local_size[0])
    arguments = (
        *buffers("calls", "puts", "prices", "strikes", "years"), *float32(INTEREST, VOLATILITY), *uint32(options),
    )  # fmt: skip
    return Workload(
        buffers={
            "calls": unwritten(options, np.float32),
            "puts": unwritten(options, np.float32),
            "prices": prices,
            "strikes": strikes,
            "years": years,
        },
        launches=(Launch("blackscholes", (items,), local_size, arguments),),
        outputs=("calls", "puts"),
        reference=reference,
        relative_tolerance=1e-5,
        # The results are differences of numbers up to 100.
        absolute_tolerance=5e-5,
    )


def _prices(prices: Array, strikes: Array, years: Array) -> dict[str, Array]:
    deviation = VOLATILITY * np.sqrt(years)
    first = (np.log(prices / strikes) + (INTEREST + VOLATILITY**2 / 2) * years) / deviation
    second = first - deviation
    discounted = strikes * np.exp(-INTEREST * years)
    in_the_money, above_strike = _cumulative_normal(first), _cumulative_normal(second)
    calls = prices * in_the_money - discounted * above_strike
    puts = discounted * (1 - above_strike) - prices * (1 - in_the_money)
    return {"calls": calls.astype(np.float32), "puts": puts.astype(np.float32)}


def _cumulative_normal(values: Array) -> Array:
    """The cumulative normal distribution by the complementary error function, which the kernel does without."""
    scaled = values * -math.sqrt(0.5)
    return np.fromiter(map(math.erfc, scaled), np.float64, len(scaled)) / 2


BENCHMARK = Benchmark(
    name="blackscholes",
    dimensions=(0,),
    presets={
        "test": Preset({"options": 1000, "items": 384}, (192,)),
        "cpu": Preset({"options": 2_000_000, "items": 1 << 18}, (128,)),
        "paper": Preset({"options": 1 << 24, "items": 1 << 24}, (128,)),
        "gpu": Preset({"options": 1 << 25, "items": 1 << 22}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
