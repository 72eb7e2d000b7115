"""reyes_shade: ambient, diffuse and specular light of several lamps at every vertex."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten_records
from coarsen.opencl_bench.workloads.records.parts.vertices import NORMAL, PLACE, VERTEX
from coarsen.opencl_bench.workloads.records_driver import (
    Contents,
    RecordsKernel,
    covering,
    filled,
    record,
    stacked,
)

COLOURS = ("red", "green", "blue")
LAMP = record(x="float", y="float", z="float", red="float", green="float", blue="float")
COLOUR = record(red="float", green="float", blue="float", coverage="uchar")
LAMPS = 5
_AMBIENT = (0.05, 0.06, 0.07)
_DIFFUSE, _SPECULAR, _SHININESS = 0.7, 0.3, 8
_EDGE = 128


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """Vertices before the eye, whose normals point towards it or away; lamps of one colour more than another."""
    shape = (size["height"], size["width"])
    ranges = dict(zip((*PLACE, *NORMAL), ((-4, -2), (3, 9), (20, 40), (-1, 1), (-2, 2), (-9, -1)), strict=True))
    coordinates = {name: generator.uniform(*ends, shape) for name, ends in ranges.items()}
    vertices = filled(
        VERTEX,
        **coordinates,
        patch=generator.integers(0, 1 << 16, shape),
        is_edge=generator.random(shape) < 1 / 8,
    )
    lamp_ranges = dict(
        zip((*PLACE, *COLOURS), ((-30, 0), (10, 50), (-9, 5), (0.5, 0.6), (0.2, 0.3), (0, 0.1)), strict=True)
    )
    lamps = filled(LAMP, **{name: generator.uniform(*ends, LAMPS) for name, ends in lamp_ranges.items()})

    def reference() -> dict[str, Array]:
        return {"colours": _shaded(vertices, lamps)}

    given = {"vertices": vertices, "lamps": lamps, "colours": unwritten_records(COLOUR, shape)}
    return Contents(given, ("colours",), reference, 1e-4, 1e-5)


def _shaded(vertices: Array, lamps: Array) -> Array:
    place, normal = stacked(vertices, *PLACE), _unit(stacked(vertices, *NORMAL))
    light = np.broadcast_to(np.array(_AMBIENT)[:, None, None], place.shape)
    for source, strength in zip(stacked(lamps, *PLACE).T, stacked(lamps, *COLOURS).T, strict=True):
        towards = _unit(source[:, None, None] - place)
        halfway = _unit(towards - _unit(place))
        facing, shining = ((normal * direction).sum(axis=0).clip(0) for direction in (towards, halfway))
        light = light + strength[:, None, None] * (_DIFFUSE * facing + _SPECULAR * shining**_SHININESS)
    coverage = np.where(vertices["is_edge"] != 0, _EDGE, 255 - vertices["patch"] % 16)
    return filled(COLOUR, **dict(zip(COLOURS, light, strict=True)), coverage=coverage)


def _unit(vectors: Array) -> Array:
    scaled: Array = vectors / np.linalg.norm(vectors, axis=0)
    return scaled


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the vertices."""
    extents = covering((size["width"], size["height"]), local_size)
    arguments = (
        *buffers("vertices", "lamps"), *uint32(LAMPS), *buffers("colours"),
        *uint32(size["width"], size["height"]),
    )  # fmt: skip
    return (Launch("reyes_shade", extents, local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="reyes_shade",
    file="reyes_shade",
    records={"vertices": VERTEX, "lamps": LAMP, "colours": COLOUR},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"width": 45, "height": 19}, (16, 4)),
        "small": Preset({"width": 253, "height": 131}, (32, 4)),
        "cpu": Preset({"width": 1021, "height": 509}, (32, 4)),
        "gpu": Preset({"width": 3839, "height": 2161}, (64, 4)),
    },
    local_sizes=((16, 4), (32, 4), (64, 1), (64, 4)),
)
