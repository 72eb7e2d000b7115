"""Sparse matrices in compressed rows: row i has the entries starts[i] to starts[i + 1], by ascending column."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.contents.lengths import (
    WHOLE,
    Lengths,
    capped,
    make_lengths,
    starts_of,
)


class Columns(enum.IntEnum):
    """Where the entries of a row may be; `per_mille` is of the number of columns."""

    SPREAD = 0
    """Anywhere."""
    BANDED = 1
    """In a band of per_mille of the columns about the diagonal."""
    BLOCK = 2
    """In the row's block of the diagonal, of per_mille of the columns."""


@dataclass(frozen=True, slots=True)
class CompressedRows:
    """A sparse matrix. No row has a column twice."""

    columns: int
    row_starts: NDArray[np.int32]
    column_indices: NDArray[np.int32]
    values: NDArray[np.float32]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.row_starts) - 1

    def times(self, vector: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the product with a vector, in double precision."""
        products = self.values.astype(np.float64) * vector[self.column_indices]
        sums = np.concatenate(([0.0], np.cumsum(products)))
        return np.asarray(sums[self.row_starts[1:]] - sums[self.row_starts[:-1]], np.float64)


@dataclass(frozen=True, slots=True)
class SparseShape:
    """The settings of a sparse matrix, all whole numbers.

    Args:
        rows: at least 1.
        columns: at least 1.
        entries: how many in all, at most rows × columns.
        lengths: the shape of the rows' lengths.
        length_per_mille: what `make_lengths` takes.
        placement: where a row's entries may be.
        placement_per_mille: as `Columns` says.
    """

    rows: int
    columns: int
    entries: int
    lengths: Lengths = Lengths.EVEN
    length_per_mille: int = 0
    placement: Columns = Columns.SPREAD
    placement_per_mille: int = WHOLE


def make_sparse(shape: SparseShape, generator: np.random.Generator) -> CompressedRows:
    """Return a matrix of a shape, with values from -1 to 1.

    Raises:
        InvalidInputError: a number is out of its range, or the entries don't fit.
    """
    if min(shape.rows, shape.columns) < 1 or shape.placement_per_mille < 0:
        raise InvalidInputError(f"a matrix can't have {shape.rows} × {shape.columns} elements")
    drawn = make_lengths(shape.lengths, shape.rows, shape.entries, shape.length_per_mille, generator)
    lengths = capped(drawn, shape.columns)
    first, width = _windows(shape, lengths)
    starts = starts_of(lengths)
    row = np.repeat(np.arange(shape.rows), lengths)
    place = np.arange(shape.entries) - starts[row]
    # A row's window is cut into as many pieces as the row has entries, and each piece has one.
    left = place * width[row] // lengths[row]
    right = (place + 1) * width[row] // lengths[row]
    within = left + np.floor(generator.random(shape.entries) * (right - left)).astype(np.int64)
    values = generator.random(shape.entries, dtype=np.float32) * np.float32(2) - np.float32(1)
    return CompressedRows(shape.columns, starts, (first[row] + within).astype(np.int32), values)


def _windows(shape: SparseShape, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first column and the number of columns that each row's entries may be in; no fewer than the entries."""
    if shape.placement is Columns.SPREAD:
        return np.zeros(shape.rows, np.int64), np.full(shape.rows, shape.columns)
    wanted = max(shape.columns * shape.placement_per_mille // WHOLE, 1)
    width = np.minimum(np.maximum(lengths, wanted), shape.columns)
    middle = np.arange(shape.rows, dtype=np.int64) * shape.columns // shape.rows
    first = middle - width // 2 if shape.placement is Columns.BANDED else middle // wanted * wanted
    return np.clip(first, 0, shape.columns - width), width
