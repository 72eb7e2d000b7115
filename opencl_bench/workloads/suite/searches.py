"""Searches: in sorted ranges, and for shortest paths.

binarySearch   one probe of a sorted array of 2 · ranges elements, split into sub-ranges of two elements
               each.
floydWarshall  shortest distances between all pairs of nodes, and the last node that shortened each.
"""

from __future__ import annotations

import math

import numpy as np

from coarsen.tuning.workload.benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from coarsen.tuning.workload.driver_tools import buffers, round_up, uint32, unwritten

LARGEST_STEP = 7


def _make_binary_search(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The elements rise strictly, so exactly one sub-range holds the key."""
    ranges = round_up(size["ranges"], local_size[0])
    steps = generator.integers(1, LARGEST_STEP + 1, 2 * ranges, dtype=np.uint8)
    elements = np.cumsum(steps, dtype=np.uint32)
    key = int(elements[generator.integers(2 * ranges)])
    before = unwritten((1, 4), np.uint32)

    def reference() -> dict[str, Array]:
        found = before.copy()
        found[0, 0] = np.searchsorted(elements, key) // 2
        found[0, 3] = 1
        return {"output": found}

    arguments = (*buffers("output", "bounds"), *uint32(key))
    return Workload(
        buffers={"output": before, "bounds": elements.reshape(ranges, 2)},
        launches=(Launch("binarySearch", (ranges,), local_size, arguments),),
        outputs=("output",),
        reference=reference,
    )


BINARY_SEARCH = Benchmark(
    name="binarySearch",
    dimensions=(0,),
    presets={
        "test": Preset({"ranges": 960}, (192,)),
        "cpu": Preset({"ranges": 1 << 23}, (256,)),
        "paper": Preset({"ranges": 1 << 28}, (256,)),
        "gpu": Preset({"ranges": 1 << 27}, (256,)),
    },
    make_workload=_make_binary_search,
    local_sizes=((32,), (64,), (128,), (256,)),
)


# floydWarshall: shortest distances between all pairs of nodes, and the last node that shortened each.
#
# With `passes`, only the paths through so many nodes are looked at.

LONGEST_EDGE = 10_000


def _make_floyd_warshall(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """One launch per node that paths lead through; `nodes` is the extent of both dimensions."""
    nodes = round_up(size["nodes"], math.lcm(*local_size))
    passes = size.get("passes", nodes)
    # Without zeros on the diagonal, a pass would read distances that it also writes.
    distances = generator.integers(1, LONGEST_EDGE, (nodes, nodes), dtype=np.uint32)
    np.fill_diagonal(distances, 0)
    paths = np.broadcast_to(np.arange(nodes, dtype=np.uint32)[:, None], (nodes, nodes)).copy()

    def reference() -> dict[str, Array]:
        return _shortest(distances.copy(), paths.copy(), passes)

    def launch(through: int) -> Launch:
        arguments = (*buffers("distances", "paths"), *uint32(nodes, through))
        return Launch("floydWarshall", (nodes, nodes), local_size, arguments)

    return Workload(
        buffers={"distances": distances, "paths": paths},
        launches=tuple(launch(through) for through in range(passes)),
        outputs=("distances", "paths"),
        reference=reference,
    )


def _shortest(distances: Array, paths: Array, passes: int) -> dict[str, Array]:
    for through in range(passes):
        detour = np.add.outer(distances[:, through], distances[through])
        paths[detour < distances] = through
        distances = np.minimum(distances, detour)
    return {"distances": distances, "paths": paths}


FLOYD_WARSHALL = Benchmark(
    name="floydWarshall",
    dimensions=(0, 1),
    presets={
        # A simulator takes seconds for all of the passes, which differ in nothing.
        "test": Preset({"nodes": 64, "passes": 16}, (32, 32)),
        "cpu": Preset({"nodes": 384}, (16, 16)),
        "paper": Preset({"nodes": 8192}, (16, 16), feasible=False),
        "gpu": Preset({"nodes": 2048}, (16, 16), feasible=False),
    },
    make_workload=_make_floyd_warshall,
    local_sizes=((8, 8), (16, 16), (32, 8), (64, 4), (4, 64)),
)
