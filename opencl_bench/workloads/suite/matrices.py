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

from dataclasses import dataclass

import numpy as np

from coarsen.opencl_bench.workloads.suite import Buffers, driver
from coarsen.tuning.workload.benchmark import Array, Benchmark, Launch, LocalSize, Preset, Size, Workload
from coarsen.tuning.workload.driver_tools import buffers, int32, round_up, uniform, unwritten

ALPHA = 0.75
BETA = -1.25


def _sgemm(buffers: Buffers) -> Buffers:
    product = buffers["right"].T.astype(np.float64) @ buffers["left"].astype(np.float64)
    return {"result": (ALPHA * product + BETA * buffers["result"]).astype(np.float32)}


# Partial sums of n products of numbers below 1 grow to sqrt(n), and n of them are rounded.
SGEMM = driver("sgemm", _sgemm, lambda size: 2e-7 * size["inner"])


def _transposed(buffers: Buffers) -> Buffers:
    return {"output": buffers["input"].T.copy()}


MT = driver("mt", _transposed)
# 32 x 32 work-items need 64 KiB of local memory.
MT_LOCAL = driver("mtLocal", _transposed)


def _times_vector(buffers: Buffers) -> Buffers:
    # Unlike `@`, this makes no second copy of the matrix in the wider type.
    result = np.einsum("yx,x->y", buffers["matrix"], buffers["vector"], dtype=np.float64)
    return {"result": result.astype(np.float32)}


MV_COAL = driver("mvCoal", _times_vector, lambda size: 2e-7 * size["width"])
MV_UNCOAL = driver("mvUncoal", _times_vector, lambda size: 2e-7 * size["width"])


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
    make_workload=_make_spmv,
    local_sizes=((32,), (64,), (128,), (256,)),
)
