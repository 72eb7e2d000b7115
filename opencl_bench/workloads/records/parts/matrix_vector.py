"""The matrix and the vector that both products take."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Size
from coarsen.opencl_bench.workloads.driver_tools import uniform, unwritten
from coarsen.opencl_bench.workloads.records_driver import Contents


def make_contents(size: Size, generator: np.random.Generator, is_transposed: bool) -> Contents:
    """A matrix whose rows grow downwards, so that one taken for another shows.

    Args:
        size: `height` and `width`.
        generator: of random numbers.
        is_transposed: whether the product is that of the transposed matrix.
    """
    height, width = size["height"], size["width"]
    growth = np.linspace(0.5, 2, height, dtype=np.float32)[:, None]
    matrix = uniform(generator, -1, 3, (height, width)) * growth
    vector = uniform(generator, -5, -1, height if is_transposed else width)

    def reference() -> dict[str, Array]:
        factor = matrix.T if is_transposed else matrix
        return {"result": (factor.astype(np.float64) @ vector).astype(np.float32)}

    result = unwritten(width if is_transposed else height, np.float32)
    given = {"matrix": matrix, "vector": vector, "result": result}
    return Contents(given, ("result",), reference, 1e-4, 1e-5 * len(vector))
