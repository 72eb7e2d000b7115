"""layered_heat: a step of heat in a body of several materials, height × width cells."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, int32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark

STEP = 0.05
INSULATING_SHARE = 0.1


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Some cells don't conduct at all; the border isn't written."""
    width, height = size["width"], size["height"]
    temperature = uniform(generator, 0, 100, (height, width))
    conductivity = uniform(generator, 0.1, 4, (height, width))
    conductivity[generator.random((height, width)) < INSULATING_SHARE] = 0
    capacity = uniform(generator, 1, 2, (height, width))
    before = unwritten((height, width), np.float32)

    def reference() -> dict[str, Array]:
        following = before.copy()
        gained = sum(_flow(temperature, conductivity, shift) for shift in ((0, -1), (0, 1), (-1, 0), (1, 0)))
        following[1:-1, 1:-1] = temperature[1:-1, 1:-1] + STEP * gained / capacity[1:-1, 1:-1]
        return {"next": following}

    arguments = (
        *buffers("temperature", "conductivity", "capacity", "next"),
        *int32(width, height),
        *float32(STEP),
    )
    given = {"temperature": temperature, "conductivity": conductivity, "capacity": capacity}
    return Workload(
        buffers={**given, "next": before},
        launches=(Launch("layered_heat", covering((width - 2, height - 2), local_size), local_size, arguments),),
        outputs=("next",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=1e-4,
    )


def _flow(temperature: Array, conductivity: Array, shift: tuple[int, int]) -> Array:
    """What flows into the inner cells from the neighbours in one direction."""
    here, there = ((slice(1, -1),) * 2, tuple(slice(1 + by, -1 + by or None) for by in shift))
    own, other = conductivity[here].astype(np.float64), conductivity[there].astype(np.float64)
    both = own + other
    mean = np.divide(2 * own * other, both, out=np.zeros(both.shape), where=both > 0)
    flow: Array = mean * (temperature[there].astype(np.float64) - temperature[here])
    return flow


BENCHMARK = judge_benchmark(
    "layered_heat",
    make_workload,
    {
        "test": Preset({"width": 61, "height": 39}, (16, 8)),
        "cpu": Preset({"width": 2001, "height": 1203}, (16, 16)),
        "gpu": Preset({"width": 6001, "height": 6003}, (32, 8)),
    },
    ((8, 8), (16, 16), (32, 8), (64, 4), (128, 1)),
)
