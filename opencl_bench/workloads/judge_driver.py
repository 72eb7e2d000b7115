"""What the drivers of the second judge share: names, presets, the grid of a launch, random graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coarsen.models.judge import JUDGE_PREFIX
from coarsen.opencl_bench.workloads.benchmark import (
    KERNEL_FOLDER,
    Array,
    Benchmark,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import round_up


def judge_benchmark(
    kernel: str,
    make_workload: Callable[[Size, LocalSize, np.random.Generator], Workload],
    presets: dict[str, Preset],
    local_sizes: tuple[LocalSize, ...],
) -> Benchmark:
    """A benchmark of the second judge.

    Args:
        kernel: the name of the kernel's function and of its file in `kernels/judge`.
        make_workload: as a `Benchmark` has it.
        presets: `test`, `cpu` and `gpu`; the work-group of `test` can be divided by 4 along every dimension.
        local_sizes: the work-groups worth trying.
    """
    group = presets["test"].local_size
    dimensions = tuple(range(len(group)))
    return Benchmark(
        name=f"{JUDGE_PREFIX}{kernel}",
        dimensions=dimensions,
        presets=presets,
        divisible_local_sizes=dict.fromkeys(dimensions, group),
        make_workload=make_workload,
        local_sizes=local_sizes,
        kernel_name=kernel,
        source_file=KERNEL_FOLDER / "judge" / f"{kernel}.cl",
    )


def covering(extents: tuple[int, ...], local_size: LocalSize) -> tuple[int, ...]:
    """The smallest NDRange of whole work-groups that covers some extents."""
    return tuple(round_up(extent, items) for extent, items in zip(extents, local_size, strict=True))


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph in compressed rows: node i has the edges starts[i] to starts[i + 1]."""

    starts: Array
    targets: Array

    @property
    def sources(self) -> Array:
        """The node that each edge comes from."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))


def random_graph(nodes: int, mean_degree: int, generator: np.random.Generator) -> Graph:
    """A graph in which a few nodes have many edges, others a few, one at least; some are met far more often."""
    degrees = np.minimum(generator.geometric(1 / mean_degree, nodes), 64 * mean_degree)
    starts = np.concatenate(([0], np.cumsum(degrees))).astype(np.int32)
    places = (generator.random(starts[-1]) ** 2 * nodes).astype(np.int32)
    # Without this, nodes of low numbers would be those that are met often.
    names = generator.permutation(nodes).astype(np.int32)
    return Graph(starts, names[places])
