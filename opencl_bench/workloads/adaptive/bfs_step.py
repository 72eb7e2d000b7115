"""bfsStep: a step of a breadth-first search; what suits depends on the share of nodes in the frontier and seen."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    AdaptiveKernel,
    Macros,
    coarsened_only_with,
    items_for,
    lanes_fit,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.contents.lengths import Lengths
from coarsen.opencl_bench.workloads.contents.measured import variation_of_lengths
from coarsen.opencl_bench.workloads.contents.sparse import SparseShape, make_sparse
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

DOWN, DOWN_LANES, UP = range(3)
MACROS: Macros = {"IMPL": (DOWN, DOWN_LANES, UP), "LANES": (8, 2, 4, 16, 32)}
WORD = 32


def _frontier_nodes(size: Size) -> int:
    return max(size["nodes"] * size["frontier_per_mille"] // 1000, 1)


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Top-down the result is cleared first; bottom-up all of it is written."""
    nodes, edges = size["nodes"], size["nodes"] * size["degree"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    arguments = (
        *buffers("starts", "targets", "in_starts", "sources", "frontier", "in_frontier", "seen"),
        *uint32(nodes, edges, _frontier_nodes(size)), *buffers("reached"),
    )  # fmt: skip
    if chosen["IMPL"] == UP:
        return (Launch("bfsStep", items_for(nodes, 1, group), local_size, arguments),)
    ways = chosen["LANES"] if chosen["IMPL"] == DOWN_LANES else 1
    zero = (*buffers("reached"), *uint32(nodes))
    return (
        Launch("bfsStep_zero", items_for(nodes, 1, group), local_size, zero),
        Launch("bfsStep", items_for(_frontier_nodes(size) * ways, 1, group), local_size, arguments),
    )


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The nodes of the frontier have been seen, and some others, at random."""
    nodes = size["nodes"]
    shape = SparseShape(nodes, nodes, nodes * size["degree"], Lengths(size["lengths"]), size["length_per_mille"])
    graph = make_sparse(shape, generator)
    starts, targets = graph.row_starts, graph.column_indices
    origins = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(starts))
    in_starts = np.concatenate(([0], np.cumsum(np.bincount(targets, minlength=nodes)))).astype(np.int32)
    frontier = np.sort(generator.permutation(nodes)[: _frontier_nodes(size)]).astype(np.int32)
    seen = (generator.integers(1000, size=nodes) < size["seen_per_mille"]).astype(np.int32)
    seen[frontier] = 1
    is_in_frontier = np.zeros(-(-nodes // WORD) * WORD, np.uint8)
    is_in_frontier[frontier] = 1

    def reference() -> dict[str, Array]:
        reached = np.zeros(nodes, np.int32)
        reached[targets[is_in_frontier[origins] == 1]] = 1
        return {"reached": reached * (1 - seen)}

    return Workload(
        buffers={
            "starts": starts,
            "targets": targets,
            "in_starts": in_starts,
            "sources": origins[np.argsort(targets, kind="stable")],
            "frontier": frontier,
            "in_frontier": np.packbits(is_in_frontier, bitorder="little").view(np.uint32),
            "seen": seen,
            "reached": unwritten(nodes, np.int32),
        },
        launches=make_launches(size, local_size),
        outputs=("reached",),
        reference=reference,
    )


def _seen_share(contents: Mapping[str, Array]) -> float:
    return float(contents["seen"].mean())


def _degree_variation(contents: Mapping[str, Array]) -> float:
    return variation_of_lengths(contents["starts"])


def _contents(lengths: Lengths, length_per_mille: int, frontier_per_mille: int, seen_per_mille: int) -> Size:
    return {
        "lengths": lengths,
        "length_per_mille": length_per_mille,
        "frontier_per_mille": frontier_per_mille,
        "seen_per_mille": seen_per_mille,
    }


KERNELS = (
    AdaptiveKernel(
        kernel="bfsStep",
        inputs=InputSpace(
            ranges={"nodes": (1 << 10, 1 << 18), "degree": (2, 64)},
            limits=("nodes * degree <= 2097152", "nodes * degree >= 8192"),
            contents=(
                _contents(Lengths.UNIFORM, 0, 10, 10),
                _contents(Lengths.UNIFORM, 0, 400, 300),
                _contents(Lengths.ZIPF, 700, 100, 100),
                _contents(Lengths.UNIFORM, 0, 50, 900),
                _contents(Lengths.ZIPF, 700, 2, 2),
                _contents(Lengths.EVEN, 0, 200, 700),
                _contents(Lengths.ZIPF, 500, 600, 950),
            ),
            contents_each=3,
            groups=12,
        ),
        test={"nodes": 300, "degree": 5, **_contents(Lengths.ZIPF, 700, 100, 200)},
        local_sizes=((64,), (16,), (32,), (128,), (256,), (512,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(
            only_with(MACROS, "LANES", "IMPL", DOWN_LANES),
            lanes_fit(DOWN_LANES),
            coarsened_only_with("IMPL", DOWN, UP),
        ),
        factors=(2, 4),
        other_kernels=("bfsStep_zero",),
        features={
            "nodes": "nodes",
            "degree": "edges / nodes",
            "frontier_nodes": "frontier_nodes",
            "frontier_share": "frontier_nodes / nodes",
        },
        supplied={"seen_share": _seen_share, "degree_variation": _degree_variation},
    ),
)
