"""reyes_dice: bicubic Bezier patches, diced into grids of vertices with normals."""

from __future__ import annotations

import math

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

POINT = record(x="float", y="float", z="float")
_DEGREE = 3
_JITTER = 0.2
# Of each coordinate, where patches lie and how long they are.
_CENTRES = (-3.0, 5.0, 40.0)


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """Control points near a regular grid of their patch, each coordinate in a range of its own."""
    shape = (size["patches"], _DEGREE + 1, _DEGREE + 1)
    around = generator.uniform(-_JITTER, _JITTER, (len(PLACE), *shape))
    along_u, along_v = np.arange(4)[None, None, :], np.arange(4)[None, :, None]
    slopes = (2 * along_u, 3 * along_v, along_u - along_v)
    places = {
        name: centre + slope + jitter
        for name, centre, slope, jitter in zip(PLACE, _CENTRES, slopes, around, strict=True)
    }
    control = filled(POINT, **places)

    def reference() -> dict[str, Array]:
        return {"vertices": _diced(control, size["columns"], size["rows"])}

    vertices = unwritten_records(VERTEX, (size["patches"], size["rows"], size["columns"]))
    return Contents({"control": control, "vertices": vertices}, ("vertices",), reference, 1e-4, 1e-3)


def _diced(control: Array, columns: int, rows: int) -> Array:
    """The tensor product of Bernstein polynomials, normals by the cross product of its derivatives."""
    points = stacked(control, *PLACE)
    (u, u_slope), (v, v_slope) = _polynomials(columns), _polynomials(rows)

    def surface(down: Array, across: Array) -> Array:
        summed: Array = np.einsum("cpij,ri,sj->cprs", points, down, across, optimize=True)
        return summed

    place = surface(v, u)
    normal = np.cross(surface(v, u_slope), surface(v_slope, u), axis=0)
    row, column = np.arange(rows)[:, None], np.arange(columns)
    is_edge = (row % (rows - 1) == 0) | (column % (columns - 1) == 0)
    coordinates = dict(zip((*PLACE, *NORMAL), (*place, *normal), strict=True))
    return filled(VERTEX, **coordinates, patch=np.arange(len(control))[:, None, None], is_edge=is_edge)


def _polynomials(count: int) -> tuple[Array, Array]:
    """The cubic Bernstein polynomials at so many places from 0 to 1, and their derivatives."""
    at = np.linspace(0, 1, count)
    lower = _bernstein(at, _DEGREE - 1)
    before = np.pad(lower, ((0, 0), (1, 0)))
    after = np.pad(lower, ((0, 0), (0, 1)))
    return _bernstein(at, _DEGREE), _DEGREE * (before - after)


def _bernstein(at: Array, degree: int) -> Array:
    return np.stack([math.comb(degree, k) * at**k * (1 - at) ** (degree - k) for k in range(degree + 1)], axis=1)


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the vertices of all patches."""
    extents = covering((size["columns"], size["rows"], size["patches"]), local_size)
    arguments = (*buffers("control", "vertices"), *uint32(size["columns"], size["rows"]))
    return (Launch("reyes_dice", extents, local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="reyes_dice",
    file="reyes_dice",
    records={"control": POINT, "vertices": VERTEX},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"patches": 4, "columns": 13, "rows": 7}, (4, 4, 4)),
        "small": Preset({"patches": 8, "columns": 67, "rows": 43}, (16, 4, 1)),
        "cpu": Preset({"patches": 32, "columns": 147, "rows": 83}, (16, 4, 1)),
        "gpu": Preset({"patches": 256, "columns": 243, "rows": 131}, (64, 4, 1)),
    },
    local_sizes=((16, 4, 1), (32, 1, 1), (64, 1, 1), (64, 4, 1)),
)
