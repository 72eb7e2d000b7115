"""Kernels of free launch as they are drawn: mechanism, source, parameters, legal local sizes.

The same seed and index give the same kernel, on every machine. All mechanisms come, in an order of their own,
before any comes again.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from coarsen.opencl_bench.workloads.free_launch import divergence, groups, loops, streams
from coarsen.opencl_bench.workloads.free_launch.elements import Draws, indented, signature_lines
from coarsen.opencl_bench.workloads.free_launch.parts import (
    EXTENTS,
    IDS,
    LOCAL_SIZES,
    Buffer,
    Frame,
    Guard,
    Scalar,
    Scratch,
    Sketch,
    draw_frame,
)
from coarsen.tuning.workload.benchmark import LocalSize

PREFIX = "launch"
Parameter = Buffer | Scalar | Scratch


class Mechanism(enum.StrEnum):
    """The reason for which coarsening helps or harms a kernel; whole mechanisms are held out of learning."""

    MAP = "map"
    VECTORS = "vectors"
    RECORDS = "records"
    STRIDED = "strided"
    TRANSPOSE = "transpose"
    GATHER = "gather"
    SCATTER = "scatter"
    PAIRS = "pairs"
    GRID_STRIDE = "grid_stride"
    BROADCAST = "broadcast"
    ROWS = "rows"
    COLUMNS = "columns"
    MATRIX = "matrix"
    REUSE = "reuse"
    WINDOW = "window"
    CHAIN = "chain"
    SPECIAL = "special"
    BRANCH = "branch"
    LENGTHS = "lengths"
    SPARSE = "sparse"
    SEARCH = "search"
    GUARD = "guard"
    STENCIL = "stencil"
    TILE = "tile"
    TABLE = "table"
    REDUCTION = "reduction"
    LEVELS = "levels"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class DrawnKernel:
    """A kernel and all that its workload follows from; `local_sizes` has its own first."""

    seed: int
    index: int
    mechanism: Mechanism
    frame: Frame
    sketch: Sketch
    local_sizes: tuple[LocalSize, ...]

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return f"{PREFIX}-{self.seed}-{self.index}"

    @property
    def kernel(self) -> str:
        """The kernel function's name."""
        return f"{self.mechanism.value}_{self.sketch.variant}_{self.index}"

    @property
    def family(self) -> str:
        """The structural class: kernels of one are variations of each other."""
        return f"{PREFIX}-{self.mechanism.value}-{self.sketch.variant}"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters in their order."""
        text = "\n".join(self._statements())
        scalars = [Scalar("width", lambda x: x.width), Scalar("height", lambda x: x.height)]
        scalars += [Scalar("depth", lambda x: x.depth), Scalar("trips", lambda x: x.trips)]
        named = [each for each in scalars if _names(each.name, text) and f"uint {each.name} =" not in text]
        passed = [each for each in self.sketch.scratch if each.is_argument]
        return (*self.sketch.buffers, *named, *passed)

    @property
    def source(self) -> str:
        """The OpenCL C source."""
        lines = [
            f"/* {self.name}: {self.mechanism.value} ({self.sketch.variant}), guard {self.frame.guard.value}. */",
            "",
            *self.sketch.before,
            *signature_lines(self.kernel, (parameter.declaration for parameter in self.parameters)),
            "{",
            *indented(self._statements()),
            "}",
            "",
        ]
        return "\n".join(lines)

    def _statements(self) -> list[str]:
        body = self.sketch.body
        if not self.sketch.guards_itself and not self.sketch.item_per_group:
            body = self._guarded(body)
        scratch = [
            f"local {each.type} {each.name}[{max(map(each.elements, self.local_sizes))}];"
            for each in self.sketch.scratch
            if not each.is_argument
        ]
        return [*scratch, *self._declarations(body), *body]

    def _guarded(self, body: list[str]) -> list[str]:
        frame = self.frame
        if frame.guard is Guard.RETURN:
            beyond = " || ".join(f"{at} >= {end}" for at, end in frame.axes)
            return [f"if ({beyond})", "    return;", *body]
        return frame.within(body)

    def _declarations(self, body: list[str]) -> list[str]:
        """Ids and extents that the body names, in an order that works."""
        frame = self.frame
        extents = [(name, f"get_global_size({d})") for d, name in enumerate(EXTENTS[: frame.dimensions])]
        asks = frame.asks_ndrange and frame.guard is Guard.NONE and not self.sketch.item_per_group
        ids = [(name, f"get_global_id({d})") for d, name in enumerate(IDS[: frame.dimensions])]
        possible = [*(extents if asks else []), *ids, ("position", frame.position)]
        text, declared = "\n".join(body), list[str]()
        for name, value in reversed(possible):
            if _names(name, text):
                declared.insert(0, f"uint {name} = {value};")
                text = f"{value}\n{text}"
        return declared


def _names(name: str, text: str) -> bool:
    return re.search(rf"(?<![.\w]){name}\b", text) is not None


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
    Mechanism.STENCIL: (Builder(loops.stencil, (LINE, PLANE, PLANE, SPACE, SPACE)),),
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
    Mechanism.ATOMIC: (Builder(groups.atomic, has_barriers=True),),
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
