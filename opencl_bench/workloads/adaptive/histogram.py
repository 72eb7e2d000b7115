"""histogram: how often each key comes; what suits depends on whether a few keys come most of the time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    AdaptiveKernel,
    Macros,
    items_for,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.contents.keys import Keys, make_keys
from coarsen.opencl_bench.workloads.contents.measured import share_of_most_frequent, share_repeated
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

MERGED, LOCAL, GLOBAL = range(3)
MACROS: Macros = {"IMPL": (MERGED, LOCAL, GLOBAL), "COPIES": (1, 2, 8), "GROUPS": (240, 16, 64, 960)}
INT_BYTES = 4
SMALL_GROUP = 64


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """Counting, with what clears the counts before it or merges them after it."""
    n, bins = size["n"], size["bins"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    groups = min(items_for(n, 1, group)[0] // group, chosen["GROUPS"])
    copies = LocalArgument(INT_BYTES * (1 if chosen["IMPL"] == GLOBAL else bins * chosen["COPIES"]))
    arguments = (*buffers("keys"), *uint32(n, bins), *buffers("counts", "parts"), copies)
    count = Launch("histogram", (groups * group,), local_size, arguments)
    over_bins = items_for(bins, 1, SMALL_GROUP), (SMALL_GROUP,)
    if chosen["IMPL"] == MERGED:
        merge = (*buffers("parts"), *uint32(groups, bins), *buffers("counts"))
        return count, Launch("histogram_merge", *over_bins, merge)
    return Launch("histogram_zero", *over_bins, (*buffers("counts"), *uint32(bins))), count


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """The parts have room for the largest number of work-groups."""
    keys = make_keys(Keys(size["keys"]), size["n"], size["bins"], size["per_mille"], generator)

    def reference() -> dict[str, Array]:
        return {"counts": np.bincount(keys, minlength=size["bins"]).astype(np.int32)}

    return Workload(
        buffers={
            "keys": keys,
            "counts": unwritten(size["bins"], np.int32),
            "parts": unwritten(max(MACROS["GROUPS"]) * size["bins"], np.int32),
        },
        launches=make_launches(size, local_size),
        outputs=("counts",),
        reference=reference,
    )


def _top_share(contents: Mapping[str, Array]) -> float:
    return share_of_most_frequent(contents["keys"])


def _repeated(contents: Mapping[str, Array]) -> float:
    return share_repeated(contents["keys"])


KERNELS = (
    AdaptiveKernel(
        kernel="histogram",
        inputs=InputSpace(
            ranges={"n": (1 << 12, 1 << 21), "bins": (8, 1024)},
            contents=(
                {"keys": Keys.UNIFORM, "per_mille": 0},
                {"keys": Keys.ONE_HEAVY, "per_mille": 950},
                {"keys": Keys.ZIPF, "per_mille": 1000},
                {"keys": Keys.RUNS, "per_mille": 64},
                {"keys": Keys.ONE_HEAVY, "per_mille": 400},
                {"keys": Keys.SORTED, "per_mille": 0},
                {"keys": Keys.ZIPF, "per_mille": 1800},
            ),
            contents_each=3,
            groups=12,
        ),
        test={"n": 5003, "bins": 37, "keys": Keys.ZIPF, "per_mille": 1000},
        local_sizes=((128,), (32,), (64,), (256,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(only_with(MACROS, "COPIES", "IMPL", MERGED, LOCAL),),
        other_kernels=("histogram_merge", "histogram_zero"),
        features={"n": "n", "bins": "bins", "keys_of_a_bin": "n / bins"},
        supplied={"top_share": _top_share, "repeated": _repeated},
    ),
)
