"""The mechanisms of kernels of free launch: what decides whether coarsening helps, one for each kernel."""

from __future__ import annotations

import enum


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
