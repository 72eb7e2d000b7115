"""nbody_records: a time step of gravity among bodies that are records."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uint32, unwritten_records
from coarsen.opencl_bench.workloads.records_driver import (
    Contents,
    RecordsKernel,
    covering,
    filled,
    record,
    stacked,
)

PLACE = ("x", "y", "z")
VELOCITY = ("velocity_x", "velocity_y", "velocity_z")
BODY = record(
    x="float", y="float", z="float", mass="float",
    velocity_x="float", velocity_y="float", velocity_z="float",
    number="uint", kind="uchar",
)  # fmt: skip
STEP = 0.0625
SOFTENING = 0.25
_RANGES = {
    "x": (-1, 1), "y": (4, 7), "z": (-20, -15), "mass": (0.5, 1.5),
    "velocity_x": (0.25, 0.5), "velocity_y": (-2, -1), "velocity_z": (3, 5),
}  # fmt: skip


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """A fifth of the bodies are of kind 0, which pulls none."""
    count = size["bodies"]
    drawn = {name: generator.uniform(*ends, count) for name, ends in _RANGES.items()}
    numbers, kinds = generator.permutation(count) + 70_000, generator.integers(0, 5, count)
    before = filled(BODY, **drawn, number=numbers, kind=kinds)
    before["mass"] /= count

    def reference() -> dict[str, Array]:
        return {"after": _moved(before)}

    given = {"before": before, "after": unwritten_records(BODY, count)}
    return Contents(given, ("after",), reference, 1e-4, 1e-5)


def _moved(before: Array) -> Array:
    after = before.copy()
    place, velocity = stacked(before, *PLACE), stacked(before, *VELOCITY)
    pulling = before["kind"] != 0
    sources, masses = place[:, pulling], before["mass"][pulling].astype(np.float64)
    for body in range(len(before)):
        distance = sources - place[:, body, None]
        squared = np.einsum("ij,ij->j", distance, distance) + SOFTENING
        velocity[:, body] += STEP * (distance @ (masses * squared**-1.5))
    for name, speed in zip(VELOCITY, velocity, strict=True):
        after[name] = speed
    for name, coordinate in zip(PLACE, place + STEP * velocity, strict=True):
        after[name] = coordinate
    return after


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the bodies."""
    arguments = (*buffers("before", "after"), *uint32(size["bodies"]), *float32(STEP, SOFTENING))
    return (Launch("nbody_records", covering((size["bodies"],), local_size), local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="nbody_records",
    file="nbody",
    records={"before": BODY, "after": BODY},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"bodies": 203}, (32,)),
        "small": Preset({"bodies": 1_001}, (64,)),
        "cpu": Preset({"bodies": 4001}, (64,)),
        "gpu": Preset({"bodies": 65_003}, (256,), feasible=False),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
)
