"""Features computed for a factor against features of the kernel that was really coarsened by it."""

from __future__ import annotations

from functools import cache

import pytest

from coarsen.features import FEATURES, Features
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE
from tests.coarsened_kernel import coarsen_kernel
from tests.features.counted_kernels import extract

# Where copies of divergent loops follow each other the normal form adds phis, which are divergent.
WITH_PHIS = ("dwtHaar1D", "mvCoal")
TOLERANCES = {
    **dict.fromkeys(("divergent_instructions", "instructions", "divergent_region_ratio"), 0.05),
    "instruction_level_parallelism": 0.15,
}
SMALL_KERNEL_TOLERANCE = 0.1  # the same few phis weigh more

CASES = [(name, dimension) for name, driver in SUITE.items() for dimension in driver.dimensions]


@cache
def kernel_of(name: str) -> Kernel:
    return lower(SUITE[name].source, SUITE[name].kernel, SUITE[name].build_options)


def compare(kernel: Kernel, dimension: int, factor: int) -> tuple[Features, Features]:
    coarsened = coarsen_kernel(kernel, [Coarsening(factor, dimension)], transforms=REPLICATION_ALONE)
    return extract(kernel, dimension, factor), extract(coarsened, dimension)


@pytest.mark.parametrize("factor", [2, 3, 4, 8])
@pytest.mark.parametrize(("name", "dimension"), CASES)
def test_computed_features_are_those_of_the_coarsened_kernel(name: str, dimension: int, factor: int) -> None:
    computed, real = (features.by_name() for features in compare(kernel_of(name), dimension, factor))
    for feature in (description.name for description in FEATURES):
        tolerance = TOLERANCES.get(feature, 1e-12) if name in WITH_PHIS else 1e-12
        assert computed[feature] == pytest.approx(real[feature], rel=tolerance), feature


@pytest.mark.parametrize(
    "body",
    [
        "data[get_global_linear_id()] = get_local_linear_id();",
        "data[get_global_id(numbers[0])] = get_local_size(numbers[1]);",
        "data[get_local_id(0) + get_global_size(0)] = get_global_id(1);",
    ],
    ids=["linear", "dimension at run time", "sizes"],
)
def test_id_queries_are_counted_as_they_are_rewritten(body: str) -> None:
    source = f"kernel void ids(global float *data, global int *numbers) {{ {body} }}"
    computed, real = compare(lower(source, None, "-cl-std=CL2.0"), 0, 4)
    assert computed.instructions == real.instructions
    assert computed.integer_instructions == real.integer_instructions
    assert computed.stores == real.stores


def test_private_arrays_and_atomics_are_replicated() -> None:
    source = """
    kernel void histogram(global int *counts, global const int *values, int count)
    {
        int own[8];
        for (int bin = 0; bin < 8; ++bin)
            own[bin] = 0;
        for (int i = 0; i < count; ++i)
            own[values[i * get_global_size(0) + get_global_id(0)] & 7] += 1;
        for (int bin = 0; bin < 8; ++bin)
            atomic_add(counts + bin, own[bin]);
    }
    """
    computed, real = compare(lower(source), 0, 4)
    assert (computed.loads, computed.stores) == (real.loads, real.stores)
    assert computed.basic_blocks == real.basic_blocks
    assert computed.instructions == real.instructions


def test_a_join_that_is_reached_from_elsewhere_keeps_its_own_block() -> None:
    source = """
    kernel void skip(global int *data, int count, int wanted)
    {
        int x = get_global_id(0);
        int result = 7;
        if (wanted)
            if (x < count)
                result = data[x];
        data[x] = result;
    }
    """
    computed, real = compare(lower(source), 0, 2)
    assert computed.basic_blocks == real.basic_blocks
    assert computed.instructions == real.instructions


CONTROL_FLOW = {
    "break and continue": """
        for (int i = 0; i < n; ++i) {
            if (a[i] == x) break;
            if (a[i] & 1) continue;
            b[x] += a[i];
        }""",
    "return from nested loops": """
        int s = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < x; ++j) { s += a[i * j]; if (s > 100) return; }
        b[x] = s;""",
    "region in a loop with a barrier": """
        int s = 0;
        for (int i = 0; i < n; ++i) {
            if (a[x + i] > 3) s += a[i]; else s -= 1;
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
        b[x] = s;""",
    "nested else": "if (x < n) { if (a[x]) b[x] = 1; else b[x] = 2; } else b[x] = 3; b[x + n] = a[x] > 2 ? n : x;",
    "divergent loop": "while (a[x] > 0) { a[x] -= n; if (b[a[x]]) x += 2; } b[get_global_id(0)] = x;",
}


@pytest.mark.parametrize("body", CONTROL_FLOW.values(), ids=CONTROL_FLOW)
def test_divergent_control_flow_is_replicated(body: str) -> None:
    source = f"kernel void flow(global int *a, global int *b, int n) {{ int x = get_global_id(0); {body} }}"
    computed, real = (features.by_name() for features in compare(lower(source), 0, 4))
    for feature in (description.name for description in FEATURES):
        tolerance = max(SMALL_KERNEL_TOLERANCE, TOLERANCES[feature]) if feature in TOLERANCES else 1e-12
        assert computed[feature] == pytest.approx(real[feature], rel=tolerance), feature
