"""fastWalsh: the Walsh-Hadamard transform of 2 · items = 2^n elements in natural order, one launch per step."""

from __future__ import annotations

import functools

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, uniform

LEVELS_PER_MATRIX = 6


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The launches' steps are 1, 2, 4, … up to `items`."""
    items = size["items"]
    if items % local_size[0]:
        raise InvalidInputError(f"fastWalsh: the local size must divide {items}, not {local_size[0]}")
    elements = uniform(generator, -1, 1, 2 * items)
    levels = items.bit_length()

    def reference() -> dict[str, Array]:
        return {"elements": _transform(elements.astype(np.float64), levels).astype(np.float32)}

    return Workload(
        buffers={"elements": elements},
        launches=tuple(
            Launch("fastWalsh", (items,), local_size, (*buffers("elements"), *uint32(1 << level)))
            for level in range(levels)
        ),
        outputs=("elements",),
        reference=reference,
        relative_tolerance=1e-5,
        # Results grow to sqrt(n), each after log2(n) roundings.
        absolute_tolerance=1e-7 * levels * (2 * items) ** 0.5,
    )


def _transform(elements: Array, levels: int) -> Array:
    """The matrix of order 2^levels is a Kronecker product of small ones, each applied along an axis of its own."""
    for start in range(0, levels, LEVELS_PER_MATRIX):
        matrix = _hadamard(min(LEVELS_PER_MATRIX, levels - start))
        # The last axis goes to the front, so that the next one is the last, and all are in order in the end.
        elements = (elements.reshape(-1, len(matrix)) @ matrix).T.reshape(-1)
    return elements


def _hadamard(levels: int) -> Array:
    """Hadamard's matrix of order 2^levels by Sylvester's construction."""
    return functools.reduce(np.kron, [np.array([[1.0, 1.0], [1.0, -1.0]])] * levels)


BENCHMARK = Benchmark(
    name="fastWalsh",
    dimensions=(0,),
    presets={
        "test": Preset({"items": 1 << 9}, (128,)),
        "cpu": Preset({"items": 1 << 20}, (256,)),
        "paper": Preset({"items": 1 << 25}, (256,)),
        "gpu": Preset({"items": 1 << 25}, (256,)),
    },
    divisible_local_sizes={0: (128,)},
    make_workload=make_workload,
    local_sizes=((32,), (64,), (128,), (256,)),
)
