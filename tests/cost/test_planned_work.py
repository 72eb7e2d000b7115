"""Work counted from the plan against that of kernels that were really coarsened."""

from __future__ import annotations

from functools import cache

import pytest

from coarsen.cost.planned_work.planned_kernel import PlannedKernel
from coarsen.cost.work_counts import LaunchSizes, WorkCounts
from coarsen.cost.work_functions import launched_sizes
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms, Use
from coarsen.variant.variant import Variant
from tests.counted_work import work_functions

LINE = LaunchSizes((4096, 1, 1), (128, 1, 1))
PLANE = LaunchSizes((4096, 1024, 1), (128, 4, 1))
SIZES = {"width": 4096, "height": 1024, "count": 4096, "rounds": 24}

COPY = (
    "kernel void k(global float *to, global const float *from) { to[get_global_id(0)] = from[get_global_id(0)]; }"
)
# Neighbouring replicas load the same: a row of five, where one work-item loads three.
ROW = """
kernel void k(global float *to, global const float *from)
{
    int x = get_global_id(0) + 1;
    to[x] = 0.25f * from[x - 1] + 0.5f * from[x] + 0.25f * from[x + 1];
}
"""
STENCIL = """
kernel void k(global float *to, global const float *from, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        float sum = 0.0f;
        for (int row = -1; row <= 1; ++row)
            sum += from[(y + row) * width + x - 1] + from[(y + row) * width + x] + from[(y + row) * width + x + 1];
        to[y * width + x] = sum * 0.111f;
    }
}
"""
# What the loop loads of the vector is the same for all replicas.
PRODUCT = """
kernel void k(global float *to, global const float *matrix, global const float *vector, int count, int rounds)
{
    int row = get_global_id(0);
    if (row >= count)
        return;
    float sum = 0.0f;
    for (int k = 0; k < rounds; ++k)
        sum += matrix[k * count + row] * vector[k];
    to[row] = sum;
}
"""
TILE = """
kernel void k(global float *to, global const float *from)
{
    local float tile[128];
    int lane = get_local_id(0);
    tile[lane] = from[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int active = 64; active > 0; active /= 2) {
        if (lane < active)
            tile[lane] += tile[lane + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        to[get_group_id(0)] = tile[0];
}
"""
GATHER = """
kernel void k(global float *to, global const float *from, global const int *at, global const int *lengths)
{
    int x = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < lengths[x]; ++k)
        sum += from[at[x + k]];
    if (sum > 0.5f)
        to[x] = sqrt(sum);
}
"""
RECORDS = """
kernel void k(global float *to, global const float *from)
{
    int x = get_global_id(0);
    to[x] = from[4 * x] + from[4 * x + 1] * from[4 * x + 2] - from[4 * x + 3];
}
"""

WIDE = Transforms(wide_accesses=True)
ALWAYS = Transforms(fast_path=Use.ALWAYS, lock_step=Use.ALWAYS)
ALONG_0 = {
    **{f"factor {factor}": Variant(coarsenings=(Coarsening(factor),)) for factor in (2, 4, 8)},
    "stride": Variant(coarsenings=(Coarsening(4, 0, 32),)),
    "groups": Variant(coarsenings=(Coarsening(4, 0, 1, Level.GROUP),)),
    "wide": Variant(coarsenings=(Coarsening(4),), transforms=WIDE),
    "always": Variant(coarsenings=(Coarsening(4),), transforms=ALWAYS),
    "alone": Variant(coarsenings=(Coarsening(4),), transforms=REPLICATION_ALONE),
    "guarded": Variant(coarsenings=(Coarsening(4),), any_size=True),
}
IN_A_PLANE = {
    "dimension 1": Variant(coarsenings=(Coarsening(4, 1),)),
    "both": Variant(coarsenings=(Coarsening(2, 0), Coarsening(2, 1))),
}


@cache
def planned_kernel(source: str) -> PlannedKernel:
    """A source's only kernel, lowered and analysed once."""
    return PlannedKernel(lower(source))


def planned_and_real(source: str, variant: Variant, launch: LaunchSizes) -> tuple[WorkCounts, WorkCounts]:
    """The work of a configuration from the plan, and of the kernel that is really coarsened."""
    planned = planned_kernel(source)
    real = work_functions(run_pipeline(planned.kernel, variant).kernel)
    sizes = SIZES | {"global_size_x": launch.global_size[0]}
    known = {name: sizes[name] for name in real.scalars}
    return planned.work(variant, launch, SIZES), real.at(launched_sizes(variant, launch), known)


def accesses(work: WorkCounts, store: bool) -> float:
    return sum(access.count for access in work.accesses if access.store == store)


def instructions(work: WorkCounts) -> float:
    return sum(work.instructions.values())


def agree(planned: WorkCounts, real: WorkCounts) -> bool:
    """Loads and stores but for those at borders, of which the functions of coarsened IR know a mean; a tenth."""
    return (
        accesses(planned, False) == pytest.approx(accesses(real, False), rel=0.02)
        and accesses(planned, True) == pytest.approx(accesses(real, True), rel=0.02)
        and instructions(planned) == pytest.approx(instructions(real), rel=0.1)
    )


@pytest.mark.parametrize("variant", ALONG_0.values(), ids=ALONG_0)
@pytest.mark.parametrize(
    "source", [COPY, ROW, PRODUCT, GATHER, RECORDS], ids=["copy", "row", "product", "gather", "records"]
)
def test_a_line_of_work_items(source: str, variant: Variant) -> None:
    assert agree(*planned_and_real(source, variant, LINE))


@pytest.mark.parametrize("name", [name for name in ALONG_0 if name not in ("guarded", "stride", "always")])
def test_a_tree_in_local_memory(name: str) -> None:
    planned, real = planned_and_real(TILE, ALONG_0[name], LINE)
    assert agree(planned, real)
    assert planned.barriers == real.barriers
    assert planned.local_bytes == real.local_bytes


@pytest.mark.parametrize("variant", (ALONG_0 | IN_A_PLANE).values(), ids=ALONG_0 | IN_A_PLANE)
def test_a_plane_of_work_items(variant: Variant) -> None:
    assert agree(*planned_and_real(STENCIL, variant, PLANE))


def test_loads_of_neighbours_are_merged() -> None:
    planned = planned_kernel(ROW)
    work = planned.work(ALONG_0["factor 4"], LINE)
    assert (accesses(work, False), accesses(work, True)) == (6, 4)
    assert accesses(planned.work(ALONG_0["alone"], LINE), False) == 12
    assert planned.work_and_costs(ALONG_0["factor 4"], LINE)[1].merged_loads == 6


def test_strides_of_neighbours() -> None:
    planned = planned_kernel(COPY)
    found = {
        name: {(access.lane_stride, access.replica_stride) for access in planned.work(variant, LINE).accesses}
        for name, variant in ALONG_0.items()
        if name in ("factor 4", "stride", "groups")
    }
    assert found == {"factor 4": {(16, 4)}, "stride": {(4, 128)}, "groups": {(4, None)}}


def test_vector_accesses() -> None:
    planned = planned_kernel(RECORDS)
    work = planned.work(ALONG_0["wide"], LINE)
    assert sorted((access.bytes, access.count, access.store) for access in work.accesses) == [
        (16, 1, True),
        (64, 1, False),
    ]
    assert planned.work_and_costs(ALONG_0["wide"], LINE)[1].wide_accesses == 16 + 4 - 2


def test_the_uncoarsened_kernel_is_counted_as_it_is() -> None:
    planned = planned_kernel(STENCIL)
    assert planned.work(Variant(), PLANE, SIZES) == work_functions(planned.kernel).at(PLANE, SIZES)
    costs = planned.work_and_costs(Variant(), PLANE, SIZES)[1]
    assert (costs.code_growth, costs.copied_regions, costs.tests) == (1.0, 0, 0.0)


def test_the_local_size_of_a_configuration_goes_before_that_of_the_launch() -> None:
    planned = planned_kernel(TILE)
    variant = Variant(local_size=(64,), coarsenings=(Coarsening(2),))
    smaller = LaunchSizes(LINE.global_size, (64, 1, 1))
    assert planned.work(variant, LINE) == planned.work(Variant(coarsenings=(Coarsening(2),)), smaller)
    assert launched_sizes(variant, LINE) == LaunchSizes((2048, 1, 1), (32, 1, 1))


def test_costs_of_regions() -> None:
    planned = planned_kernel(STENCIL)
    fast = planned.work_and_costs(ALONG_0["factor 4"], PLANE, SIZES)[1]
    assert (fast.fast_paths, fast.copied_regions, fast.uncertain) == (1, 0, 0)
    assert fast.tests > 0 and fast.second_bodies > 0
    copied = planned.work_and_costs(ALONG_0["alone"], PLANE, SIZES)[1]
    assert (copied.fast_paths, copied.copied_regions, copied.second_bodies) == (0, 1, 0)
    assert copied.copied_share > 0.5
    forced = planned_kernel(GATHER).work_and_costs(ALONG_0["always"], LINE)[1]
    assert forced.lock_step_loops == 1 and forced.uncertain > 0


def test_merged_groups_have_local_memory_of_their_own() -> None:
    planned = planned_kernel(TILE)
    work = planned.work(ALONG_0["groups"], LINE)
    assert work.local_bytes == 4 * 128 * 4
    argument = PlannedKernel(
        lower(TILE.replace("local float tile[128];", "").replace("*from)", "*from, local float *tile)"))
    )
    assert argument.work_and_costs(ALONG_0["groups"], LINE)[1].own_local_arguments == 1


def test_a_guard_is_refused_where_groups_matter() -> None:
    with pytest.raises(RefusalError, match="needs-whole-groups"):
        planned_kernel(TILE).work(ALONG_0["guarded"], LINE)
