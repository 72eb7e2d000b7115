"""gather: elements of a table by indices; what suits depends on how far neighbouring indices jump."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel, Macros, items_for, macro, values_of
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.contents.indices import make_indices
from coarsen.opencl_bench.workloads.contents.measured import mean_jump
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, uniform, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace
from coarsen.variant.variant import Variant

APART, TOGETHER, STAGED = range(3)
MACROS: Macros = {"IMPL": (APART, TOGETHER, STAGED), "EACH": (1, 2, 4, 8, 16)}
INT_BYTES = 4


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch."""
    chosen = values_of(MACROS, size)
    (group,) = local_size
    staged = LocalArgument(INT_BYTES * group * chosen["EACH"])
    arguments = (*buffers("table", "indices"), *uint32(size["n"]), *buffers("output"), staged)
    return (Launch("gather", items_for(size["n"], chosen["EACH"], group), local_size, arguments),)


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The result is exact."""
    indices = make_indices(size["n"], size["entries"], size["reach_per_mille"], generator)
    table = uniform(generator, -1, 1, size["entries"])

    def reference() -> dict[str, Array]:
        return {"output": table[indices]}

    return Workload(
        buffers={"table": table, "indices": indices, "output": unwritten(size["n"], np.float32)},
        launches=make_launches(size, local_size),
        outputs=("output",),
        reference=reference,
    )


def _mean_jump(contents: Mapping[str, Array]) -> float:
    return mean_jump(contents["indices"])


def _differs(variant: Variant) -> str | None:
    """Rule out what is the same for one index alone."""
    if macro(variant, "IMPL") == TOGETHER and macro(variant, "EACH") == 1:
        return "with one index for each work-item there are none side by side"
    return None


KERNELS = (
    AdaptiveKernel(
        kernel="gather",
        inputs=InputSpace(
            ranges={"n": (1 << 12, 1 << 21), "entries": (1 << 10, 1 << 22)},
            contents=(
                {"reach_per_mille": 1000},
                {"reach_per_mille": 0},
                {"reach_per_mille": 1},
                {"reach_per_mille": 50},
                {"reach_per_mille": 10},
            ),
            contents_each=3,
            groups=12,
        ),
        test={"n": 3001, "entries": 777, "reach_per_mille": 100},
        local_sizes=((64,), (16,), (32,), (128,), (256,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(_differs,),
        features={"n": "n", "table_bytes": "bytes_table", "indices_of_an_entry": "4 * n / bytes_table"},
        supplied={"mean_jump": _mean_jump},
    ),
)
