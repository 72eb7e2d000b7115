"""Kernels of free launch as they are drawn: mechanism, source, parameters, legal local sizes.

The same set, seed and index give the same kernel, on every machine. All mechanisms of a set come, in an order of
their own, before any comes again.

    launch-SEED-NUMBER  every mechanism by which coarsening helps or harms
    nest-SEED-NUMBER    loop nests of numerical programs (`nests`), of which more gain much
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from coarsen.opencl_bench.workloads.free_launch import divergence, groups, loops, nests, streams
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

LAUNCH, NEST = "launch", "nest"
Parameter = Buffer | Scalar | Scratch
_COUNTER_NAMES = (*IDS, *EXTENTS, "position", "trips", "trip", "i", "j", "k", "centre", "pitch", "plane")
_COUNTERS = re.compile(rf"\buint ({'|'.join(_COUNTER_NAMES)})\b")


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


class NestMechanism(enum.StrEnum):
    """What a loop nest computes; these are held out of learning like the others."""

    MATRIX_VECTOR = "matrix_vector"
    MATRIX_PRODUCT = "matrix_product"
    RANK_UPDATE = "rank_update"
    STATISTICS = "statistics"
    NORMALISED = "normalised"
    DISTANCES = "distances"
    BODIES = "bodies"
    RECURRENCE = "recurrence"
    PLANES = "planes"
    CONVOLUTION = "convolution"
    SMALL_PRODUCTS = "small_products"


@dataclass(frozen=True, slots=True)
class DrawnKernel:
    """A kernel and all that its workload follows from.

    Attributes:
        local_sizes: its own first.
        is_signed: whether ids, extents and counters are `int`, as in most programs, or `uint`.
    """

    set: str
    seed: int
    index: int
    mechanism: Mechanism | NestMechanism
    frame: Frame
    sketch: Sketch
    local_sizes: tuple[LocalSize, ...]
    is_signed: bool = False

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return f"{self.set}-{self.seed}-{self.index}"

    @property
    def kernel(self) -> str:
        """The kernel function's name."""
        return f"{self.mechanism.value}_{self.sketch.variant}_{self.index}"

    @property
    def family(self) -> str:
        """The structural class: kernels of one are variations of each other."""
        return f"{self.set}-{self.mechanism.value}-{self.sketch.variant}"

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
        text = "\n".join(lines)
        return _COUNTERS.sub(r"int \1", text) if self.is_signed else text

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


BUILDERS: dict[Mechanism | NestMechanism, tuple[Builder, ...]] = {
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


NESTS: dict[Mechanism | NestMechanism, tuple[Builder, ...]] = {
    NestMechanism.MATRIX_VECTOR: (Builder(nests.matrix_vector, (LINE,)),),
    NestMechanism.MATRIX_PRODUCT: (Builder(nests.matrix_product, (PLANE,)),),
    NestMechanism.RANK_UPDATE: (Builder(nests.rank_update, (PLANE,)),),
    NestMechanism.STATISTICS: (Builder(nests.statistics, (LINE,)),),
    NestMechanism.NORMALISED: (Builder(nests.normalised, (LINE,)),),
    NestMechanism.DISTANCES: (Builder(nests.distances, (LINE,)),),
    NestMechanism.BODIES: (Builder(nests.bodies, (LINE,)),),
    NestMechanism.RECURRENCE: (Builder(nests.recurrence, (LINE, LINE, PLANE)),),
    NestMechanism.PLANES: (Builder(nests.planes, (PLANE,)),),
    NestMechanism.CONVOLUTION: (Builder(nests.convolution, (PLANE,)),),
    NestMechanism.SMALL_PRODUCTS: (Builder(nests.small_products, (LINE, PLANE)),),
}

# The mechanisms of each set, and what its streams of draws have beside seed and index.
SETS: dict[str, tuple[dict[Mechanism | NestMechanism, tuple[Builder, ...]], tuple[int, ...]]] = {
    LAUNCH: (BUILDERS, ()),
    NEST: (NESTS, (1,)),
}


@lru_cache(maxsize=64)
def draw(set_: str, seed: int, index: int) -> DrawnKernel:
    """The kernel of a number.

    Args:
        set_: `launch` or `nest`.
        seed: of the whole set of kernels.
        index: of the kernel, from 0 on.
    """
    builders, stream = SETS[set_]
    draws = Draws(seed, index, *stream)
    mechanism = _mechanism(set_, seed, index)
    builder = draws.pick(builders[mechanism])
    dimensions = draws.pick(builder.dimensions)
    frame = draw_frame(draws, dimensions, has_barriers=builder.has_barriers, is_whole=builder.is_whole)
    local_sizes = draws.some(LOCAL_SIZES[dimensions], MOST_LOCAL_SIZES)
    sketch = builder.make(draws, frame)
    is_signed = set_ == NEST and draws.chance(0.7)
    return DrawnKernel(set_, seed, index, mechanism, frame, sketch, local_sizes, is_signed)


def _mechanism(set_: str, seed: int, index: int) -> Mechanism | NestMechanism:
    builders, stream = SETS[set_]
    choices = tuple(builders)
    round_, place = divmod(index, len(choices))
    return Draws(seed, round_, len(choices), *stream).some(choices, len(choices))[place]
