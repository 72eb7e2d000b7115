"""Work counted on small kernels, by hand."""

from __future__ import annotations

from coarsen.features.count_work import ASSUMED_STRIDE, work_counts
from coarsen.features.work_counts import AccessCount, InstructionClass, LaunchSizes, WorkCounts
from coarsen.frontend.lower import lower
from coarsen.ir.types import AddressSpace
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE

LAUNCH = LaunchSizes((1024, 1, 1), (64, 1, 1))
COPY = (
    "kernel void k(global float *to, global const float *from) { size_t x = get_global_id(0); to[x] = from[x]; }"
)
ROW = """
kernel void k(global float *to, global const float *from, int width)
{
    int x = get_global_id(0);
    float sum = 0.0f;
    for (int i = 0; i < width; i++)
        sum += from[x * width + i];
    to[x] = sum;
}
"""
TILE = """
kernel void k(global double *values, global int *total)
{
    local double tile[64];
    int x = get_local_id(0);
    tile[x] = values[get_global_id(0)] * 2.0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 4; i++)
        atomic_inc(total);
    values[get_global_id(0)] = sqrt(tile[63 - x]);
}
"""
INDIRECT = "kernel void k(global float *to, global const int *at) { int x = get_global_id(0); to[at[x]] = 1.0f; }"


def counted(source: str, launch: LaunchSizes = LAUNCH) -> WorkCounts:
    return work_counts(lower(source), launch)


def one(work: WorkCounts, store: bool) -> AccessCount:
    (found,) = [access for access in work.accesses if access.store == store]
    return found


def test_a_copy() -> None:
    work = counted(COPY)
    assert work.instructions[InstructionClass.GLOBAL_ACCESS] == 2
    for store in (False, True):
        access = one(work, store)
        assert (access.count, access.bytes, access.lane_stride, access.replica_stride) == (1, 4, 4, None)
        assert (access.address_space, access.footprint) == (AddressSpace.GLOBAL, 4096)
    assert (work.barriers, work.atomics, work.local_bytes, work.unknown) == (0, 0, 0, ())
    assert work.chain_accesses == 2


def test_a_loop_whose_rounds_are_not_known_counts_eight_times_and_is_named() -> None:
    work = counted(ROW)
    load = one(work, False)
    assert (load.count, load.lane_stride, load.footprint) == (8, ASSUMED_STRIDE, None)
    assert work.instructions[InstructionClass.FLOAT] == 8
    assert work.unknown[0].endswith(" goes round, taken for 8 times")
    assert work.unknown[1] == f"how far apart neighbours access from, taken for {ASSUMED_STRIDE} bytes"


def test_local_memory_barriers_doubles_and_atomics() -> None:
    work = counted(TILE)
    assert (work.barriers, work.atomics, work.local_bytes) == (1, 4, 64 * 8)
    assert work.instructions[InstructionClass.DOUBLE] == work.instructions[InstructionClass.MATH] == 1
    assert work.instructions[InstructionClass.LOCAL_ACCESS] == 2
    assert work.instructions[InstructionClass.GLOBAL_ACCESS] == 2 + 4
    strides = sorted(a.lane_stride or 0 for a in work.accesses if a.address_space == AddressSpace.LOCAL)
    assert strides == [-8, 8]


def test_an_address_that_was_loaded() -> None:
    store = one(counted(INDIRECT), True)
    assert (store.lane_stride, store.dependent_on_load, store.footprint) == (None, True, None)


def test_a_coarsened_kernel_is_counted_as_it_is() -> None:
    coarsened = coarsen_kernel(lower(COPY), [Coarsening(4)], transforms=REPLICATION_ALONE)
    work = work_counts(coarsened, LaunchSizes((256, 1, 1), (16, 1, 1)))
    assert work.instructions[InstructionClass.GLOBAL_ACCESS] == 8
    assert {(a.lane_stride, a.replica_stride, a.count) for a in work.accesses} == {(16, 4, 1)}


def test_groups_of_a_launch() -> None:
    launch = LaunchSizes((100, 3, 1), (16, 2, 1))
    assert (launch.items, launch.group_items, launch.groups) == (300, 32, 14)
