"""Vertices of a diced patch, which the dicing kernel writes and the shading kernel reads."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.records_driver import record

PLACE = ("x", "y", "z")
NORMAL = ("normal_x", "normal_y", "normal_z")
VERTEX = record(
    x="float", y="float", z="float",
    normal_x="float", normal_y="float", normal_z="float",
    patch="ushort", is_edge="uchar",
)  # fmt: skip
