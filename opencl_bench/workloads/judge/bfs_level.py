"""bfs_level: breadth-first search from node 0, a launch per level."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32
from coarsen.opencl_bench.workloads.judge_driver import Graph, covering, judge_benchmark, random_graph


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """As many launches as there are levels."""
    nodes = size["nodes"]
    graph = random_graph(nodes, size["mean_degree"], generator)
    found = _levels(graph, nodes)
    levels = np.full(nodes, -1, np.int32)
    levels[0] = 0

    def reference() -> dict[str, Array]:
        return {"levels": found}

    return Workload(
        buffers={"starts": graph.starts, "targets": graph.targets, "levels": levels},
        launches=tuple(
            Launch(
                "bfs_level",
                covering((nodes,), local_size),
                local_size,
                (*buffers("starts", "targets", "levels"), *int32(nodes, level)),
            )
            for level in range(int(found.max()))
        ),
        outputs=("levels",),
        reference=reference,
    )


def _levels(graph: Graph, nodes: int) -> Array:
    """The distance of each node from node 0, in edges; -1 where no path leads to it."""
    levels = np.full(nodes, -1, np.int32)
    levels[0] = level = 0
    sources = graph.sources
    while True:
        reached = graph.targets[levels[sources] == level]
        new = reached[levels[reached] < 0]
        if not len(new):
            return levels
        level += 1
        levels[new] = level


BENCHMARK = judge_benchmark(
    "bfs_level",
    make_workload,
    {
        "test": Preset({"nodes": 301, "mean_degree": 5}, (64,)),
        "cpu": Preset({"nodes": 200001, "mean_degree": 8}, (128,)),
        "gpu": Preset({"nodes": 3000001, "mean_degree": 8}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
