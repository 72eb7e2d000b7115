"""What a run of the pipeline gives back, and what its observer sees."""

from __future__ import annotations

from coarsen.api import coarsen
from coarsen.pipeline import Observer

# A barrier in a loop whose length looks as if it differed between work-items.
ASSUMING = """
kernel void assuming(global int *p, global const int *n) {
    for (int i = 0; i < n[get_global_id(0)]; ++i) {
        barrier(CLK_LOCAL_MEM_FENCE);
        p[get_global_id(0)] += i;
    }
}
"""
PLAIN = "kernel void plain(global float *p) { p[get_global_id(0)] = 1; }"


def test_a_reused_observer_brings_nothing_from_one_kernel_to_the_next() -> None:
    observer = Observer()
    first = coarsen(ASSUMING, observer=observer, wide_accesses=True)
    assert first.assumptions
    seconds = dict(observer.seconds)
    second = coarsen(PLAIN, observer=observer)
    assert (second.assumptions, len(second.plans), second.wide_accesses) == ((), 1, None)
    assert (len(first.plans), first.wide_accesses is not None) == (1, True)
    assert all(observer.seconds[stage] >= taken for stage, taken in seconds.items())
