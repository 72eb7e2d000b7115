"""kd_split: primitives of a node of a k-d tree, split by a plane and clipped."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uint32, unwritten_records
from coarsen.opencl_bench.workloads.records.parts.bounds import AXES, BOUNDS, EXTENTS, LOWEST, random_bounds
from coarsen.opencl_bench.workloads.records_driver import (
    Contents,
    RecordsKernel,
    covering,
    filled,
    record,
)

PLACE = record(left="uint", right="uint")
_AXIS = 1
# Three eighths of the extent, so that the sides are of unequal size.
_PLANE = LOWEST[_AXIS] + EXTENTS[_AXIS] * 3 / 8


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """The places are those of a scan; the outputs have room for all primitives, and a part stays unwritten."""
    bounds = random_bounds(size["primitives"], (3, 200), generator)
    low, high = (bounds[f"{side}_{AXES[_AXIS]}"] for side in ("low", "high"))
    goes_left, goes_right = low < _PLANE, high >= _PLANE
    places = filled(PLACE, left=np.cumsum(goes_left) - goes_left, right=np.cumsum(goes_right) - goes_right)
    count = len(bounds)

    def reference() -> dict[str, Array]:
        return {
            "left": _side(bounds[goes_left], count, "high", np.minimum),
            "right": _side(bounds[goes_right], count, "low", np.maximum),
        }

    empty = {side: unwritten_records(BOUNDS, count) for side in ("left", "right")}
    return Contents({"bounds": bounds, "places": places, **empty}, ("left", "right"), reference)


def _side(chosen: Array, count: int, bound: str, clip: np.ufunc) -> Array:
    """The primitives of one side in their order, a level deeper, one bound clipped; then what nothing writes."""
    side = unwritten_records(BOUNDS, count)
    side[: len(chosen)] = chosen
    written = side[: len(chosen)]
    written["level"] += 1
    name = f"{bound}_{AXES[_AXIS]}"
    written[name] = clip(written[name], np.float32(_PLANE))
    return side


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the primitives."""
    arguments = (
        *buffers("bounds", "places"), *uint32(size["primitives"], _AXIS), *float32(_PLANE),
        *buffers("left", "right"),
    )  # fmt: skip
    return (Launch("kd_split", covering((size["primitives"],), local_size), local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="kd_split",
    file="kd_split",
    records={"bounds": BOUNDS, "places": PLACE, "left": BOUNDS, "right": BOUNDS},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"primitives": 1013}, (64,)),
        "small": Preset({"primitives": 60_013}, (128,)),
        "cpu": Preset({"primitives": 500_009}, (128,)),
        "gpu": Preset({"primitives": 5_000_011}, (256,)),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
)
