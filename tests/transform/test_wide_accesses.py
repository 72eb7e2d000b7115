"""Wide accesses: what is merged, what is not, and that results are the same with them as without.

COARSEN_DIFFERENTIAL=full runs factors 2, 4 and 8 instead of one. Devices and the emitted forms come by turns
(`tests/selection.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import CoarsenedKernel, run_pipeline
from coarsen.transform.wide_accesses import WideAccesses
from coarsen.tuning.measure.comparison import compare
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.transforms import DEFAULT, REPLICATION_ALONE, Transforms
from coarsen.variant.variant import Variant
from tests.oclgrind.benchmark_runs import FACTORS as WATCHED
from tests.opencl_bench.workloads.divisible import DIVISIBLE
from tests.selection import everything_is_asked_for, turns_by
from tests.transform import test_suite
from tests.transform.cases import CASES, Case
from tests.transform.harness import (
    assert_same,
    build_coarsened,
    build_original,
    coarsened_outcome,
    form_by_turns,
    forms,
    is_left_out,
    lowered,
    original_outcome,
    turns_of,
)
from tests.transform.suite_combinations import Combination
from tests.workload_runs import run_workload

FACTORS = (2, 4, 8) if everything_is_asked_for() else (4,)


def widened(
    kernel: Kernel, chosen: Configuration, transforms: Transforms = DEFAULT
) -> tuple[CoarsenedKernel, WideAccesses]:
    """A coarsened kernel with wide accesses, and what was merged."""
    result = run_pipeline(
        kernel, Variant(coarsenings=tuple(chosen), transforms=replace(transforms, wide_accesses=True))
    )
    assert result.wide_accesses is not None
    return result, result.wide_accesses


@dataclass(frozen=True)
class Small:
    """A small kernel `k(global T *to, global const T *from, int width)`: its body, what is merged at factor 4.

    `merged` counts loads, wide loads, stores and wide stores; `is_defined` says whether all results are.
    """

    name: str
    body: str
    merged: tuple[int, int, int, int]
    parameters: str = "global float *to, global const float *from, int width"
    has_limit: bool = True
    element: type[np.generic] = np.float32
    is_defined: bool = True

    @property
    def case(self) -> Case:
        """How it is launched: 64 work-items, room for 512 elements."""
        text = f"kernel void k({self.parameters})\n{{\n{self.body}\n}}\n"

        def arguments(rng: np.random.Generator, _items: int) -> list[Any]:
            contents = [rng.integers(0, 100, 512).astype(self.element) for _ in range(2)]
            return [*contents, np.int32(3)]

        return Case("k", (64,), (32,), arguments, factors=(2, 4, 8), text=text)


RESTRICT = "global float *restrict to, global const float *restrict from, int width"
ID = "int x = get_global_id(0);"
MERGED = (
    Small("copy", f"{ID} to[x] = from[x];", (4, 1, 4, 1)),
    Small("ids_of_64_bits", "size_t x = get_global_id(0); to[x] = from[x];", (4, 1, 4, 1), has_limit=False),
    Small("shifted", f"{ID} to[x + width] = 2 * from[x + 2 * width + 1];", (4, 1, 4, 1)),
    Small("unsigned_below", "uint x = get_global_id(0); to[x] = from[x + 3 - width];", (4, 1, 4, 1)),
    Small("three_neighbours", f"{ID} to[x] = from[x] + from[x + 1] + from[x + 2];", (12, 2, 4, 1), RESTRICT),
    Small("backwards", f"{ID} to[x] = from[63 - x];", (4, 1, 4, 1)),
    Small("update", f"{ID} to[x] += 3 * from[x];", (8, 2, 4, 1)),
    Small("between_restricted", f"{ID} to[x] = from[x]; to[x + 64] = from[x + 1];", (7, 1, 8, 2), RESTRICT),
    Small(
        "moving_index",
        f"{ID} float sum = 0; for (int i = 0; i < 5; ++i, x += width) sum += from[x]; to[get_global_id(0)] = sum;",
        (4, 1, 4, 1),
    ),
    Small(
        "moving_pointer",
        f"{ID} global const float *p = from + x; float sum = 0; for (int i = 0; i < 5; ++i, p += width) sum += *p;"
        " to[x] = sum;",
        (4, 1, 4, 1),
    ),
    Small(
        "static_local",
        f"local float tile[32]; {ID} int l = get_local_id(0); tile[l] = from[x]; barrier(CLK_LOCAL_MEM_FENCE);"
        " to[x] = tile[31 - l];",
        (8, 2, 8, 2),
    ),
    Small(
        "pairs",
        f"{ID} to[x] = from[x] + 1;",
        (4, 1, 4, 1),
        "global float2 *to, global const float2 *from, int width",
    ),
    Small(
        "bytes",
        f"{ID} to[x] = from[x] / 3;",
        (4, 1, 4, 1),
        "global uchar *to, global const uchar *from, int width",
        element=np.uint8,
    ),
    Small(
        "doubles",
        f"{ID} to[x] = from[x] * 3;",
        (4, 1, 4, 1),
        "global double *to, global const double *from, int width",
        element=np.float64,
    ),
    Small(
        "loaded_twice",
        f"{ID} float one = from[x]; to[x + 256] = 3; float two = from[x]; to[2 * x] = one; to[2 * x + 1] = two;",
        (8, 1, 12, 2),
        RESTRICT,
    ),
    Small("constant_values", f"{ID} to[x] = 5.0f;", (0, 0, 4, 1)),
)
REFUSED = (
    Small("stride_2", f"{ID} to[2 * x] = from[2 * x];", (0, 0, 0, 0)),
    Small("index_of_8_bits", f"{ID} to[x] = from[(uchar)(x + 250)];", (0, 0, 4, 1)),
    Small("index_of_16_bits", f"{ID} to[x] = from[(ushort)(x + 65534 + width) % 256];", (0, 0, 4, 1)),
    Small("signed_8_bits", f"{ID} to[x] = from[128 + (char)(x + 126)];", (0, 0, 4, 1)),
    Small("quotient", f"{ID} to[x] = from[x / 2];", (0, 0, 4, 1)),
    Small("exclusive_or", f"{ID} to[x] = from[x ^ width];", (0, 0, 4, 1)),
    Small("rows", f"{ID} to[x * width] = from[x * width];", (0, 0, 0, 0)),
    Small(
        "volatile",
        f"{ID} to[x] = from[x];",
        (0, 0, 0, 0),
        "volatile global float *to, volatile global const float *from, int width",
    ),
    Small("fence", f"{ID} to[x] = from[x]; mem_fence(CLK_GLOBAL_MEM_FENCE); to[x] += from[x];", (12, 3, 8, 2)),
    Small(
        "packed",
        f"{ID} to[x].value = from[x].value;",
        (0, 0, 0, 0),
        "global struct __attribute__((packed)) { uchar kind; float value; } *to,"
        " global const struct __attribute__((packed)) { uchar kind; float value; } *from, int width",
    ),
    Small(
        "three_components",  # which clang loads and stores as four
        f"{ID} to[x] = from[x] * 2;",
        (0, 0, 0, 0),
        "global float3 *to, global const float3 *from, int width",
        is_defined=False,
    ),
    Small(
        "store_behind_a_loop",
        f"{ID} float sum = 0; for (int i = 0; i < 5; ++i) sum += from[x * 5 + i]; to[x] = sum;",
        (0, 0, 0, 0),
    ),
    Small(
        "overlapping_stores",
        f"{ID} to[x] = from[x]; to[x + 1] = from[x + 70];",
        (8, 2, 8, 2),
        RESTRICT,
        is_defined=False,
    ),
    Small("aliasing", f"{ID} to[x] = from[x]; to[x + 64] = from[x + 1];", (8, 2, 8, 2)),
)
SMALL = [pytest.param(small, id=small.name) for small in (*MERGED, *REFUSED)]
DEFINED = [
    pytest.param(number, small, id=small.name)
    for number, small in enumerate((*MERGED, *REFUSED))
    if small.is_defined
]


@pytest.mark.parametrize("small", SMALL)
def test_what_is_merged(small: Small) -> None:
    _, merged = widened(lowered(small.case), (Coarsening(4),), REPLICATION_ALONE)
    assert (merged.loads, merged.wide_loads, merged.stores, merged.wide_stores) == small.merged
    assert (merged.objects_below is not None) == (small.has_limit and any(small.merged))


@pytest.mark.parametrize(("number", "small"), DEFINED)
def test_small_kernels_give_the_same(
    number: int, small: Small, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    check_by_turns(small.case, 0, number, device, queue)


@pytest.mark.parametrize(("number", "case"), [pytest.param(n, case, id=case.name) for n, case in enumerate(CASES)])
def test_hazards_give_the_same(number: int, case: Case, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    for dimension in case.dimensions:
        check_by_turns(case, dimension, number + dimension, device, queue)


def check_by_turns(
    case: Case, dimension: int, number: int, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    """Compare with the original at the factors that divide and are for the device."""
    for place, turn in turns_of(device, number, len(FACTORS)).items():
        if case.local_size[dimension] % FACTORS[place] == 0:
            check(case, (Coarsening(FACTORS[place], dimension),), form_by_turns(device, turn), queue)


@functools.lru_cache(maxsize=64)
def widened_case(case: Case, chosen: Configuration) -> tuple[CoarsenedKernel, WideAccesses]:
    return widened(lowered(case), chosen)


def check(case: Case, chosen: Configuration, form: str, queue: cl.CommandQueue) -> None:
    """Compare with the original where anything was merged."""
    kernel, merged = widened_case(case, chosen)
    if not merged.wide_loads + merged.wide_stores:
        return
    original = original_outcome(queue.context, case)
    assert_same(original, coarsened_outcome(queue, kernel, form, case, chosen), case.tolerance)


BENCHMARKS = [
    Combination(benchmark.name, Coarsening(factor, dimension), "1")
    for benchmark in SUITE.values()
    for dimension in benchmark.dimensions
    for factor in FACTORS
    if DIVISIBLE[benchmark.name][dimension][dimension] % factor == 0
]
TURNS = turns_by([(each.benchmark, each.coarsening.dimension) for each in BENCHMARKS])


@functools.lru_cache(maxsize=64)
def widened_benchmark(name: str, chosen: Configuration) -> tuple[CoarsenedKernel, WideAccesses]:
    return widened(test_suite.lowered(name), chosen)


class WideBenchmark(test_suite.CoarsenedBenchmark):
    """Launches a benchmark's coarsened kernel with wide accesses."""

    def _build(self, used: Configuration) -> cl.Kernel:
        kernel, _ = widened_benchmark(self._benchmark.name, used)
        return build_coarsened(self._context, kernel, self._form, self._benchmark.build_options)


@pytest.mark.parametrize("combination", BENCHMARKS, ids=str)
def test_benchmarks_give_the_reference_results(
    combination: Combination, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    _, merged = widened_benchmark(combination.benchmark, (combination.coarsening,))
    if not merged.wide_loads + merged.wide_stores:
        return
    work = test_suite.workload(combination.benchmark, combination.coarsening.dimension)
    kernels = WideBenchmark(queue, combination, form_by_turns(device, TURNS[BENCHMARKS.index(combination)]))
    result = run_workload(queue, work, kernels.choose)
    assert compare(result.outputs, work.expected(), work) == []
    assert not result.violated and kernels.exact


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """As for the tests without wide accesses."""
    if "case" in parameters and "device" in parameters:
        case, device = parameters["case"], parameters["device"]
        number = parameters["number"]
        if not any(turns_of(device, number + dimension, len(FACTORS)) for dimension in case.dimensions):
            return False
        wrong = bool(case.wrong_on_if_wide) and device.runs_on(case.wrong_on_if_wide)
        return not wrong and not (case.needs and device.is_called("oclgrind"))
    if "small" in parameters and "device" in parameters:
        return bool(turns_of(parameters["device"], parameters["number"], len(FACTORS)))
    if "combination" in parameters:
        combination, device = parameters["combination"], parameters["device"]
        # The tests of Oclgrind's findings run these with wide accesses there, and compare their results as well.
        if len(FACTORS) > 1 and device.is_called("oclgrind") and combination.coarsening.factor in WATCHED:
            return False
        turn = TURNS[BENCHMARKS.index(combination)]
        return not is_left_out(device, turn, functools.partial(test_suite.fits, combination))
    return True


SHARED = """
kernel void k(global int *first, global int *second, global int *third)
{
    int x = get_global_id(0);
    int before = second[x];
    first[x] = before + 1;
    int after = second[x];
    third[x] = after;
    second[x] = 10 * after + third[x];
}
"""


@pytest.mark.parametrize("shared", [(0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0), (0, 1, 2)])
def test_arguments_may_be_one_buffer(
    shared: tuple[int, int, int], device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    case = Case("k", (64,), (32,), lambda rng, n: [], text=SHARED)
    kernel, merged = widened(lowered(case), (Coarsening(4),))
    assert merged.wide_loads and merged.wide_stores
    wanted = with_shared_buffers(queue, build_original(queue.context, case), 64, shared)
    for form in forms(device):
        built = build_coarsened(queue.context, kernel, form, ())
        np.testing.assert_array_equal(with_shared_buffers(queue, built, 16, shared), wanted)


def with_shared_buffers(
    queue: cl.CommandQueue, kernel: cl.Kernel, items: int, shared: tuple[int, int, int]
) -> np.ndarray[Any, Any]:
    """What three buffers hold after a launch; `shared` says which of them each argument is."""
    contents = np.arange(3 * 64, dtype=np.int32).reshape(3, 64) % 97
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(queue.context, flags, hostbuf=row) for row in contents]
    kernel(queue, (items,), None, *(buffers[index] for index in shared))
    for row, buffer in zip(contents, buffers, strict=True):
        cl.enqueue_copy(queue, row, buffer)
    return contents


def test_the_limit_is_told() -> None:
    kernel, merged = widened(lowered(MERGED[0].case), (Coarsening(4),))
    assert merged.objects_below == 2**32 * 4
    assert any("16 GiB" in assumption for assumption in kernel.assumptions)
