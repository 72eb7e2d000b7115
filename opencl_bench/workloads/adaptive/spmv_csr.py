"""spmvCsr: a sparse matrix in compressed rows times a vector; what suits depends on how unlike the rows are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    FLOAT_BYTES,
    AdaptiveKernel,
    Macros,
    coarsened_only_with,
    items_for,
    lanes_fit,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.contents.lengths import Lengths
from coarsen.opencl_bench.workloads.contents.measured import (
    column_spread,
    longest_over_mean,
    variation_of_lengths,
)
from coarsen.opencl_bench.workloads.contents.sparse import Columns, SparseShape, make_sparse
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

ROWS, LANES, EVEN = range(3)
MACROS: Macros = {"IMPL": (ROWS, LANES, EVEN), "LANES": (8, 2, 4, 16, 32), "ENTRIES": (32, 8, 128, 512)}


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch, and another that adds what was carried where the entries are shared evenly."""
    rows, entries = size["rows"], size["rows"] * size["mean"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    arguments = (
        *buffers("starts", "columns", "values", "vector"), *uint32(rows, entries),
        *buffers("result", "carried_rows", "carried"), LocalArgument(FLOAT_BYTES * group),
    )  # fmt: skip
    items = {
        ROWS: items_for(rows, 1, group),
        LANES: items_for(rows * chosen["LANES"], 1, group),
        EVEN: items_for(entries, chosen["ENTRIES"], group),
    }[chosen["IMPL"]]
    first = Launch("spmvCsr", items, local_size, arguments)
    if chosen["IMPL"] != EVEN:
        return (first,)
    finish = (*buffers("carried_rows", "carried"), *uint32(entries), *buffers("result"))
    return first, Launch("spmvCsr_finish", items, local_size, finish)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The matrix is of `rows` × `columns`, with `mean` entries in a row on average."""
    rows, entries = size["rows"], size["rows"] * size["mean"]
    shape = SparseShape(
        rows,
        size["columns"],
        entries,
        Lengths(size["lengths"]),
        size["length_per_mille"],
        Columns(size["placement"]),
        size["placement_per_mille"],
    )
    matrix = make_sparse(shape, generator)
    vector = uniform(generator, -1, 1, size["columns"])

    def reference() -> dict[str, Array]:
        return {"result": matrix.times(vector).astype(np.float32)}

    most_carried = -(-entries // min(MACROS["ENTRIES"]))
    return Workload(
        buffers={
            "starts": matrix.row_starts,
            "columns": matrix.column_indices,
            "values": matrix.values,
            "vector": vector,
            "result": unwritten(rows, np.float32),
            "carried_rows": unwritten(most_carried, np.uint32),
            "carried": unwritten(most_carried, np.float32),
        },
        launches=make_launches(size, local_size),
        outputs=("result",),
        reference=reference,
        relative_tolerance=1e-5,
        absolute_tolerance=2e-7 * int(np.diff(matrix.row_starts).max()),
    )


def _variation(contents: Mapping[str, Array]) -> float:
    return variation_of_lengths(contents["starts"])


def _longest(contents: Mapping[str, Array]) -> float:
    return longest_over_mean(contents["starts"])


def _spread(contents: Mapping[str, Array]) -> float:
    return column_spread(contents["starts"], contents["columns"])


def _contents(lengths: Lengths, per_mille: int, placement: Columns, place_per_mille: int) -> Size:
    return {
        "lengths": lengths,
        "length_per_mille": per_mille,
        "placement": placement,
        "placement_per_mille": place_per_mille,
    }


KERNELS = (
    AdaptiveKernel(
        kernel="spmvCsr",
        inputs=InputSpace(
            ranges={"rows": (64, 1 << 17), "mean": (1, 512), "columns": (1024, 1 << 16)},
            limits=("rows * mean <= 2000000", "rows * mean >= 8192", "mean * 2 <= columns"),
            contents=(
                _contents(Lengths.EVEN, 0, Columns.SPREAD, 1000),
                _contents(Lengths.ZIPF, 1000, Columns.SPREAD, 1000),
                _contents(Lengths.ONE_HEAVY, 500, Columns.BANDED, 10),
                _contents(Lengths.EVEN, 0, Columns.BANDED, 10),
                _contents(Lengths.UNIFORM, 0, Columns.BLOCK, 50),
                _contents(Lengths.ZIPF, 700, Columns.BANDED, 100),
                _contents(Lengths.ONE_HEAVY, 100, Columns.SPREAD, 1000),
            ),
            contents_each=3,
            groups=12,
        ),
        test={"rows": 77, "mean": 5, "columns": 90, **_contents(Lengths.ZIPF, 1000, Columns.SPREAD, 1000)},
        local_sizes=((64,), (16,), (32,), (128,), (256,), (512,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(
            lanes_fit(LANES),
            only_with(MACROS, "LANES", "IMPL", LANES),
            only_with(MACROS, "ENTRIES", "IMPL", EVEN),
            coarsened_only_with("IMPL", ROWS),
        ),
        factors=(2, 4),
        other_kernels=("spmvCsr_finish",),
        features={"rows": "rows", "entries": "entries", "mean": "entries / rows"},
        supplied={"row_variation": _variation, "longest_over_mean": _longest, "column_spread": _spread},
    ),
)
