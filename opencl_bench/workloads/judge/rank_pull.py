"""rank_pull: an iteration of PageRank over the links that lead to each page."""

from __future__ import annotations

import numpy as np

from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Preset, Size, Workload
from coarsen.opencl_bench.workloads.driver_tools import buffers, float32, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.judge_driver import covering, judge_benchmark, random_graph

DAMPING = 0.85


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The graph's edges lead to the page whose row they stand in; its ranks are drawn."""
    pages = size["pages"]
    graph = random_graph(pages, size["mean_degree"], generator)
    starts, sources = graph.starts.astype(np.uint32), graph.targets.astype(np.uint32)
    link_counts = np.bincount(sources, minlength=pages).astype(np.uint32)
    shares = uniform(generator, 0, 1, pages)

    def reference() -> dict[str, Array]:
        sums = np.add.reduceat(shares[sources].astype(np.float64), graph.starts[:-1])
        ranks = (1 - DAMPING) / pages + DAMPING * sums
        new_shares = np.divide(ranks, link_counts, out=np.zeros(pages), where=link_counts > 0)
        return {"ranks": ranks.astype(np.float32), "new_shares": new_shares.astype(np.float32)}

    arguments = (
        *buffers("starts", "sources", "shares", "link_counts", "ranks", "new_shares"),
        *uint32(pages),
        *float32(DAMPING),
    )
    written = {name: unwritten(pages, np.float32) for name in ("ranks", "new_shares")}
    given = {"starts": starts, "sources": sources, "shares": shares, "link_counts": link_counts}
    return Workload(
        buffers={**given, **written},
        launches=(Launch("rank_pull", covering((pages,), local_size), local_size, arguments),),
        outputs=("ranks", "new_shares"),
        reference=reference,
        # All terms are positive; a page has some hundreds of links at most.
        relative_tolerance=1e-4,
    )


BENCHMARK = judge_benchmark(
    "rank_pull",
    make_workload,
    {
        "test": Preset({"pages": 301, "mean_degree": 6}, (64,)),
        "cpu": Preset({"pages": 500001, "mean_degree": 12}, (128,)),
        "gpu": Preset({"pages": 3000001, "mean_degree": 12}, (256,)),
    },
    ((32,), (64,), (128,), (256,)),
)
