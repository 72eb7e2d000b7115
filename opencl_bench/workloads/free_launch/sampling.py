"""Draws kernels of free launch: the same seed and index give the same one, on every machine.

All mechanisms come, in an order of their own, before any comes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from coarsen.opencl_bench.workloads.free_launch import divergence, groups, loops, stencils, streams
from coarsen.opencl_bench.workloads.free_launch.draws import Draws
from coarsen.opencl_bench.workloads.free_launch.frame import Frame, draw_frame
from coarsen.opencl_bench.workloads.free_launch.kernel import DrawnKernel
from coarsen.opencl_bench.workloads.free_launch.mechanisms import Mechanism
from coarsen.opencl_bench.workloads.free_launch.parts import LOCAL_SIZES, Sketch

# Local sizes of a kernel at most: each is a baseline that is measured.
MOST_LOCAL_SIZES = 4
LINE, PLANE, SPACE = 1, 2, 3
ANY = (LINE, LINE, PLANE, PLANE, SPACE)


@dataclass(frozen=True, slots=True)
class Builder:
    """A way to make a mechanism: the numbers of dimensions that it goes with, and what its guard may be."""

    make: Callable[[Draws, Frame], Sketch]
    dimensions: tuple[int, ...] = ANY
    has_barriers: bool = False
    is_whole: bool = False


BUILDERS: dict[Mechanism, tuple[Builder, ...]] = {
    Mechanism.MAP: (Builder(streams.mapped),),
    Mechanism.VECTORS: (Builder(streams.vectors),),
    Mechanism.RECORDS: (Builder(streams.records),),
    Mechanism.STRIDED: (Builder(streams.strided),),
    Mechanism.TRANSPOSE: (Builder(streams.transposed, (PLANE, PLANE, SPACE)),),
    Mechanism.GATHER: (Builder(streams.gathered),),
    Mechanism.SCATTER: (Builder(streams.scattered),),
    Mechanism.PAIRS: (Builder(streams.paired, (LINE,)),),
    Mechanism.GRID_STRIDE: (Builder(streams.grid_strided, (LINE,), is_whole=True),),
    Mechanism.BROADCAST: (Builder(loops.broadcast),),
    Mechanism.ROWS: (Builder(loops.rows),),
    Mechanism.COLUMNS: (Builder(loops.columns),),
    Mechanism.MATRIX: (Builder(loops.matrix, (PLANE, PLANE, SPACE)),),
    Mechanism.REUSE: (Builder(loops.reused, (PLANE, PLANE, SPACE)),),
    Mechanism.WINDOW: (Builder(loops.windowed, (LINE, PLANE)),),
    Mechanism.CHAIN: (Builder(loops.chained),),
    Mechanism.SPECIAL: (Builder(loops.special),),
    Mechanism.BRANCH: (Builder(divergence.branched),),
    Mechanism.LENGTHS: (Builder(divergence.varied_lengths),),
    Mechanism.SPARSE: (Builder(divergence.sparse, (LINE,)),),
    Mechanism.SEARCH: (Builder(divergence.searched),),
    Mechanism.GUARD: (Builder(divergence.guarded),),
    Mechanism.STENCIL: (Builder(stencils.stencil, (LINE, PLANE, PLANE, SPACE, SPACE)),),
    Mechanism.TILE: (
        Builder(groups.all_pairs, (LINE,), has_barriers=True),
        Builder(groups.tiled_matrix, (PLANE,), has_barriers=True, is_whole=True),
        Builder(groups.tiled_transpose, (PLANE,), has_barriers=True, is_whole=True),
        Builder(groups.tiled_stencil, (LINE, PLANE), has_barriers=True, is_whole=True),
    ),
    Mechanism.TABLE: (Builder(groups.local_table, has_barriers=True),),
    Mechanism.REDUCTION: (
        Builder(groups.reduced, has_barriers=True),
        Builder(groups.row_reduced, (LINE,), has_barriers=True, is_whole=True),
    ),
    Mechanism.LEVELS: (Builder(groups.levelled, has_barriers=True),),
    Mechanism.ATOMIC: (Builder(stencils.atomic, has_barriers=True),),
}


@lru_cache(maxsize=64)
def draw(seed: int, index: int) -> DrawnKernel:
    """The kernel of a number.

    Args:
        seed: of the whole set of kernels.
        index: of the kernel, from 0 on.
    """
    draws = Draws(seed, index)
    mechanism = _mechanism(seed, index)
    builder = draws.pick(BUILDERS[mechanism])
    dimensions = draws.pick(builder.dimensions)
    frame = draw_frame(draws, dimensions, has_barriers=builder.has_barriers, is_whole=builder.is_whole)
    local_sizes = draws.some(LOCAL_SIZES[dimensions], MOST_LOCAL_SIZES)
    return DrawnKernel(seed, index, mechanism, frame, builder.make(draws, frame), local_sizes)


def _mechanism(seed: int, index: int) -> Mechanism:
    choices = tuple(Mechanism)
    round_, place = divmod(index, len(choices))
    return Draws(seed, round_, len(choices)).some(choices, len(choices))[place]
