"""Facts of kernels' text: each is there, and says what the code is like."""

from __future__ import annotations

import math

import pytest

from coarsen.features.kernel_facts import KERNEL_FACTS, along, kernel_facts
from coarsen.frontend.lower import lower

GUARDED = """
kernel void guarded(global float4 *out, global const float4 *in, uint width, uint height)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < width)
        for (uint n = 0; n < height; ++n)
            for (uint m = 0; m < 4; ++m)
                out[y * width + x] += in[m * width + x] * n;
}
"""
PLAIN = "kernel void plain(global float *out) { out[get_global_id(0)] += 1.0f; }"
# Its exits can't be merged, whatever the dimension.
REFUSED = """
kernel void refused(global int *out)
{
    local int shared[64];
    shared[get_local_id(0)] = 1;
    if (get_global_id(0) < 7)
        barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = shared[0];
}
"""


@pytest.mark.parametrize("source", [GUARDED, PLAIN, REFUSED])
def test_every_fact_is_there_and_finite(source: str) -> None:
    facts = kernel_facts(lower(source))
    assert tuple(facts) == KERNEL_FACTS
    assert all(math.isfinite(value) for value in facts.values())


def test_a_guard_around_loops_is_one_along_the_dimension_that_it_compares() -> None:
    facts = kernel_facts(lower(GUARDED))
    assert facts[along("guarded loop share", 0)] > 0.5
    assert facts[along("guarded loop share", 1)] == 0.0
    assert (facts["loops"], facts["depth of loops"]) == (2.0, 2.0)


def test_vector_types_are_told_from_scalars() -> None:
    assert kernel_facts(lower(GUARDED))["mean vector width"] == pytest.approx(4.0)
    assert kernel_facts(lower(PLAIN))["mean vector width"] == pytest.approx(1.0)
