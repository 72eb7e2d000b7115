"""Sectors and occupancy, against what was reckoned by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coarsen.cost.work_counts import AccessCount, InstructionClass, LaunchSizes, WorkCounts
from coarsen.ir.types import AddressSpace
from coarsen.models.analytic.estimate import moved_bytes, occupancy, sectors, sharing
from tests.models.analytic.profiles import PROFILE

ACCESS = AccessCount(
    count=1,
    bytes=4,
    address_space=AddressSpace.GLOBAL,
    lane_stride=4,
    replica_stride=None,
    store=False,
    footprint=None,
    dependent_on_load=False,
)
WORK = WorkCounts(
    instructions={InstructionClass.FLOAT: 10.0, InstructionClass.GLOBAL_ACCESS: 1.0},
    accesses=(ACCESS,),
    barriers=0,
    atomics=0,
    local_bytes=0,
    live_words=16,
    chain_operations=5,
    chain_accesses=1,
)


@pytest.mark.parametrize(
    ("stride", "size", "expected"),
    [
        (0, 4, 1),
        (4, 4, 4),
        (-4, 4, 4),
        (8, 4, 8),
        (16, 16, 16),
        (32, 4, 32),
        (64, 4, 32),
        (None, 4, 32),
        (64, 64, 64),
    ],
)
def test_sectors_of_a_warp(stride: int | None, size: int, expected: int) -> None:
    assert sectors(replace(ACCESS, lane_stride=stride, bytes=size), 32, 32) == expected


def test_copies_of_an_access_share_sectors() -> None:
    # Four floats of each lane, side by side: together they move what one access of 16 bytes would.
    copy = replace(ACCESS, lane_stride=16, replica_stride=4)
    assert sharing(copy, 32) == 4
    assert 4 * moved_bytes(copy, 32, 32) == moved_bytes(replace(ACCESS, lane_stride=16, bytes=16), 32, 32) == 16
    assert sharing(replace(ACCESS, lane_stride=64, replica_stride=4), 32) == 8
    assert sharing(replace(ACCESS, lane_stride=4, replica_stride=128), 32) == 1


def test_occupancy_is_cut_by_each_limit() -> None:
    launch = LaunchSizes((1 << 20, 1, 1), (256, 1, 1))
    placed = occupancy(WORK, launch, PROFILE)
    assert (placed.resident_groups, placed.active_units) == (8, 4)
    assert placed.waves == 4096 // 32
    assert occupancy(replace(WORK, live_words=64), launch, PROFILE).resident_groups == 4
    assert occupancy(replace(WORK, local_bytes=20 << 10), launch, PROFILE).resident_groups == 2
    assert occupancy(WORK, launch, replace(PROFILE, groups_per_unit=3)).resident_groups == 3
    assert occupancy(replace(WORK, local_bytes=1 << 20), launch, PROFILE).resident_groups == 1


def test_part_of_a_wave_is_a_whole_one() -> None:
    def waves(groups: int) -> int:
        return occupancy(WORK, LaunchSizes((256 * groups, 1, 1), (256, 1, 1)), PROFILE).waves

    assert [waves(groups) for groups in (1, 4, 32, 33, 64, 65)] == [1, 1, 1, 2, 2, 3]
    small = occupancy(WORK, LaunchSizes((512, 1, 1), (256, 1, 1)), PROFILE)
    assert (small.active_units, small.resident_groups) == (2, 1)
