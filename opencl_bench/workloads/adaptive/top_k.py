"""topK: the largest elements of rows; what suits depends on the rows' shape and on the order of elements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    FLOAT_BYTES,
    AdaptiveKernel,
    Macros,
    items_for,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.contents.keys import partly_sorted
from coarsen.opencl_bench.workloads.contents.measured import share_in_order
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

ITEMS, SORTED, LARGEST = range(3)
MACROS: Macros = {"IMPL": (ITEMS, SORTED, LARGEST), "EACH": (1, 2, 4, 8)}


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch."""
    rows, length = size["rows"], size["length"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    staged = {ITEMS: 1, SORTED: 1 << (length - 1).bit_length(), LARGEST: length + 2 * group}[chosen["IMPL"]]
    arguments = (
        *buffers("values"), *uint32(rows, length, size["wanted"]), *buffers("largest"),
        LocalArgument(FLOAT_BYTES * staged),
    )  # fmt: skip
    groups = items_for(rows, chosen["EACH"] * (group if chosen["IMPL"] == ITEMS else 1), 1)[0]
    return (Launch("topK", (groups * group,), local_size, arguments),)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """No element comes twice. In ascending order each one is a new largest; 1000 per mille moved is any order."""
    rows, length, wanted = size["rows"], size["length"], size["wanted"]
    drawn = generator.permutation(rows * length).astype(np.int32).reshape(rows, length)
    ordered = np.stack([partly_sorted(row, size["moved_per_mille"], generator) for row in drawn])
    values = (ordered[:, ::-1] if size["descends"] else ordered).astype(np.float32)

    def reference() -> dict[str, Array]:
        return {"largest": np.sort(values, axis=1)[:, ::-1][:, :wanted].copy()}

    return Workload(
        buffers={"values": np.ascontiguousarray(values), "largest": unwritten((rows, wanted), np.float32)},
        launches=make_launches(size, local_size),
        outputs=("largest",),
        reference=reference,
    )


def _in_order(contents: Mapping[str, Array]) -> float:
    return share_in_order(contents["values"])


KERNELS = (
    AdaptiveKernel(
        kernel="topK",
        inputs=InputSpace(
            ranges={"rows": (1, 1 << 14), "length": (16, 2048), "wanted": (1, 16)},
            limits=("rows * length <= 524288", "rows * length >= 4096", "wanted <= length"),
            contents=(
                {"moved_per_mille": 1000, "descends": 0},
                {"moved_per_mille": 0, "descends": 0},
                {"moved_per_mille": 100, "descends": 1},
                {"moved_per_mille": 200, "descends": 0},
            ),
            contents_each=3,
            groups=12,
        ),
        test={"rows": 37, "length": 75, "wanted": 5, "moved_per_mille": 300, "descends": 0},
        local_sizes=((64,), (16,), (32,), (128,), (256,), (512,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        features={"rows": "rows", "length": "length", "wanted": "wanted", "elements": "rows * length"},
        supplied={"in_order": _in_order},
    ),
)
