"""The cost of a plan, counted by hand."""

from __future__ import annotations

from coarsen.frontend.lower import lower
from coarsen.pipeline import run_pipeline
from coarsen.remarks.report import CoarseningReport, coarsening_report
from coarsen.transform.coarsen import analyse
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT, REPLICATION_ALONE, Transforms, Use
from coarsen.variant.variant import Variant
from tests.instruction_counts import code_counts

# Outside: a query, a conversion, a comparison, a branch, and the return; 12 instructions in the guard.
GUARD = """
kernel void k(global float *to, global const float *from, int count, int rounds)
{
    int x = get_global_id(0);
    if (x < count) {
        for (int i = 0; i < 16; ++i)
            to[x] += from[i];
    }
}
"""


def cost_of(transforms: Transforms, factor: int = 4) -> CoarseningReport:
    analysed = analyse(lower(GUARD), 0)
    plan = plan_regions(analysed.divergence, analysed.regions, transforms)
    return coarsening_report(Coarsening(factor), plan)


def test_parts_add_up_to_the_kernel() -> None:
    kernel = lower(GUARD)
    for transforms in (DEFAULT, REPLICATION_ALONE):
        cost = cost_of(transforms)
        assert sum(part.instructions for part in cost.parts()) == kernel.length
        assert cost.outside.instructions == 5


def test_work_counts_rounds() -> None:
    cost = cost_of(DEFAULT)
    inside = cost.work - cost.outside.work
    assert inside > 16 * 8
    assert (cost.interleaved_work, cost.copied_work) == (inside, 0)
    alone = cost_of(REPLICATION_ALONE)
    assert (alone.interleaved_work, alone.copied_work) == (0, inside)


def test_copies_share_nothing() -> None:
    together, alone = cost_of(DEFAULT), cost_of(REPLICATION_ALONE)
    assert alone.regions[0].own.shared == 0
    assert together.regions[0].own.shared == 3 * together.regions[0].own.uniform > 0
    assert together.shared > alone.shared == 3 * alone.outside.uniform


def test_code_that_runs_where_replicas_part_is_counted_apart() -> None:
    kernel = lower(GUARD)
    chosen = Variant(coarsenings=(Coarsening(4),), transforms=Transforms(Use.ALWAYS, Use.ALWAYS))
    found = run_pipeline(kernel, chosen)
    assert found.parted
    counts, plain = code_counts(found.kernel, 4, found.parted), code_counts(found.kernel, 4)
    assert counts.code == plain.code == plain.together == found.kernel.length / 4
    assert counts.together < plain.together
    assert (
        run_pipeline(kernel, Variant(coarsenings=(Coarsening(4),), transforms=REPLICATION_ALONE)).parted == set()
    )
