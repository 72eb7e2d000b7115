"""Products and transposes of matrices.

sgemm     C = alpha·A·Bᵀ + beta·C with A of height × inner, B of width × inner, C of height × width elements;
          the kernel is column-major, so every buffer holds the transpose of its matrix in NumPy's order
mt        transpose of a height × width matrix of floats, without local memory.
mtLocal   transpose of a height × width matrix of floats, in 4 × 4 tiles staged through local memory.
mvCoal    a height × width matrix times a vector, a work-group per row, fewer work-groups than rows.
mvUncoal  a height × width matrix times a vector, a work-item per row.
spmv      sparse matrix times vector, from rows of very unequal length in jagged diagonal storage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.tuning.workload.benchmark import (
    Array,
    Benchmark,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    Size,
    Workload,
)
from coarsen.tuning.workload.driver_tools import (
    buffers,
    float32,
    int32,
    round_up,
    uint32,
    uniform,
    unwritten,
    whole_groups,
)

ALPHA = 0.75
BETA = -1.25


def _make_sgemm(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Height is along dimension 0, width along dimension 1."""
    height, width = whole_groups(size, ("height", "width"), local_size)
    inner = size["inner"]
    left = uniform(generator, -1, 1, (inner, height))
    right = uniform(generator, -1, 1, (inner, width))
    result = uniform(generator, -1, 1, (width, height))

    def reference() -> dict[str, Array]:
        product = right.T.astype(np.float64) @ left.astype(np.float64)
        return {"result": (ALPHA * product + BETA * result).astype(np.float32)}

    arguments = (
        *buffers("left"), *int32(height), *buffers("right"), *int32(width), *buffers("result"), *int32(height),
        *int32(inner), *float32(ALPHA, BETA),
    )  # fmt: skip
    return Workload(
        buffers={"left": left, "right": right, "result": result},
        launches=(Launch("sgemm", (height, width), local_size, arguments),),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        # Partial sums of n products of numbers below 1 grow to sqrt(n), and n of them are rounded.
        absolute_tolerance=2e-7 * inner,
    )


SGEMM = Benchmark(
    name="sgemm",
    dimensions=(0, 1),
    presets={
        "test": Preset({"height": 64, "width": 96, "inner": 23}, (32, 32)),
        "cpu": Preset({"height": 640, "width": 512, "inner": 384}, (16, 16)),
        "paper": Preset({"height": 3072, "width": 3072, "inner": 3072}, (16, 16)),
        "gpu": Preset({"height": 4096, "width": 4096, "inner": 4096}, (16, 16)),
    },
    divisible_local_sizes={0: (192, 4), 1: (4, 192)},
    make_workload=_make_sgemm,
    local_sizes=((8, 8), (16, 16), (32, 8), (64, 4), (4, 64)),
)


def _make_mt(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """Width is along dimension 0, height along dimension 1."""
    width, height = whole_groups(size, ("width", "height"), local_size)
    matrix = uniform(generator, -1, 1, (height, width))

    def reference() -> dict[str, Array]:
        return {"output": matrix.T.copy()}

    arguments = (*buffers("output", "input"), *uint32(width, height))
    return Workload(
        buffers={"output": unwritten((width, height), np.float32), "input": matrix},
        launches=(Launch("mt", (width, height), local_size, arguments),),
        outputs=("output",),
        reference=reference,
    )


MT = Benchmark(
    name="mt",
    dimensions=(0, 1),
    presets={
        "test": Preset({"width": 96, "height": 64}, (32, 32)),
        "cpu": Preset({"width": 4096, "height": 3072}, (16, 16)),
        "paper": Preset({"width": 4096, "height": 4096}, (16, 16)),
        "gpu": Preset({"width": 8192, "height": 8192}, (16, 16)),
    },
    divisible_local_sizes={0: (192, 4), 1: (4, 192)},
    make_workload=_make_mt,
    local_sizes=((8, 8), (16, 16), (32, 8), (64, 4), (4, 64)),
)


# mtLocal: transpose of a height × width matrix of floats, in 4 × 4 tiles staged through local memory.
#
# The extents of the presets count tiles: a matrix has 4 · tiles_x columns and 4 · tiles_y rows.

TILE = 4
FLOAT4_BYTES = 16


def _make_mt_local(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The tiles' columns are along dimension 0, their rows along dimension 1; the work-group is square."""
    if local_size[0] != local_size[1]:
        raise InvalidInputError(f"mtLocal: the local size must be square, not {local_size}")
    tiles_x, tiles_y = whole_groups(size, ("tiles_x", "tiles_y"), local_size)
    width, height = TILE * tiles_x, TILE * tiles_y
    matrix = uniform(generator, -1, 1, (height, width))

    def reference() -> dict[str, Array]:
        return {"output": matrix.T.copy()}

    block = LocalArgument(TILE * FLOAT4_BYTES * math.prod(local_size))
    return Workload(
        buffers={"output": unwritten((width, height), np.float32), "input": matrix},
        launches=(Launch("mtLocal", (tiles_x, tiles_y), local_size, (*buffers("output", "input"), block)),),
        outputs=("output",),
        reference=reference,
    )


MT_LOCAL = Benchmark(
    name="mtLocal",
    dimensions=(0, 1),
    presets={
        "test": Preset({"tiles_x": 48, "tiles_y": 32}, (16, 16)),
        "cpu": Preset({"tiles_x": 1024, "tiles_y": 768}, (16, 16)),
        "paper": Preset({"tiles_x": 4096, "tiles_y": 4096}, (16, 16)),
        "gpu": Preset({"tiles_x": 4096, "tiles_y": 2048}, (16, 16)),
    },
    # 32 x 32 work-items need 64 KiB of local memory.
    divisible_local_sizes={0: (32, 32), 1: (32, 32)},
    make_workload=_make_mt_local,
    local_sizes=((4, 4), (8, 8), (16, 16), (32, 32)),
)


FLOAT_BYTES = 4


def _make_mv_coal(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The work-groups share the rows among themselves, so any number of work-items does."""
    width, height = size["width"], size["height"]
    matrix = uniform(generator, -1, 1, (height, width))
    vector = uniform(generator, -1, 1, width)

    def reference() -> dict[str, Array]:
        # Unlike `@`, this makes no second copy of the matrix in the wider type.
        result = np.einsum("yx,x->y", matrix, vector, dtype=np.float64)
        return {"result": result.astype(np.float32)}

    arguments = (
        *buffers("matrix", "vector"),
        *uint32(width, height),
        *buffers("result"),
        LocalArgument(FLOAT_BYTES * local_size[0]),
    )
    items = round_up(size["items"], local_size[0])
    return Workload(
        buffers={"matrix": matrix, "vector": vector, "result": unwritten(height, np.float32)},
        launches=(Launch("mvCoal", (items,), local_size, arguments),),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * width,
    )


MV_COAL = Benchmark(
    name="mvCoal",
    dimensions=(0,),
    presets={
        "test": Preset({"width": 250, "height": 17, "items": 768}, (192,)),
        "cpu": Preset({"width": 2200, "height": 8000, "items": 8192}, (128,)),
        "paper": Preset({"width": 1100, "height": 100_000, "items": 1 << 14}, (256,)),
        "gpu": Preset({"width": 1 << 14, "height": 1 << 14, "items": 1 << 19}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=_make_mv_coal,
    local_sizes=((32,), (64,), (128,), (256,)),
)


def _make_mv_uncoal(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The NDRange is rounded up to whole work-groups beyond the last row."""
    width, height = size["width"], size["height"]
    matrix = uniform(generator, -1, 1, (height, width))
    vector = uniform(generator, -1, 1, width)

    def reference() -> dict[str, Array]:
        # Unlike `@`, this makes no second copy of the matrix in the wider type.
        result = np.einsum("yx,x->y", matrix, vector, dtype=np.float64)
        return {"result": result.astype(np.float32)}

    arguments = (*buffers("matrix", "vector"), *uint32(width, height), *buffers("result"))
    return Workload(
        buffers={"matrix": matrix, "vector": vector, "result": unwritten(height, np.float32)},
        launches=(Launch("mvUncoal", (round_up(height, local_size[0]),), local_size, arguments),),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * width,
    )


MV_UNCOAL = Benchmark(
    name="mvUncoal",
    dimensions=(0,),
    presets={
        "test": Preset({"width": 33, "height": 700}, (192,)),
        "cpu": Preset({"width": 1500, "height": 12_000}, (64,)),
        "paper": Preset({"width": 1100, "height": 1 << 14}, (256,)),
        "gpu": Preset({"width": 1024, "height": 1 << 18}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=_make_mv_uncoal,
    local_sizes=((32,), (64,), (128,), (256,)),
)


# spmv: sparse matrix times vector, from rows of very unequal length in jagged diagonal storage.
#
# The rows are sorted by falling length and stand in warps of 32, each padded with zeros to its longest row.
# Diagonal k holds the k-th element of every row of every warp longer than k.

WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class SparseMatrix:
    """A matrix row by row: row i has elements starts[i] to starts[i + 1], at least one each, in any order."""

    values: Array
    columns: Array
    starts: Array

    def times(self, vector: Array) -> Array:
        """The product with a vector, in double precision."""
        products = self.values.astype(np.float64) * vector[self.columns]
        return np.add.reduceat(products, self.starts[:-1])


def _make_spmv(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The matrix is square; the NDRange is rounded up to whole work-groups beyond the last row."""
    rows = size["rows"]
    matrix = _random_matrix(rows, size["longest_row"], generator)
    vector = uniform(generator, -1, 1, rows)

    def reference() -> dict[str, Array]:
        return {"result": matrix.times(vector).astype(np.float32)}

    arguments = (
        *buffers("result", "values", "columns", "row_permutation", "vector"), *int32(rows),
        *buffers("diagonal_starts", "warp_lengths"),
    )  # fmt: skip
    return Workload(
        buffers={"result": unwritten(rows, np.float32), "vector": vector, **_jagged_diagonals(matrix)},
        launches=(Launch("spmv", (round_up(rows, local_size[0]),), local_size, arguments),),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * size["longest_row"],
    )


def _random_matrix(rows: int, longest_row: int, generator: np.random.Generator) -> SparseMatrix:
    lengths = generator.integers(1, longest_row + 1, rows)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    columns = generator.integers(0, rows, starts[-1])
    values = uniform(generator, -1, 1, int(starts[-1]))
    return SparseMatrix(values, columns, starts)


def _jagged_diagonals(matrix: SparseMatrix) -> dict[str, Array]:
    row_lengths = np.diff(matrix.starts)
    order = np.argsort(-row_lengths, kind="stable")
    warp_lengths = row_lengths[order[::WARP_SIZE]]
    places = np.array([WARP_SIZE * np.count_nonzero(warp_lengths > k) for k in range(warp_lengths[0])])
    starts = np.concatenate(([0], np.cumsum(places)))
    values, columns = np.zeros(starts[-1], np.float32), np.zeros(starts[-1], np.int32)
    for diagonal, start in enumerate(starts[:-1]):
        sorted_rows = np.flatnonzero(row_lengths[order] > diagonal)
        elements = matrix.starts[order[sorted_rows]] + diagonal
        values[start + sorted_rows] = matrix.values[elements]
        columns[start + sorted_rows] = matrix.columns[elements]
    return {
        "values": values,
        "columns": columns,
        "row_permutation": order.astype(np.int32),
        "diagonal_starts": starts[:-1].astype(np.int32),
        "warp_lengths": warp_lengths.astype(np.int32),
    }


SPMV = Benchmark(
    name="spmv",
    dimensions=(0,),
    presets={
        "test": Preset({"rows": 1000, "longest_row": 40}, (192,)),
        "cpu": Preset({"rows": 250_000, "longest_row": 100}, (64,)),
        "paper": Preset({"rows": 262_144, "longest_row": 100}, (256,)),
        "gpu": Preset({"rows": 1 << 20, "longest_row": 100}, (256,)),
    },
    divisible_local_sizes={0: (192,)},
    make_workload=_make_spmv,
    local_sizes=((32,), (64,), (128,), (256,)),
)
