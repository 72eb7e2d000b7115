"""lattice_boltzmann: a step of a D3Q19 fluid on a periodic lattice, each cell a record of nineteen fields."""

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
)

# Where the particles of each field go, along x, y and z.
_TOWARDS = {
    "rest": (0, 0, 0),
    "east": (1, 0, 0), "west": (-1, 0, 0), "north": (0, 1, 0), "south": (0, -1, 0),
    "top": (0, 0, 1), "bottom": (0, 0, -1),
}  # fmt: skip
_PAIRS = (
    "north_east", "north_west", "south_east", "south_west",
    "top_east", "top_west", "bottom_east", "bottom_west",
    "top_north", "top_south", "bottom_north", "bottom_south",
)  # fmt: skip
VELOCITIES = _TOWARDS | {
    name: tuple(np.sum([_TOWARDS[part] for part in name.split("_")], axis=0).tolist()) for name in _PAIRS
}
CELL = record(**dict.fromkeys(VELOCITIES, "float"), solid="uchar")
_WEIGHTS = {0: 1 / 3, 1: 1 / 18, 2: 1 / 36}
_SOLID_SHARE = 0.1
OMEGA = 1.25


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """Every field is drawn around a mean of its own; a tenth of the cells is solid."""
    shape = (size["depth"], size["height"], size["width"])
    weights = _weights()
    drawn = {
        name: weights[number] * generator.uniform(0.9, 1.1, shape) * (1 + number / 100)
        for number, name in enumerate(VELOCITIES)
    }
    before = filled(CELL, **drawn, solid=generator.random(shape) < _SOLID_SHARE)

    def reference() -> dict[str, Array]:
        return {"after": _stepped(before)}

    given = {"before": before, "after": unwritten_records(CELL, shape)}
    return Contents(given, ("after",), reference, 1e-4, 1e-6)


def _weights() -> Array:
    """The share of each field in a fluid at rest, by the number of axes that its velocity is along."""
    return np.array([_WEIGHTS[sum(map(abs, velocity))] for velocity in VELOCITIES.values()])


def _stepped(before: Array) -> Array:
    velocities = np.array(list(VELOCITIES.values()), np.float64)
    # Of a field, what a cell has next came from where its particles were before: the axes are z, y, x.
    streamed = np.stack(
        [
            np.roll(before[name].astype(np.float64), velocity[::-1], axis=(0, 1, 2))
            for name, velocity in VELOCITIES.items()
        ]
    )
    density = streamed.sum(axis=0)
    flow = np.tensordot(velocities.T, streamed, axes=1) / density
    along = np.tensordot(velocities, flow, axes=1)
    speed = np.square(flow).sum(axis=0)
    equilibrium = _weights()[:, None, None, None] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * speed)
    relaxed = streamed + OMEGA * (equilibrium - streamed)
    opposite = [int(np.flatnonzero((velocities == -velocity).all(axis=1))[0]) for velocity in velocities]
    fields = np.where(before["solid"] != 0, streamed[opposite], relaxed)
    return filled(CELL, **dict(zip(VELOCITIES, fields, strict=True)), solid=before["solid"])


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the cells."""
    extents = (size["width"], size["height"], size["depth"])
    arguments = (*buffers("before", "after"), *uint32(*extents), *float32(OMEGA))
    return (Launch("lattice_boltzmann", covering(extents, local_size), local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="lattice_boltzmann",
    file="lattice_boltzmann",
    records={"before": CELL, "after": CELL},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"width": 13, "height": 7, "depth": 5}, (4, 4, 4)),
        "small": Preset({"width": 53, "height": 31, "depth": 19}, (32, 2, 1)),
        "cpu": Preset({"width": 101, "height": 51, "depth": 37}, (32, 2, 1)),
        "gpu": Preset({"width": 255, "height": 191, "depth": 129}, (64, 4, 1), feasible=False),
    },
    local_sizes=((16, 4, 1), (32, 2, 1), (64, 1, 1), (64, 4, 1)),
)
