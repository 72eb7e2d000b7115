"""dwtHaar1D: the 1-D Haar wavelet transform of a signal of 2^n elements, one launch per set of levels."""

from __future__ import annotations

import math

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, require_power_of_two, uint32, uniform, unwritten

FLOAT_BYTES = 4


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Every launch leaves the averages that are the next launch's signal, until one is left."""
    require_power_of_two("dwtHaar1D", local_size)
    (group,) = local_size
    signal = uniform(generator, -1, 1, size["length"])
    lengths = _lengths(size["length"], group)
    averages = {f"averages_{i}": unwritten(_padded(length, group), np.float32) for i, length in enumerate(lengths)}
    averages["averages_0"][: len(signal)] = signal
    final = f"averages_{len(lengths)}"

    def reference() -> dict[str, Array]:
        coefficients, average = _transform(signal.astype(np.float64))
        # The average of the whole signal has its own buffer: coefficient 0 stays unwritten.
        coefficients[0] = np.nan
        return {"coefficients": coefficients.astype(np.float32), final: np.array([average], np.float32)}

    return Workload(
        buffers={
            **averages,
            "coefficients": unwritten(size["length"], np.float32),
            final: unwritten(1, np.float32),
        },
        launches=tuple(_launch(index, length, group) for index, length in enumerate(lengths)),
        outputs=("coefficients", final),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


def _lengths(length: int, group: int) -> list[int]:
    """Return the number of elements of each launch's signal."""
    lengths: list[int] = []
    while length > 1:
        lengths.append(length)
        length //= min(2 * group, length)
    return lengths


def _padded(length: int, group: int) -> int:
    """A work-group reads two elements for each work-item, even if fewer are left to transform."""
    return max(length, 2 * group)


def _launch(index: int, length: int, group: int) -> Launch:
    levels = min(2 * group, length).bit_length() - 1
    arguments = (
        *buffers(f"averages_{index}", "coefficients", f"averages_{index + 1}"),
        LocalArgument(2 * group * FLOAT_BYTES),
        *uint32(levels, length, int(index == 0)),
    )
    return Launch("dwtHaar1D", (_padded(length, group) // 2,), (group,), arguments)


def _transform(signal: Array) -> tuple[Array, float]:
    """The coefficients, those of a level of n elements at [n / 2, n), and the average that is left."""
    coefficients = np.empty_like(signal)
    approximation = signal / math.sqrt(len(signal))
    while len(approximation) > 1:
        even, odd = approximation[0::2], approximation[1::2]
        coefficients[len(even) : len(approximation)] = (even - odd) / math.sqrt(2)
        approximation = (even + odd) / math.sqrt(2)
    return coefficients, float(approximation[0])


BENCHMARK = Benchmark(
    name="dwtHaar1D",
    dimensions=(0,),
    presets={
        "test": Preset({"length": 1 << 12}, (64,)),
        "cpu": Preset({"length": 1 << 22}, (128,)),
        "paper": Preset({"length": 1 << 22}, (256,)),
        "gpu": Preset({"length": 1 << 26}, (256,)),
    },
    divisible_local_sizes={0: (128,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
