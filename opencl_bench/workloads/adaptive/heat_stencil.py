"""heatStencil: a step of heat conduction in boxes, from plates to columns."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    FLOAT_BYTES,
    AdaptiveKernel,
    Macros,
    coarsened_only_with,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, round_up, uint32, uniform
from coarsen.opencl_bench.workloads.input_space import InputSpace

CELLS, COLUMNS, PLANES = range(3)
MACROS: Macros = {"IMPL": (CELLS, COLUMNS, PLANES), "DEPTH": (8, 2, 32)}
CENTRE, SIDE = 0.4, 0.1


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch over the inner cells, or over columns of them."""
    nx, ny, nz = size["nx"], size["ny"], size["nz"]
    chosen = values_of(MACROS, size)
    group_x, group_y, group_z = local_size
    depth = 1 if chosen["IMPL"] == CELLS else chosen["DEPTH"]
    extents = (
        round_up(nx - 2, group_x),
        round_up(ny - 2, group_y),
        round_up(-(-(nz - 2) // depth), group_z),
    )
    plane = LocalArgument(FLOAT_BYTES * ((group_x + 2) * (group_y + 2) if chosen["IMPL"] == PLANES else 1))
    arguments = (*buffers("input", "output"), *uint32(nx, ny, nz), *float32(CENTRE, SIDE), plane)
    return (Launch("heatStencil", extents, local_size, arguments),)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The edges are in the output before."""
    cells = uniform(generator, -1, 1, (size["nz"], size["ny"], size["nx"]))
    before = np.full_like(cells, np.nan)
    for axis in range(3):
        edges = np.moveaxis(before, axis, 0)
        edges[[0, -1]] = np.moveaxis(cells, axis, 0)[[0, -1]]

    def reference() -> dict[str, Array]:
        wide = cells.astype(np.float64)
        about = sum(np.roll(wide, step, axis) for axis in range(3) for step in (1, -1))
        inner = (slice(1, -1),) * 3
        after = before.copy()
        after[inner] = (np.float32(CENTRE) * wide + np.float32(SIDE) * about)[inner]
        return {"output": after}

    return Workload(
        buffers={"input": cells, "output": before},
        launches=make_launches(size, local_size),
        outputs=("output",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


KERNELS = (
    AdaptiveKernel(
        kernel="heatStencil",
        inputs=InputSpace(
            ranges={"nx": (6, 1024), "ny": (6, 1024), "nz": (6, 512)},
            limits=("nx * ny * nz <= 4194304", "nx * ny * nz >= 8192"),
            groups=32,
            corners=(
                {"nx": 1024, "ny": 512, "nz": 6},
                {"nx": 16, "ny": 512, "nz": 256},
                {"nx": 128, "ny": 128, "nz": 128},
            ),
        ),
        test={"nx": 37, "ny": 21, "nz": 11},
        local_sizes=((32, 4, 1), (16, 4, 1), (64, 2, 1), (64, 4, 1), (128, 1, 1), (8, 8, 1), (256, 1, 1)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(only_with(MACROS, "DEPTH", "IMPL", COLUMNS, PLANES), coarsened_only_with("IMPL", CELLS)),
        factors=(2, 4),
        features={"nx": "nx", "ny": "ny", "nz": "nz", "cells": "nx * ny * nz", "plane": "nx * ny"},
    ),
)
