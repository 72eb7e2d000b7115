"""relax_distances: shortest paths from node 0, as many rounds as the longest of them has edges."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, int32
from coarsen.opencl_bench.workloads.judge_driver import Graph, covering, judge_benchmark, random_graph

UNREACHED = 2**31 - 1
LONGEST_EDGE = 100


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Rounds go on until no distance gets shorter, even if every node sees those of the round before alone."""
    nodes = size["nodes"]
    graph = random_graph(nodes, size["mean_degree"], generator)
    lengths = generator.integers(1, LONGEST_EDGE, len(graph.targets), dtype=np.int32)
    before = np.full(nodes, UNREACHED, np.int32)
    before[0] = 0
    found, rounds = _distances(graph, lengths, before)

    def reference() -> dict[str, Array]:
        return {"distances": found}

    arguments = (*buffers("starts", "targets", "lengths", "distances"), *int32(nodes))
    launch = Launch("relax_distances", covering((nodes,), local_size), local_size, arguments)
    return Workload(
        buffers={"starts": graph.starts, "targets": graph.targets, "lengths": lengths, "distances": before},
        launches=(launch,) * rounds,
        outputs=("distances",),
        reference=reference,
    )


def _distances(graph: Graph, lengths: Array, before: Array) -> tuple[Array, int]:
    """The shortest distances, and after how many rounds they are known."""
    distances, sources, rounds = before.astype(np.int64), graph.sources, 0
    while True:
        nearer = distances.copy()
        reached = distances[sources] < UNREACHED
        np.minimum.at(nearer, graph.targets[reached], (distances[sources] + lengths)[reached])
        if np.array_equal(nearer, distances):
            return distances.astype(np.int32), rounds
        distances, rounds = nearer, rounds + 1


BENCHMARK = judge_benchmark(
    "relax_distances",
    make_workload,
    {
        "test": Preset({"nodes": 301, "mean_degree": 5}, (64,)),
        "cpu": Preset({"nodes": 100001, "mean_degree": 8}, (128,)),
        "gpu": Preset({"nodes": 1000001, "mean_degree": 8}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
