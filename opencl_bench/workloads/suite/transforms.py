"""Transforms and sums in steps.

dwtHaar1D  the 1-D Haar wavelet transform of a signal of 2^n elements, one launch per set of levels.
fastWalsh  the Walsh-Hadamard transform of 2 · items = 2^n elements in natural order, one launch per step.
reduce     sums of uint4 elements, one per work-group of `items` work-items that take two elements each.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.suite import Buffers, driver
from coarsen.tuning.workload.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.tuning.workload.driver_tools import buffers, uint32, uniform, unwritten

FLOAT_BYTES = 4


def _make_dwt_haar_1d(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Every launch leaves the averages that are the next launch's signal, until one is left."""
    (group,) = local_size
    if group < 2 or group & (group - 1):
        raise InvalidInputError(f"dwtHaar1D: the local size must be a power of two above 1, not {group}")
    signal = uniform(generator, -1, 1, size["length"])
    lengths = _lengths(size["length"], group)
    averages = {f"averages_{i}": unwritten(_padded(length, group), np.float32) for i, length in enumerate(lengths)}
    averages["averages_0"][: len(signal)] = signal
    final = f"averages_{len(lengths)}"

    def reference() -> dict[str, Array]:
        coefficients, average = _haar_transform(signal.astype(np.float64))
        # The average of the whole signal has its own buffer: coefficient 0 stays unwritten.
        coefficients[0] = np.nan
        return {"coefficients": coefficients.astype(np.float32), final: np.array([average], np.float32)}

    return Workload(
        buffers={
            **averages,
            "coefficients": unwritten(size["length"], np.float32),
            final: unwritten(1, np.float32),
        },
        launches=tuple(_haar_launch(index, length, group) for index, length in enumerate(lengths)),
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


def _haar_launch(index: int, length: int, group: int) -> Launch:
    levels = min(2 * group, length).bit_length() - 1
    arguments = (
        *buffers(f"averages_{index}", "coefficients", f"averages_{index + 1}"),
        LocalArgument(2 * group * FLOAT_BYTES),
        *uint32(levels, length, int(index == 0)),
    )
    return Launch("dwtHaar1D", (_padded(length, group) // 2,), (group,), arguments)


def _haar_transform(signal: Array) -> tuple[Array, float]:
    """The coefficients, those of a level of n elements at [n / 2, n), and the average that is left."""
    coefficients = np.empty_like(signal)
    approximation = signal / math.sqrt(len(signal))
    while len(approximation) > 1:
        even, odd = approximation[0::2], approximation[1::2]
        coefficients[len(even) : len(approximation)] = (even - odd) / math.sqrt(2)
        approximation = (even + odd) / math.sqrt(2)
    return coefficients, float(approximation[0])


DWT_HAAR_1D = Benchmark(
    name="dwtHaar1D",
    dimensions=(0,),
    presets={
        "test": Preset({"length": 1 << 12}, (64,)),
        "cpu": Preset({"length": 1 << 22}, (128,)),
        "paper": Preset({"length": 1 << 22}, (256,)),
        "gpu": Preset({"length": 1 << 26}, (256,)),
    },
    make_workload=_make_dwt_haar_1d,
    local_sizes=((32,), (64,), (128,), (256,)),
)


LEVELS_PER_MATRIX = 6


def _fast_walsh(buffers: Buffers) -> Buffers:
    elements = buffers["elements"]
    levels = len(elements).bit_length() - 1
    return {"elements": _walsh_transform(elements.astype(np.float64), levels).astype(np.float32)}


def _walsh_transform(elements: Array, levels: int) -> Array:
    """The matrix of order 2^levels is a Kronecker product of small ones, each applied along an axis of its own."""
    for start in range(0, levels, LEVELS_PER_MATRIX):
        matrix = _hadamard(min(LEVELS_PER_MATRIX, levels - start))
        # The last axis goes to the front, so that the next one is the last, and all are in order in the end.
        elements = (elements.reshape(-1, len(matrix)) @ matrix).T.reshape(-1)
    return elements


def _hadamard(levels: int) -> Array:
    """Hadamard's matrix of order 2^levels by Sylvester's construction."""
    return functools.reduce(np.kron, [np.array([[1.0, 1.0], [1.0, -1.0]])] * levels)


# Results grow to sqrt(n), each after log2(n) roundings.
FAST_WALSH = driver(
    "fastWalsh", _fast_walsh, lambda size: 1e-7 * size["items"].bit_length() * (2 * size["items"]) ** 0.5
)


def _reduce(buffers: Buffers) -> Buffers:
    by_group = buffers["input"].reshape(len(buffers["group_sums"]), -1, 4)
    return {"group_sums": by_group.sum(axis=1, dtype=np.uint32)}


REDUCE = driver("reduce", _reduce)
