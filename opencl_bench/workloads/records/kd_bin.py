"""kd_bin: counts in which of 32 bins along each axis the bounds of primitives start and end."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32
from coarsen.opencl_bench.workloads.records.parts.bounds import AXES, BOUNDS, EXTENTS, LOWEST, random_bounds
from coarsen.opencl_bench.workloads.records_driver import Contents, RecordsKernel, covering, filled, record

AXIS = record(low="float", bins_per_unit="float")
BIN = record(starts="uint", ends="uint")
BINS = 32
LEVEL = 7


def make_contents(size: Size, generator: np.random.Generator) -> Contents:
    """Two thirds of the primitives are of the level that is counted."""
    bounds = random_bounds(size["primitives"], (LEVEL - 1, LEVEL + 2), generator)
    bounds["level"][bounds["level"] > LEVEL] = LEVEL
    axes = filled(AXIS, low=np.array(LOWEST), bins_per_unit=BINS / np.array(EXTENTS))

    def reference() -> dict[str, Array]:
        counted = bounds[bounds["level"] == LEVEL]
        found = {side: np.stack([_histogram(counted, side, axis) for axis in AXES]) for side in ("low", "high")}
        return {"bins": filled(BIN, starts=found["low"], ends=found["high"])}

    nothing = np.zeros((len(AXES), BINS), BIN)
    return Contents({"bounds": bounds, "axes": axes, "bins": nothing}, ("bins",), reference)


def _histogram(bounds: Array, side: str, axis: str) -> Array:
    """The counts of bins of equal width; a bound at the very end belongs to the last."""
    number = AXES.index(axis)
    ends = (LOWEST[number], LOWEST[number] + EXTENTS[number])
    counts, _ = np.histogram(bounds[f"{side}_{axis}"].astype(np.float64), BINS, ends)
    return counts


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Return the one launch over the primitives."""
    arguments = (*buffers("bounds"), *uint32(size["primitives"], LEVEL), *buffers("axes", "bins"))
    return (Launch("kd_bin", covering((size["primitives"],), local_size), local_size, arguments),)


KERNEL = RecordsKernel(
    kernel="kd_bin",
    file="kd_bin",
    records={"bounds": BOUNDS, "axes": AXIS, "bins": BIN},
    contents=make_contents,
    launches=make_launches,
    presets={
        "test": Preset({"primitives": 1013}, (64,)),
        "small": Preset({"primitives": 60_013}, (128,)),
        "cpu": Preset({"primitives": 500_009}, (128,)),
        "gpu": Preset({"primitives": 5_000_011}, (256,)),
    },
    local_sizes=((32,), (64,), (128,), (256,)),
    tunables={"LOCAL_COUNTERS": ("1", "0")},
)
