"""The launches that are considered: few, legal for the sizes that are known, each beside its uncoarsened one."""

from __future__ import annotations

import pytest

from coarsen.models.launch.grid import MOST_CANDIDATES, OwnLaunch, launch_grid, multiple_of
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant
from tests.models.launch.made_up import device_called

CPU, GPU = device_called("intel"), device_called("h200")
LINE = OwnLaunch((256,), (1 << 16,), False, (0,))
PLANE = OwnLaunch((16, 16), (512, 512), False, (0, 1))
SPACE = OwnLaunch((8, 8, 4), (64, 64, 64), False, (0, 1, 2))


@pytest.mark.parametrize("own", [LINE, PLANE, SPACE])
def test_the_own_launch_comes_first_and_every_launch_once_beside_its_uncoarsened_one(own: OwnLaunch) -> None:
    variants = [candidate.variant for candidate in launch_grid(own, CPU)]
    assert variants[0] == Variant(own.local_size)
    assert len(set(variants)) == len(variants) <= MOST_CANDIDATES
    assert {variant.uncoarsened() for variant in variants} <= set(variants)


def test_there_are_work_groups_strides_pairs_and_wide_accesses() -> None:
    variants = [candidate.variant for candidate in launch_grid(PLANE, GPU)]
    assert any(variant.merges_groups for variant in variants)
    assert any(len(variant.coarsenings) == 2 for variant in variants)
    assert any(variant.transforms.wide_accesses for variant in variants)
    assert {variant.transforms.device_kind for variant in variants if variant.coarsenings} == {DeviceKind.GPU}
    line = [candidate.variant for candidate in launch_grid(LINE, CPU)]
    assert any(coarsening.stride > 1 for variant in line for coarsening in variant.coarsenings)


def test_a_kernel_that_knows_its_groups_keeps_its_local_size() -> None:
    own = OwnLaunch((96,), None, True, (0,))
    assert {candidate.variant.local_size for candidate in launch_grid(own, CPU)} == {(96,)}


def test_sizes_that_are_known_forbid_what_does_not_divide_them() -> None:
    own = OwnLaunch((64,), (64 * 3,), False, (0,))
    for candidate in launch_grid(own, CPU):
        (needed,) = multiple_of(candidate.variant)
        assert 64 * 3 % needed == 0
        assert candidate.multiple_of == ()


def test_of_sizes_that_are_not_known_is_said_what_they_must_be() -> None:
    conditions = {each.variant: each.multiple_of for each in launch_grid(OwnLaunch((64,), None, False, (0,)), CPU)}
    assert conditions[Variant((64,))] == ()
    assert conditions[Variant((32,))] == ()
    assert conditions[Variant((128,))] == (128,)
    groups = next(variant for variant in conditions if variant.merges_groups and variant.local_size == (64,))
    assert conditions[groups] == (64 * groups.factor,)


def test_what_the_device_does_not_allow_is_left_out() -> None:
    small = CPU.limited(100, (100, 1, 1))
    assert all(candidate.variant.local_size in ((256,), (32,), (64,)) for candidate in launch_grid(LINE, small))


def test_merged_groups_multiply_what_the_global_size_must_be() -> None:
    groups = Variant((16, 8), (Coarsening(4, 1, level=Level.GROUP), Coarsening(2, 0)))
    assert multiple_of(groups) == (16, 32)
