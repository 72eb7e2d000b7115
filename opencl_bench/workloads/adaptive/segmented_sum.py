"""segmentedSum: sums of segments; what suits depends on how unlike their lengths are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coarsen.opencl_bench.workloads.adaptive_driver import (
    AdaptiveKernel,
    Macros,
    coarsened_only_with,
    items_for,
    lanes_fit,
    only_with,
    values_of,
)
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, LocalArgument, LocalSize, Size, Workload
from coarsen.opencl_bench.workloads.contents.lengths import Lengths, make_lengths, starts_of
from coarsen.opencl_bench.workloads.contents.measured import longest_over_mean, variation_of_lengths
from coarsen.opencl_bench.workloads.driver_tools import buffers, uint32, unwritten
from coarsen.opencl_bench.workloads.input_space import InputSpace

SEGMENTS, LANES, EVEN = range(3)
MACROS: Macros = {"IMPL": (SEGMENTS, LANES, EVEN), "LANES": (32, 4, 8, 16, 64), "EACH": (64, 16, 256, 1024)}
INT_BYTES = 4
LARGEST = 1000


def make_launches(size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """One launch, after another that clears the sums where the elements are shared evenly."""
    segments, n = size["segments"], size["segments"] * size["mean"]
    chosen = values_of(MACROS, size)
    (group,) = local_size
    arguments = (
        *buffers("starts", "elements"), *uint32(segments, n), *buffers("sums"), LocalArgument(INT_BYTES * group),
    )  # fmt: skip
    items = {
        SEGMENTS: items_for(segments, 1, group),
        LANES: items_for(segments * chosen["LANES"], 1, group),
        EVEN: items_for(n, chosen["EACH"], group),
    }[chosen["IMPL"]]
    add = Launch("segmentedSum", items, local_size, arguments)
    if chosen["IMPL"] != EVEN:
        return (add,)
    zero = (*buffers("sums"), *uint32(segments))
    return Launch("segmentedSum_zero", items_for(segments, 1, group), local_size, zero), add


def make_workload(size: Size, local_size: LocalSize, generator: np.random.Generator) -> Workload:
    """There are `segments` with `mean` elements on average, some of them empty."""
    n = size["segments"] * size["mean"]
    lengths = make_lengths(Lengths(size["lengths"]), size["segments"], n, size["per_mille"], generator)
    starts = starts_of(lengths)
    elements = generator.integers(-LARGEST, LARGEST, n, dtype=np.int32)

    def reference() -> dict[str, Array]:
        ends = np.concatenate(([0], np.cumsum(elements, dtype=np.int64)))
        return {"sums": (ends[starts[1:]] - ends[starts[:-1]]).astype(np.int32)}

    return Workload(
        buffers={"starts": starts, "elements": elements, "sums": unwritten(size["segments"], np.int32)},
        launches=make_launches(size, local_size),
        outputs=("sums",),
        reference=reference,
    )


def _variation(contents: Mapping[str, Array]) -> float:
    return variation_of_lengths(contents["starts"])


def _longest(contents: Mapping[str, Array]) -> float:
    return longest_over_mean(contents["starts"])


KERNELS = (
    AdaptiveKernel(
        kernel="segmentedSum",
        inputs=InputSpace(
            ranges={"segments": (16, 1 << 18), "mean": (1, 1 << 16)},
            limits=("segments * mean <= 4194304", "segments * mean >= 8192"),
            contents=(
                {"lengths": Lengths.EVEN, "per_mille": 0},
                {"lengths": Lengths.ONE_HEAVY, "per_mille": 700},
                {"lengths": Lengths.ZIPF, "per_mille": 1000},
                {"lengths": Lengths.UNIFORM, "per_mille": 0},
                {"lengths": Lengths.ONE_HEAVY, "per_mille": 150},
                {"lengths": Lengths.ZIPF, "per_mille": 600},
                {"lengths": Lengths.ZIPF, "per_mille": 1500},
            ),
            contents_each=3,
            groups=12,
        ),
        test={"segments": 77, "mean": 9, "lengths": Lengths.ZIPF, "per_mille": 1000},
        local_sizes=((64,), (16,), (32,), (128,), (256,), (512,)),
        make_workload=make_workload,
        make_launches=make_launches,
        macros=MACROS,
        rules=(
            only_with(MACROS, "LANES", "IMPL", LANES),
            only_with(MACROS, "EACH", "IMPL", EVEN),
            lanes_fit(LANES),
            coarsened_only_with("IMPL", SEGMENTS),
        ),
        factors=(2, 4),
        other_kernels=("segmentedSum_zero",),
        features={"segments": "segments", "n": "n", "mean": "n / segments"},
        supplied={"length_variation": _variation, "longest_over_mean": _longest},
    ),
)
