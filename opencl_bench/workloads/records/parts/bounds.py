"""Bounds of primitives, which both kernels of the k-d tree take.

Coordinates are whole parts of a power of two, so that all that is computed of them is exact.
"""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.records_driver import filled, record

BOUNDS = record(
    low_x="float", low_y="float", low_z="float",
    high_x="float", high_y="float", high_z="float",
    primitive="uint", level="uchar",
)  # fmt: skip
AXES = ("x", "y", "z")
# Of each axis, the space in which primitives lie.
LOWEST = (0.0, -64.0, 100.0)
EXTENTS = (8.0, 64.0, 128.0)
_PARTS = 1024


def random_bounds(count: int, levels: tuple[int, int], generator: np.random.Generator) -> Array:
    """Return bounds in a space of another range for each axis, most of them small; some touch its end."""
    sides: dict[str, Array] = {}
    for axis, lowest, extent in zip(AXES, LOWEST, EXTENTS, strict=True):
        low = generator.integers(0, _PARTS, count)
        high = np.minimum(low + generator.geometric(0.02, count), _PARTS)
        sides |= {
            f"low_{axis}": lowest + low * (extent / _PARTS),
            f"high_{axis}": lowest + high * (extent / _PARTS),
        }
    numbers = generator.permutation(count) + 1_000_000
    return filled(BOUNDS, **sides, primitive=numbers, level=generator.integers(*levels, count))
