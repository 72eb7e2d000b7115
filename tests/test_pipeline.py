"""What a run of the pipeline gives back, and what its observer sees."""

from __future__ import annotations

import copy
import pickle

import pytest

from coarsen.api import coarsen
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.pipeline import Observer, run_pipeline
from coarsen.remarks.report import place_of_branch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms
from coarsen.variant.variant import Variant

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


def test_the_result_has_all_that_was_found_out() -> None:
    chosen = Variant(coarsenings=(Coarsening(2, 0), Coarsening(2, 1)), transforms=Transforms(wide_accesses=True))
    lowered = lower(ASSUMING)
    found = run_pipeline(lowered, chosen, counts_clean_up=True)
    assert (found.lowered, found.variant, len(found.plans)) == (lowered, chosen, 2)
    assert (found.wide_accesses is not None, found.assumptions != ()) == (True, True)
    loop = next(b for b in found.plans[1].divergence.kernel.blocks if len(b.terminator.targets) > 1)
    # The second coarsening's kernel, which the first has written, knows its places in the source.
    assert place_of_branch(found.plans[1].divergence.kernel, loop) is not None


def test_what_the_clean_up_removes_is_counted_where_that_is_asked_for() -> None:
    lowered = lower(
        "kernel void k(global int *p) { int i = get_global_id(0); p[2 * i] = p[2 * i] * p[2 * i + 1]; }"
    )
    on = Variant(coarsenings=(Coarsening(4),))
    off = Variant(coarsenings=(Coarsening(4),), transforms=REPLICATION_ALONE)
    without = run_pipeline(lowered, off, counts_clean_up=True)
    counted = run_pipeline(lowered, on, counts_clean_up=True)
    assert (without.cleaned, run_pipeline(lowered, on).cleaned) == (None, None)
    assert counted.cleaned == without.kernel.length - counted.kernel.length > 0
    assert run_pipeline(lowered, Variant(), counts_clean_up=True).cleaned == 0


def test_a_coarsened_kernel_is_copied_with_its_plans() -> None:
    source = "kernel void k(global int *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] *= 2; }"
    for level in ("item", "group"):
        made = coarsen(source, factor=4, level=level, distinct=True)
        for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
            assert again.opencl_c == made.opencl_c
            ((plan,), (before,)) = again.plans, made.plans
            assert (plan.regions, plan.transforms) == (before.regions, before.transforms)
            assert plan.divergence.merges_groups is (level == "group")
            assert plan.kernel is not before.kernel


def test_a_transform_that_is_used_or_not_takes_no_word() -> None:
    with pytest.raises(InvalidInputError, match=r"^wide_accesses is True or False, not 'never'$"):
        coarsen("kernel void k(global int *a) { a[get_global_id(0)] = 1; }", factor=2, wide_accesses="never")  # type: ignore[arg-type]
