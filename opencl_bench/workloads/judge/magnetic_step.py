"""magnetic_step: the magnetic field of a staggered grid, half a step on."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uint32, uniform
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

FACTOR = 0.4
FOLLOWING = {"x": ("y", "z"), "y": ("z", "x"), "z": ("x", "y")}
ELECTRIC, MAGNETIC = ("ex", "ey", "ez"), ("hx", "hy", "hz")


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """x is along dimension 0; the last layer along each axis stays as it is."""
    extents = (size["width"], size["height"], size["depth"])
    fields = {name: uniform(generator, -1, 1, extents[::-1]) for name in (*ELECTRIC, *MAGNETIC)}

    def reference() -> dict[str, Array]:
        return {f"h{axis}": _stepped(fields, axis) for axis in "xyz"}

    arguments = (*buffers(*ELECTRIC, *MAGNETIC), *uint32(*extents), *float32(FACTOR))
    return Workload(
        buffers=fields,
        launches=(Launch("magnetic_step", covering(extents, local_size), local_size, arguments),),
        outputs=MAGNETIC,
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-6,
    )


def _stepped(fields: dict[str, Array], axis: str) -> Array:
    """A component of the magnetic field minus the electric field's curl; the axes follow each other in a ring."""
    first, second = FOLLOWING[axis]
    inner = (slice(0, -1),) * 3
    stepped = fields[f"h{axis}"].copy()
    curl = _difference(fields[f"e{second}"], first) - _difference(fields[f"e{first}"], second)
    stepped[inner] -= np.float32(FACTOR) * curl[inner]
    return stepped


def _difference(field: Array, axis: str) -> Array:
    """The difference to the next cell along an axis; the last one's is not used."""
    return np.diff(field, axis="zyx".index(axis), append=0)


BENCHMARK = judge_benchmark(
    "magnetic_step",
    make_workload,
    {
        "test": Preset({"width": 35, "height": 14, "depth": 9}, (16, 4, 4)),
        "cpu": Preset({"width": 203, "height": 150, "depth": 99}, (32, 4, 2)),
        "gpu": Preset({"width": 511, "height": 383, "depth": 255}, (32, 4, 2)),
    },
    ((32, 2, 2), (64, 2, 1), (32, 4, 2), (8, 8, 4), (128, 1, 1)),
)
