"""black_scholes_records: prices of European options that are records of 15 bytes in 16."""

from __future__ import annotations

import math

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uint32, unwritten_records
from coarsen.opencl_bench.workloads.records_driver import (
    Contents,
    RecordsKernel,
    covering,
    filled,
    record,
)

OPTION = record(spot="float", strike="float", years="float", contracts="ushort", is_put="uchar")
QUOTE = record(price="float", delta="float", contracts="uint")
RATE = 0.03125
VOLATILITY = 0.25


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """Spots of 5 to 30, strikes of 40 to 60 in one half and 1 to 20 in the other, a quarter of a year to ten."""
    count = size["options"]
    is_far = generator.random(count) < 1 / 2
    options = filled(
        OPTION,
        spot=generator.uniform(5, 30, count),
        strike=np.where(is_far, generator.uniform(40, 60, count), generator.uniform(1, 20, count)),
        years=generator.uniform(0.25, 10, count),
        contracts=generator.integers(1000, 1 << 16, count),
        is_put=generator.integers(0, 2, count),
    )

    def reference() -> dict[str, Array]:
        return {"quotes": _quotes(options)}

    given = {"options": options, "quotes": unwritten_records(QUOTE, count)}
    return Contents(given, ("quotes",), reference, 1e-5, 5e-5)


def _quotes(options: Array) -> Array:
    """Calls and puts, each by its own formula."""
    spot, strike, years = (options[name].astype(np.float64) for name in ("spot", "strike", "years"))
    deviation = VOLATILITY * np.sqrt(years)
    first = (np.log(spot / strike) + RATE * years) / deviation + deviation / 2
    second = first - deviation
    discounted = strike * np.exp(-RATE * years)
    calls = spot * _normal(first) - discounted * _normal(second)
    puts = discounted * _normal(-second) - spot * _normal(-first)
    is_put = options["is_put"] != 0
    return filled(
        QUOTE,
        price=np.where(is_put, puts, calls),
        delta=np.where(is_put, -_normal(-first), _normal(first)),
        contracts=options["contracts"],
    )


def _normal(x: Array) -> Array:
    return np.array([math.erfc(-each / math.sqrt(2)) / 2 for each in x.tolist()])


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the options."""
    arguments = (*buffers("options", "quotes"), *uint32(size["options"]), *float32(RATE, VOLATILITY))
    return (Launch("black_scholes_records", covering((size["options"],), local_size), local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="black_scholes_records",
    file="black_scholes",
    records={"options": OPTION, "quotes": QUOTE},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"options": 1013}, (64,)),
        "small": Preset({"options": 60_013}, (128,)),
        "cpu": Preset({"options": 100_003}, (128,)),
        "gpu": Preset({"options": 5_000_011}, (256,)),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
)
