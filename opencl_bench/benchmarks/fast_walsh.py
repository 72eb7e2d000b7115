"""fastWalsh: the Walsh-Hadamard transform of 2 · items = 2^n elements in natural order, one launch per step."""

from __future__ import annotations

import numpy as np
from scipy.linalg import hadamard

from coarsen.errors import InvalidInputError

from ..benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from ..driver_tools import buffers, uint32, uniform


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
    """The matrix of order 2^levels is the Kronecker product of two smaller ones, applied to rows and columns."""
    rows, columns = 1 << (levels // 2), 1 << (levels - levels // 2)
    transformed: Array = hadamard(rows, float) @ elements.reshape(rows, columns) @ hadamard(columns, float)
    return transformed.reshape(-1)


BENCHMARK = Benchmark(
    name="fastWalsh",
    dimensions=(0,),
    presets={
        "test": Preset({"items": 1 << 9}, (128,)),
        "cpu": Preset({"items": 1 << 20}, (256,)),
        "paper": Preset({"items": 1 << 25}, (256,)),
    },
    divisible_local_sizes={0: (128,)},
    make_workload=make_workload,
)
